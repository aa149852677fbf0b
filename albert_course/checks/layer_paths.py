"""Cards of notebook 08: how far a layer moves its input, and whether the path swings back."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from albert_course.checks.engine import Case, Cases, Draw, card


def layer_similarity(hidden_states: Sequence[Tensor], attention_mask: Tensor) -> tuple:
    """``similarity(hidden_states, attention_mask) -> (distances[L], degrees[L])``. The list
    ``hidden_states`` holds what goes into layer 1 and what comes out of each of the L layers,
    [B,S,H]. For each layer the L2 distance between its input and its output, and the angle between
    them in degrees, also where it is as small as 0.01 (float32 has not digits enough); both for
    each token and then averaged over tokens. Left out are padding, where the int64
    ``attention_mask[B,S]`` is 0 and not 1, and [CLS], the first token of each sequence."""
    used = attention_mask.bool() & (torch.arange(attention_mask.shape[1]) > 0)
    states = torch.stack(list(hidden_states)).double()
    x, y = states[:-1], states[1:]  # L B S H
    distances = (y - x).norm(dim=-1)
    cosines = F.cosine_similarity(x, y, dim=-1).clamp(-1, 1)
    degrees = cosines.arccos().rad2deg()
    distances, degrees = (values[:, used].mean(1) for values in (distances, degrees))
    return distances, degrees


def _walk(draw: Draw) -> tuple[list[Tensor], Tensor]:
    """Hidden states of some layers and a mask with padding in two of three sequences."""
    B, S, H = 3, 7, 5
    lengths, states = torch.tensor([S, 4, 5]), [draw.randn(B, S, H)]
    for _ in range(draw.integer(3, 6)):
        states.append(states[-1] + 0.7 * draw.randn(B, S, H))
    return states, (torch.arange(S) < lengths[:, None]).long()


def _loud(draw: Draw, states: Sequence[Tensor], mask: Tensor) -> list[Tensor]:
    """The states with other vectors at padding and [CLS]."""
    used = mask.bool() & (torch.arange(mask.shape[1]) > 0)
    return [torch.where(used[..., None], state, 9 * draw.randn(*state.shape)) for state in states]


def _states(draw: Draw) -> Cases:
    states, mask = _walk(draw)

    def distances(answer, *inputs):
        return answer(*inputs)[0]

    def degrees(answer, *inputs):
        return answer(*inputs)[1]

    x, everyone = draw.randn(2, 60, 7), torch.ones(2, 60, dtype=torch.long)
    near = [x]
    for _ in range(5):
        near.append(near[-1] + 2e-4 * draw.randn(2, 60, 7))
    yield Case("measures the distance of each layer", (states, mask), 3.0, distances)
    yield Case("measures the angle of each layer", (states, mask), 3.0, degrees)
    yield Case("does not move when [CLS] and padding do", (_loud(draw, states, mask), mask))
    yield Case(
        "gives 0 degrees straight ahead, 180 straight back",
        ([x, 2 * x, -x], everyone),
        1.0,
        degrees,
        0.1,
    )
    yield Case("sees hundredths of a degree", (near, everyone), 1.0, degrees, 1e-4)


AVERAGES = {
    "letting padding vote": "used = torch.ones_like(used); used[:, 0] = False",
    "letting [CLS] vote": "used = attention_mask.bool()",
    "letting padding and [CLS] vote": "[:, used] => .flatten(1)",
    "looking at [CLS] alone": "[:, used] => [:, :, 0]",
    "averaging within each sequence first, so that a token of a short one counts more": "[:, used].mean(1) => .mul(used).sum(2).div(used.sum(1)).mean(1)",
    "zeroing padding and [CLS], but dividing by all places": "[:, used] => .mul(used).flatten(1)",
    "adding up instead of averaging": "[:, used].mean(1) => [:, used].sum(1)",
    "indexing with a mask of integers, which picks rows 0 and 1; make it .bool()": "[:, used] => [:, used.long()].flatten(1)",
    "averaging over padding only: is the mask upside down?": "used = ~attention_mask.bool()",
    "returning one number for all layers": "[:, used].mean(1) => [:, used].mean()",
}
OF_MEANS = ").double() => ).double()[:, used].mean(1)[:, None, None].expand(-1, *used.shape, -1)"
check_layer_similarity = card(
    "08.4",
    layer_similarity,
    _states,
    AVERAGES
    | {
        "taking the distance of the averages instead of the average distance, or the angle of the "
        "averages": OF_MEANS,
        "squaring the distance": ".norm(dim=-1) => .square().sum(-1)",
        "adding absolute differences up (L1)": ".norm(dim=-1) => .abs().sum(-1)",
        "comparing lengths instead of vectors": "(y - x).norm(dim=-1) => (y.norm(dim=-1) - x.norm(dim=-1)).abs()",
        "measuring from h₀ each time": "x, y = states[:1].expand_as(states[1:]), states[1:]",
        "leaving the angle in radians, as arccos gives it": "degrees = cosines.arccos()",
        "returning the cosine, which is high where the angle is small": "degrees = cosines",
        "averaging the cosines before the arccos": (
            "degrees = cosines",
            "return distances, degrees.arccos().rad2deg()",
        ),
        "swapping the two: distances come first, then degrees": "return degrees, distances",
        "rounding takes a cosine past 1, and the arccos of that is NaN: clamp it to [-1, 1] first": "cosines = (x * y).sum(-1) / x.norm(dim=-1) / y.norm(dim=-1) * 1.000001",
        "float32 has no digits left for a cosine this near to 1: .double() the states before you "
        "multiply": "states = torch.stack(list(hidden_states))",
    },
)


def turn_cosine(hidden_states: Sequence[Tensor], attention_mask: Tensor) -> Tensor:
    """``update_cosine(hidden_states, attention_mask) -> cosines[L-1]``: do the vectors swing back?
    The list ``hidden_states`` holds what goes into layer 1 and what comes out of each of the L
    layers, [B,S,H]. An update is a token's vector behind a layer minus that before it. For each two
    successive updates the cosine between them, 0 where one of them has length 0, averaged over
    tokens. Left out are padding, where the int64 ``attention_mask[B,S]`` is 0 and not 1, and [CLS],
    the first token of each sequence."""
    used = attention_mask.bool() & (torch.arange(attention_mask.shape[1]) > 0)
    updates = torch.stack(list(hidden_states)).double().diff(dim=0)
    y = updates[1:]  # L-1 B S H
    x = updates[:-1]
    cosines = F.cosine_similarity(x, y, dim=-1, eps=1e-30)
    return cosines[:, used].mean(1)


def _updates(draw: Draw) -> Cases:
    states, mask = _walk(draw)

    still = [*states, states[-1], states[-1] + 0.7 * draw.randn(*states[0].shape)]
    yield Case("is the cosine between one update and the next", (states, mask), 3.0)
    yield Case("does not move when [CLS] and padding do", (_loud(draw, states, mask), mask))
    yield Case("is 0 where a layer moves nothing", (still, mask))
    tiny = [1e-2 * state for state in states]
    yield Case("is the same for small updates", (tiny, mask), atol=1e-3)


check_turn_cosine = card(
    "08.6",
    turn_cosine,
    _updates,
    AVERAGES
    | {
        "comparing states instead of updates": "updates = torch.stack(list(hidden_states)).double()[1:]",
        "comparing each update with the first": "x = updates[:1].expand_as(y)",
        "comparing each update with the state that it starts from": "x = torch.stack(list(hidden_states)).double()[1:-1]",
        "averaging the updates before comparing them": OF_MEANS,
        "taking one of the two updates backwards": "cosines = -F.cosine_similarity(x, y, dim=-1)",
        "not dividing by the lengths": "cosines = (x * y).sum(-1)",
        "returning the angle in degrees": "(x, y, dim=-1, eps=1e-30) => (x, y, dim=-1, eps=1e-30)"
        ".clamp(-1, 1).arccos().rad2deg()",
        "taking the sign of the cosine away": "return cosines[:, used].abs().mean(1)",
        "comparing along dim=1, the default; a vector lies along dim=-1": "return F.cosine_similarity(x[:, used], y[:, used], dim=1).mean(1)",
        "0 / 0: an update of length 0 has no direction, and its cosine is 0": "cosines = (x * y).sum(-1) / x.norm(dim=-1) / y.norm(dim=-1)",
        "taking 1 where an update has length 0": "cosines = F.cosine_similarity(x, y, dim=-1).where((x * y).any(-1), 1)",
        "adding a large eps to the lengths; a cosine does not depend on them": "1e-30 => 1e-2",
    },
)
