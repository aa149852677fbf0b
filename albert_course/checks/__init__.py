"""Checks of the exercises: ``check_NAME(your_answer)`` says which property fails, and why.

Your function, class or module may have any name; each check's docstring says how it is called and
what it must return. ``card``, ``Case`` and ``Draw`` make a check of your own in twenty lines:
``help(card)`` shows one.
"""

from albert_course.checks.cards.nb00 import check_guessing_loss
from albert_course.checks.cards.nb01 import (
    check_best_cut,
    check_count_cuts,
    check_moved_rows,
    check_wordpiece,
)
from albert_course.checks.cards.nb01_text import check_normalise, check_sequence_layout
from albert_course.checks.cards.nb02 import (
    check_add_block,
    check_attention,
    check_causal_mask,
    check_folded_bias,
    check_gelu,
    check_layer_norm,
    check_post_norm_layer,
    check_split_heads,
)
from albert_course.checks.cards.nb03 import (
    check_factorized_embedding,
    check_factors_of,
    check_lookup_gradient,
    check_parameter_count,
    check_saved_parameters,
    check_widest,
)
from albert_course.checks.cards.nb04 import (
    check_block_order,
    check_encoder_size,
    check_layer_plan,
    check_shared_encoder,
    check_tie_gradients,
)
from albert_course.checks.cards.nb04_gradients import check_last_application, check_shared_gradient
from albert_course.checks.cards.nb05 import (
    check_copy_baseline,
    check_gradient_in_parts,
    check_replace_by_word,
)
from albert_course.checks.cards.nb05_masked_tokens import (
    check_masked_token_head,
    check_masked_token_loss,
    check_replace_masked,
)
from albert_course.checks.cards.nb05_masking import check_ngram_masking
from albert_course.checks.cards.nb06 import (
    check_fit_sentences,
    check_linear_probe,
    check_sentence_order_head,
    check_swap_pair,
    check_word_score,
)
from albert_course.checks.cards.nb06_order import check_order_pairs
from albert_course.checks.cards.nb07 import (
    check_accumulation,
    check_authors_rate,
    check_clip_together,
    check_loss_factors,
    check_schedule,
)
from albert_course.checks.cards.nb07_lamb import check_lamb
from albert_course.checks.cards.nb08 import (
    check_angle_of_chord,
    check_cycle_length,
    check_equilibrium,
    check_layer_similarity,
    check_roughness,
    check_turn_cosine,
)
from albert_course.checks.cards.nb09 import (
    check_early_stop,
    check_extra_cost,
    check_interval,
    check_paired_difference,
    check_sign_flip_p,
)
from albert_course.checks.cards.nb10 import (
    check_flops,
    check_reversible,
    check_smallest_batch,
    check_split_feed_forward,
    check_training_speedup,
)
from albert_course.checks.cards.nb10_recomputing import (
    check_gradient_checkpoint,
    check_recompute_with_dropout,
)
from albert_course.checks.cards.nb11 import (
    check_classification_head,
    check_mean_of_hidden,
    check_pair_layout,
    check_span_loss,
    check_windows,
)
from albert_course.checks.cards.nb11_spans import check_best_span, check_span_labels
from albert_course.checks.cards.nb12 import (
    check_fitting_rules,
    check_most_of_the_drop,
    check_speed_range,
)
from albert_course.checks.engine.card import Case, Draw, card
from albert_course.checks.engine.report import CheckFailed, Property, Report

# ruff: noqa: F401 - every check is public, and its name is written once
CHECKS = [name for name in dir() if name.startswith("check_")]
__all__ = ["Case", "CheckFailed", "Draw", "Property", "Report", "card", *CHECKS]
