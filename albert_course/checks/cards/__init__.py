"""The cards of the exercises, by notebook: those of the lesson and those of the assignment.

In each file, for every exercise: a reference, whose docstring is the task that ``help(check_...)``
shows, in which the function may be called as the student calls it; its questions; and its check.
"""
