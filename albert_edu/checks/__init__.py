"""Checks of the exercises: ``check_NAME(your_answer)`` says which property fails, and why.

Your function, class or module may have any name; each check's docstring says how it is called and
what it must return.
"""

from albert_edu.checks.cost import check_flops, check_reversible
from albert_edu.checks.counting import check_parameter_count, check_widest
from albert_edu.checks.cuts import check_best_cut
from albert_edu.checks.embeddings import check_factorized_embedding
from albert_edu.checks.finetuning import check_classification_head, check_pair_layout
from albert_edu.checks.heads import check_sentence_order_head
from albert_edu.checks.layer_paths import check_layer_similarity, check_turn_cosine
from albert_edu.checks.layers import check_attention, check_post_norm_layer, check_split_heads
from albert_edu.checks.masked_tokens import check_masked_token_head, check_masked_token_loss
from albert_edu.checks.masking import check_ngram_masking
from albert_edu.checks.norms import check_gelu, check_layer_norm
from albert_edu.checks.optimizing import check_lamb, check_schedule
from albert_edu.checks.order import check_order_pairs
from albert_edu.checks.plans import check_layer_plan
from albert_edu.checks.probes import check_linear_probe
from albert_edu.checks.recomputing import check_gradient_checkpoint, check_recompute_with_dropout
from albert_edu.checks.replacing import check_replace_masked
from albert_edu.checks.report import CheckFailed, Report
from albert_edu.checks.rough_curves import check_roughness
from albert_edu.checks.seeds import check_interval, check_paired_difference
from albert_edu.checks.shared_gradients import check_last_application, check_shared_gradient
from albert_edu.checks.sharing import check_shared_encoder
from albert_edu.checks.spans import check_best_span, check_span_labels
from albert_edu.checks.tokens import check_normalise, check_sequence_layout
from albert_edu.checks.training import check_accumulation

# ruff: noqa: F401 - every check is public, and its name is written once
__all__ = ["CheckFailed", "Report", *(name for name in dir() if name.startswith("check_"))]
