"""Checks of the exercises: ``check_NAME(your_answer)`` says which property fails, and why.

Your function, class or module may have any name; each check's docstring says how it is called and
what it must return.
"""

from albert_course.checks.cost import check_flops, check_reversible
from albert_course.checks.counting import check_parameter_count, check_widest
from albert_course.checks.cuts import check_best_cut
from albert_course.checks.embeddings import check_factorized_embedding
from albert_course.checks.finetuning import check_classification_head, check_pair_layout
from albert_course.checks.heads import check_sentence_order_head
from albert_course.checks.layer_paths import check_layer_similarity, check_turn_cosine
from albert_course.checks.layers import check_attention, check_post_norm_layer, check_split_heads
from albert_course.checks.masked_tokens import check_masked_token_head, check_masked_token_loss
from albert_course.checks.masking import check_ngram_masking
from albert_course.checks.norms import check_gelu, check_layer_norm
from albert_course.checks.optimizing import check_lamb, check_schedule
from albert_course.checks.order import check_order_pairs
from albert_course.checks.plans import check_layer_plan
from albert_course.checks.probes import check_linear_probe
from albert_course.checks.recomputing import check_gradient_checkpoint, check_recompute_with_dropout
from albert_course.checks.replacing import check_replace_masked
from albert_course.checks.report import CheckFailed, Property, Report
from albert_course.checks.rough_curves import check_roughness
from albert_course.checks.seeds import check_interval, check_paired_difference
from albert_course.checks.shared_gradients import check_last_application, check_shared_gradient
from albert_course.checks.sharing import check_shared_encoder
from albert_course.checks.spans import check_best_span, check_span_labels
from albert_course.checks.tokens import check_normalise, check_sequence_layout
from albert_course.checks.training import check_accumulation

# ruff: noqa: F401 - every check is public, and its name is written once
__all__ = [
    "CheckFailed",
    "Property",
    "Report",
    *(name for name in dir() if name.startswith("check_")),
]
