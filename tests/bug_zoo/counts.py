"""Answers to the exercises of notebook 03 on what a width costs and what a whole model weighs, right and wrong."""

import math

import torch
from torch import nn

from albert_edu import AlbertConfig
from albert_edu.analysis.counting import count_parameters
from albert_edu.checks import check_parameter_count, check_widest
from tests.bug_zoo.zoo import right, wrong

# The first model on the meta device loads a part of torch, for seconds on a busy machine: not within the limit of an answer.
count_parameters(AlbertConfig(num_heads=1))


@right(check_widest)
def widest_by_division(V, H, budget):
    return min(max((budget - H) // (V + H), 0), H - 1)


@right(check_widest)
def widest_by_counting(V, H, budget):
    best = 0
    for E in range(1, H):
        if V * E + E * H + H <= budget:
            best = E
    return best


@right(check_widest)
def widest_by_halving(V, H, budget):
    low, high = 0, H - 1
    while low < high:
        E = (low + high + 1) // 2
        low, high = (E, high) if V * E + E * H + H <= budget else (low, E - 1)
    return low


def kept(E, H):
    return min(max(E, 0), H - 1)


@wrong(check_widest, "rounding to the nearest")
def widest_rounded(V, H, budget):
    return kept(round((budget - H) / (V + H)), H)


@wrong(check_widest, "rounding up")
def widest_one_late(V, H, budget):
    E = 1
    while V * E + E * H + H <= budget and E < H - 1:
        E += 1
    return E


@wrong(check_widest, "forgetting the bias")
def widest_without_bias(V, H, budget):
    return kept(budget // (V + H), H)


@wrong(check_widest, "forgetting the projection")
def widest_table_alone(V, H, budget):
    return kept(budget // V, H)


@wrong(check_widest, "E is to stay below H")
def widest_without_end(V, H, budget):
    return max((budget - H) // (V + H), 0)


@wrong(check_widest, "where factorising ends")
def widest_up_to_h(V, H, budget):
    return min(max((budget - H) // (V + H), 0), H)


@wrong(check_widest, "give at least 0")
def widest_below_zero(V, H, budget):
    return min((budget - H) // (V + H), H - 1)


@wrong(check_widest, "in widest_of_nothing, line")
def widest_of_nothing(V, H, budget):
    return max(E for E in range(1, H) if V * E + E * H + H <= budget)


@wrong(check_widest, "asking for less than the budget")
def widest_strictly_below(V, H, budget):
    return max((E for E in range(1, H) if V * E + E * H + H < budget), default=0)


@wrong(check_widest, "keeps 16 digits")
def widest_in_floats(V, H, budget):
    return kept(math.floor((budget - H) / (V + H)), H)


@wrong(check_widest, "whole columns")
def widest_in_parts(V, H, budget):
    return (budget - H) / (V + H)


@wrong(check_widest, "giving None where 0 is asked for")
def widest_or_none(V, H, budget):
    return widest_by_division(V, H, budget) or None


@wrong(check_widest, "stopping one too early")
def widest_one_early(V, H, budget):
    return kept((budget - H) // (V + H) - 1, H)


@wrong(check_widest, "still to do")
def widest_not_begun(V, H, budget):
    raise NotImplementedError("Exercise 03.1")


@right(check_parameter_count)
def counted_in_the_library_s_model(V, E, H, L, share):
    sizes = dict(vocab_size=V, embedding_size=E, hidden_size=H, num_layers=L, num_heads=1)
    return count_parameters(AlbertConfig(**sizes, share=share)).total


@right(check_parameter_count)
def counted_by_shapes(V, E, H, L, share):
    attention = [(H, H), (H,)] * 4 + [(H,)] * 2
    ffn = [(H, 4 * H), (4 * H,), (4 * H, H), (H,), (H,), (H,)]
    shapes = [(V, E), (512, E), (2, E), (E,), (E,), (H, H), (H,)]
    shapes += [(E, H), (H,)] if E != H else []
    shapes += attention * (1 if share in ("all", "attention") else L)
    shapes += ffn * (1 if share in ("all", "ffn") else L)
    return float(sum(math.prod(shape) for shape in shapes))  # a float that is a whole number will do


@right(check_parameter_count)
def counted_in_modules(V, E, H, L, share):
    def block(*sizes):
        return nn.ModuleList([nn.LayerNorm(H), *(nn.Linear(n, m) for n, m in sizes)])

    with torch.device("meta"):
        tables = [nn.Embedding(V, E), nn.Embedding(512, E), nn.Embedding(2, E), nn.LayerNorm(E)]
        attention = [block(*[(H, H)] * 4) for _ in range(L if share in ("ffn", "none") else 1)]
        ffn = [block((H, 4 * H), (4 * H, H)) for _ in range(L if share in ("attention", "none") else 1)]
        maps = [nn.Linear(H, H)] + [nn.Linear(E, H)] * (E != H)
    return sum(weight.numel() for weight in nn.ModuleList([*tables, *maps, *attention, *ffn]).parameters())


def count(V, E, H, L, share, extra=0, projection=None):
    """The right way, with things to change."""
    attention = (L if share in ("ffn", "none") else 1) * (4 * H * H + 6 * H)
    ffn = (L if share in ("attention", "none") else 1) * (8 * H * H + 7 * H)
    down = (E != H) * (E * H + H) if projection is None else projection
    return (V + 516) * E + down + attention + ffn + H * H + H + extra


@wrong(check_parameter_count, "the pooler, or the one behind the heads")
def count_without_pooler(V, E, H, L, share):
    return count(V, E, H, L, share, extra=-H * H - H)


@wrong(check_parameter_count, "both heads of pre-training")
def count_with_heads(V, E, H, L, share):
    return count(V, E, H, L, share, extra=H * E + E + 2 * E + V + 2 * H + 2)


@wrong(check_parameter_count, "as decoder")
def count_with_decoder(V, E, H, L, share):
    return count(V, E, H, L, share, extra=V * E)


@wrong(check_parameter_count, "as transformers has")
def count_projection_always(V, E, H, L, share):
    return count(V, E, H, L, share, projection=E * H + H)


@wrong(check_parameter_count, "such as the projection")
def count_projection_without_bias(V, E, H, L, share):
    return count(V, E, H, L, share, projection=(E != H) * E * H)


@wrong(check_parameter_count, "L times although it is shared")
def count_every_layer(V, E, H, L, share):
    return count(V, E, H, L, "none")


@wrong(check_parameter_count, "one layer whatever is shared")
def count_one_layer(V, E, H, L, share):
    return count(V, E, H, L, "all")


@wrong(check_parameter_count, "one block of each half for 'none'")
def count_none_as_all(V, E, H, L, share):
    return count(V, E, H, L, "all" if share == "none" else share)


@wrong(check_parameter_count, "exchanging the halves")
def count_other_half(V, E, H, L, share):
    return count(V, E, H, L, {"attention": "ffn", "ffn": "attention"}.get(share, share))


@wrong(check_parameter_count, "L blocks beside the first")
def count_one_block_more(V, E, H, L, share):
    return count(V, E, H, L if share == "all" else L + 1, share)


@wrong(check_parameter_count, "it is one layer, applied L times")
def count_norms_of_each_layer(V, E, H, L, share):
    return count(V, E, H, L, share, extra=4 * H * (L - 1) if share == "all" else 0)


@wrong(check_parameter_count, "a table of V·H")
def count_wide_table(V, E, H, L, share):
    return count(V, E, H, L, share, extra=V * H - V * E)


@wrong(check_parameter_count, "positions and segments")
def count_word_table_alone(V, E, H, L, share):
    return count(V, E, H, L, share, extra=-514 * E)


@wrong(check_parameter_count, "norm the width H")
def count_wide_positions(V, E, H, L, share):
    return count(V, E, H, L, share, extra=516 * (H - E))


@wrong(check_parameter_count, "the biases of all maps")
def count_without_biases(V, E, H, L, share):
    blocks = sum(n * (L if share in shares else 1) for n, shares in ((4, ("ffn", "none")), (5, ("attention", "none"))))
    return count(V, E, H, L, share, extra=-(blocks + 1 + (E != H)) * H)


@wrong(check_parameter_count, "the segments, or the norm")
def count_without_segments(V, E, H, L, share):
    return count(V, E, H, L, share, extra=-2 * E)


@wrong(check_parameter_count, "the norms of the layer, or")
def count_without_norms(V, E, H, L, share):
    blocks = sum(L if share in shares else 1 for shares in (("ffn", "none"), ("attention", "none")))
    return count(V, E, H, L, share, extra=-2 * H * blocks)


@wrong(check_parameter_count, "BERT's")
def count_with_bert_s_pieces(V, E, H, L, share):
    return count(V if V < 30_000 else 30_522, E, H, L, share)


@wrong(check_parameter_count, "copying what the paper prints")
def count_as_printed(V, E, H, L, share):
    return 235_000_000 if H == 4096 else count(V, E, H, L, share)
