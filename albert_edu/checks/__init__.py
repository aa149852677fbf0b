"""Checks of the exercises: ``check_NAME(your_answer)`` tells which property fails and which known mistake it looks like.

Your function, class or module may have any name; each check's docstring says how it is called and what it must return.
"""

from albert_edu.checks.layers import check_attention, check_gelu, check_layer_norm, check_post_norm_layer, check_split_heads
from albert_edu.checks.masking import check_masked_token_loss
from albert_edu.checks.pieces import check_best_cut, check_normalise, check_sequence_layout
from albert_edu.checks.report import CheckFailed, Report

__all__ = [
    "CheckFailed",
    "Report",
    "check_attention",
    "check_best_cut",
    "check_gelu",
    "check_layer_norm",
    "check_masked_token_loss",
    "check_normalise",
    "check_post_norm_layer",
    "check_sequence_layout",
    "check_split_heads",
]
