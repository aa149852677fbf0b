"""Cards of the exercises in notebook 02: GPT's mask, a bias that folds, attention in blocks."""

import torch
from torch import Tensor

from albert_course.checks.asking import need, tensor
from albert_course.checks.engine import Case, Cases, Draw, card


def causal_mask(attention_mask: Tensor) -> Tensor:
    """``causal_mask(attention_mask[B,S]) -> bool [B,1,S,S]``: True where the query (row) may read
    the key (column), that is, where the key is neither padding nor after the query."""
    S = attention_mask.shape[1]
    past = torch.ones(S, S, dtype=torch.bool).tril()
    return attention_mask[:, None, None, :] & past


def _masks(draw: Draw) -> Cases:
    def ask(answer, attention_mask):
        B, S = attention_mask.shape
        mask = tensor(answer(attention_mask), B, 1, S, S)
        need(mask.dtype == torch.bool, f"the dtype is {mask.dtype}: PyTorch adds such a mask")
        return mask

    # Padding may stand in front, too.
    padded = (torch.arange(5) - torch.arange(3)[:, None]) % 5 < draw.integers(2, 5, 3, 1)
    yield Case("hides later tokens", (torch.ones(2, 4, dtype=torch.bool),), ask=ask)
    yield Case("hides later tokens and padding", (padded,), ask=ask)


check_causal_mask = card(
    "02.1",
    causal_mask,
    _masks,
    {
        "letting a query read only later tokens: triu instead of tril?": "tril() => triu()",
        "hiding the query's own token": "tril() => tril(-1)",
        "hiding later tokens, but not padding": "attention_mask[ => torch.ones_like(attention_mask)[",
        "hiding padding, but not later tokens": "& past => & (past | True)",
        "masking the rows of padding": "[:, None, None, :] => [:, None, :, None]",
        "returning True where reading is forbidden": "return => return True ^",
    },
)


def folded_bias(b_v: Tensor, W_o: Tensor, b_o: Tensor) -> Tensor:
    """``folded_bias(b_v[H], W_o[H,H], b_o[H]) -> [H]``: the output bias with which a layer without
    the value bias b_v gives the same outputs. W_o is the weight of an ``nn.Linear``."""
    return b_o + W_o @ b_v


def _biases(draw: Draw) -> Cases:
    inputs = draw.randn(6), draw.randn(6, 6), draw.randn(6)
    yield Case("gives the same outputs without the value bias", inputs)


check_folded_bias = card(
    "02.2",
    folded_bias,
    _biases,
    {
        "adding b_v without sending it through W_o": "W_o @ b_v => b_v",
        "transposing W_o, whose rows belong to the outputs": "W_o @ b_v => b_v @ W_o",
        "forgetting the output bias that was there before": "b_o + W_o => W_o",
    },
)


def add_block(state: tuple, scores: Tensor, values: Tensor) -> tuple:
    """``add_block((largest[S], total[S], mixed[S,D]), scores[S,K], values[K,D]) -> new state``:
    the largest score so far, and the sums of exp(score - largest) and of that times the value."""
    largest, total, mixed = state
    new = torch.maximum(largest, scores.amax(-1))
    shrink = (largest - new).exp()
    powers = (scores - new[:, None]).exp()
    return new, shrink * total + powers.sum(-1), shrink[:, None] * mixed + powers @ values


def _blocks(draw: Draw) -> Cases:
    def ask(answer, scores, values):
        S, D = len(scores), values.shape[1]
        state = torch.zeros(S) - torch.inf, torch.zeros(S), torch.zeros(S, D)
        for block in zip(scores.split((4, 3, 2), 1), values.split((4, 3, 2)), strict=True):
            answer(tuple(map(torch.clone, state)), *block)  # only its arguments matter
            state = answer(state, *block)
            need(isinstance(state, tuple) and len(state) == 3, "return three tensors in a tuple")
        return [tensor(state[0], S), tensor(state[1], S), tensor(state[2], S, D)]

    scores, values = draw.randn(4, 9), draw.randn(9, 5)
    yield Case("mixes three blocks", (scores, values), ask=ask)
    yield Case("survives scores of hundreds", (200 * scores, values), ask=ask)


check_add_block = card(
    "02.3",
    add_block,
    _blocks,
    {
        "not shrinking the old sums when a larger score appears": "shrink = (new - new).exp()",
        "shrinking total, but not mixed": "shrink[:, None] * mixed => mixed",
        "shrinking by e to the (new - old)": "shrink = (new - largest).exp()",
        "forgetting the earlier blocks": "return new, powers.sum(-1), powers @ values",
        "dividing by a total in the block": "powers = scores.softmax(-1)",
    },
)
