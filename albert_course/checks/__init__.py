"""Checks of the exercises: ``check_NAME(your_answer)`` says which property fails, and why.

Your function, class or module may have any name; ``help(check_NAME)`` says how it is called and
what it must return. ``make_check``, ``Case`` and ``Draw`` make a check of your own in twenty lines:
``help(make_check)`` shows one.
"""

# "x as x" tells type checkers, and ruff, that a name is imported here for others.
from albert_course.checks.cards.nb00 import check_guessing_loss as check_guessing_loss
from albert_course.checks.cards.nb01 import check_count_cuts as check_count_cuts
from albert_course.checks.cards.nb01 import check_rows_with_gradient as check_rows_with_gradient
from albert_course.checks.cards.nb01 import check_wordpiece as check_wordpiece
from albert_course.checks.cards.nb01_text import check_best_cut as check_best_cut
from albert_course.checks.cards.nb01_text import check_normalise as check_normalise
from albert_course.checks.cards.nb01_text import check_sequence_layout as check_sequence_layout
from albert_course.checks.cards.nb02 import check_add_block as check_add_block
from albert_course.checks.cards.nb02 import check_attention as check_attention
from albert_course.checks.cards.nb02 import check_causal_mask as check_causal_mask
from albert_course.checks.cards.nb02 import check_gelu as check_gelu
from albert_course.checks.cards.nb02 import check_layer_norm as check_layer_norm
from albert_course.checks.cards.nb02 import check_post_norm_layer as check_post_norm_layer
from albert_course.checks.cards.nb02 import check_split_heads as check_split_heads
from albert_course.checks.cards.nb03 import check_factorized_embedding as check_factorized_embedding
from albert_course.checks.cards.nb03 import check_factors_of as check_factors_of
from albert_course.checks.cards.nb03 import check_lookup_gradient as check_lookup_gradient
from albert_course.checks.cards.nb03_counts import check_parameter_count as check_parameter_count
from albert_course.checks.cards.nb03_counts import check_saved_parameters as check_saved_parameters
from albert_course.checks.cards.nb03_counts import check_widest as check_widest
from albert_course.checks.cards.nb04 import check_shared_encoder as check_shared_encoder
from albert_course.checks.cards.nb04 import check_tie_gradients as check_tie_gradients
from albert_course.checks.cards.nb04_gradients import (
    check_last_application as check_last_application,
)
from albert_course.checks.cards.nb04_gradients import check_shared_gradient as check_shared_gradient
from albert_course.checks.cards.nb04_plans import check_encoder_size as check_encoder_size
from albert_course.checks.cards.nb04_plans import check_layer_plan as check_layer_plan
from albert_course.checks.cards.nb04_plans import check_loss_in_order as check_loss_in_order
from albert_course.checks.cards.nb05 import check_copy_baseline as check_copy_baseline
from albert_course.checks.cards.nb05 import check_masked_token_head as check_masked_token_head
from albert_course.checks.cards.nb05 import check_masked_token_loss as check_masked_token_loss
from albert_course.checks.cards.nb05 import check_surprises as check_surprises
from albert_course.checks.cards.nb05_masking import check_ngram_masking as check_ngram_masking
from albert_course.checks.cards.nb05_replacing import check_replace_masked as check_replace_masked
from albert_course.checks.cards.nb06 import check_fit_sentences as check_fit_sentences
from albert_course.checks.cards.nb06 import check_sentence_order_head as check_sentence_order_head
from albert_course.checks.cards.nb06 import check_swap_pair as check_swap_pair
from albert_course.checks.cards.nb06 import check_word_score as check_word_score
from albert_course.checks.cards.nb06_order import check_order_pairs as check_order_pairs
from albert_course.checks.cards.nb06_probe import check_linear_probe as check_linear_probe
from albert_course.checks.cards.nb07 import check_clip_together as check_clip_together
from albert_course.checks.cards.nb07 import check_diagnose as check_diagnose
from albert_course.checks.cards.nb07 import check_loss_factors as check_loss_factors
from albert_course.checks.cards.nb07 import check_schedule as check_schedule
from albert_course.checks.cards.nb07_steps import check_accumulation as check_accumulation
from albert_course.checks.cards.nb07_steps import check_lamb as check_lamb
from albert_course.checks.cards.nb08 import check_cycle_length as check_cycle_length
from albert_course.checks.cards.nb08 import check_equilibrium as check_equilibrium
from albert_course.checks.cards.nb08 import check_layer_similarity as check_layer_similarity
from albert_course.checks.cards.nb08 import check_roughness as check_roughness
from albert_course.checks.cards.nb08 import check_update_cosine as check_update_cosine
from albert_course.checks.cards.nb09 import check_early_stop as check_early_stop
from albert_course.checks.cards.nb09 import check_extra_cost as check_extra_cost
from albert_course.checks.cards.nb09 import check_interval as check_interval
from albert_course.checks.cards.nb09 import check_paired_difference as check_paired_difference
from albert_course.checks.cards.nb09 import check_sign_flip_p as check_sign_flip_p
from albert_course.checks.cards.nb10 import check_flops as check_flops
from albert_course.checks.cards.nb10 import check_smallest_batch as check_smallest_batch
from albert_course.checks.cards.nb10 import check_training_speedup as check_training_speedup
from albert_course.checks.cards.nb10_recomputing import (
    check_gradient_checkpoint as check_gradient_checkpoint,
)
from albert_course.checks.cards.nb10_recomputing import (
    check_recompute_with_dropout as check_recompute_with_dropout,
)
from albert_course.checks.cards.nb11 import check_span_loss as check_span_loss
from albert_course.checks.cards.nb11 import check_with_verbs as check_with_verbs
from albert_course.checks.cards.nb11_rows import (
    check_classification_head as check_classification_head,
)
from albert_course.checks.cards.nb11_rows import check_pair_layout as check_pair_layout
from albert_course.checks.cards.nb11_spans import check_best_span as check_best_span
from albert_course.checks.cards.nb11_spans import check_span_labels as check_span_labels
from albert_course.checks.cards.nb12 import check_chosen_afterwards as check_chosen_afterwards
from albert_course.checks.cards.nb12 import check_fitting_rules as check_fitting_rules
from albert_course.checks.cards.nb12 import check_gap_range as check_gap_range
from albert_course.checks.cards.nb12 import check_most_of_the_drop as check_most_of_the_drop
from albert_course.checks.cards.nb12 import check_speed_range as check_speed_range
from albert_course.checks.cards.nb12 import check_survivors as check_survivors
from albert_course.checks.engine.card import Case as Case
from albert_course.checks.engine.card import Draw as Draw
from albert_course.checks.engine.check import Check as Check
from albert_course.checks.engine.making import make_check as make_check
from albert_course.checks.engine.properties import Property as Property
from albert_course.checks.engine.report import CheckFailed as CheckFailed
from albert_course.checks.engine.report import Report as Report
