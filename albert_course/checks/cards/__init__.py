"""The cards of the exercises, by notebook: those of the lesson and those of the assignment."""
