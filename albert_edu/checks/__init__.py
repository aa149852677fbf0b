"""Checks of the exercises: ``check_NAME(your_answer)`` tells which property fails and which known mistake it looks like.

Your function, class or module may have any name; each check's docstring says how it is called and what it must return.
"""

from albert_edu.checks.masking import check_masked_token_loss
from albert_edu.checks.report import CheckFailed, Report

__all__ = ["CheckFailed", "Report", "check_masked_token_loss"]
