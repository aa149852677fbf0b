"""Assignments: student notebooks out of source notebooks, and scores out of what students hand in.

``release`` cuts the solutions out, ``merge`` puts the source's tests back into a submission, ``sandbox`` runs it in a process
of its own (``judge``, protected by ``guard``), ``grade`` adds the points up. On the command line: ``python -m
albert_edu assignments build | grade FOLDER | report``.
"""
