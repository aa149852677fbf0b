"""How far does each layer move its input? The measurement of Figure 1 (section 3.1, notebook 08).

The paper does not say on which tokens or text its curves were measured. Ours are means over all
tokens but padding and [CLS], on held-out text without masks or dropout.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from albert_edu.config import check_whole
from albert_edu.errors import InputError
from albert_edu.model.albert import AlbertForPretraining, as_mask, evaluation_mode


class LayerSimilarity(NamedTuple):
    """Distance between the input and the output of each layer application, means over tokens.

    There are as many steps as applications, those beyond the depth included; ``_std`` are
    deviations over tokens. Entry 0 is the step from the embedding, which is not normed at width H:
    its L2 distance is also a change of norm.
    """

    l2: Float[Tensor, "steps"]
    l2_std: Float[Tensor, "steps"]
    angle_degrees: Float[Tensor, "steps"]
    angle_std: Float[Tensor, "steps"]

    def as_lists(self) -> dict[str, list[float]]:
        """Return plain numbers, rounded for storing as JSON."""
        lists = {}
        for name, column in self._asdict().items():
            lists[name] = [round(number, 4) for number in column.tolist()]
        return lists


def layer_similarity(
    model: AlbertForPretraining,
    token_ids: Int[Tensor, "B S"],
    segment_ids: Int[Tensor, "B S"],
    attention_mask: Int[Tensor, "B S"],
    beyond: int = 0,
) -> LayerSimilarity:
    """Return how far every layer application moves its input, measured on rows of text.

    The text is that of a user, or that of a batch: ``layer_similarity(model, *batch.unmasked())``.
    With h_l the output of application l (after its second norm) and h_0 the projected embedding,
    L2 is |h_l - h_{l-1}|, and the angle is that between h_{l-1} and h_l, both per token and then
    averaged over all tokens but padding and [CLS]. ``beyond`` applies the last layer that many
    times more. Raises InputError for fewer than two tokens to measure. Built in notebook 08.
    """
    check_whole("beyond", beyond, 0, 1_000_000)
    device = next(model.parameters()).device
    mask = as_mask(attention_mask, token_ids).to(device)
    measured = mask.cpu().clone()
    measured[:, 0] = False  # [CLS]
    if measured.sum() < 2:
        raise InputError("there must be two tokens to measure, beside padding and [CLS].")
    steps = []
    with evaluation_mode(model):
        before = model.albert.embed(token_ids.to(device), segment_ids.to(device))
        # One after the other: a thousand applications need no more memory than two.
        for after in model.albert.encoder.steps(before, mask, beyond):
            steps.append(_step(before.cpu()[measured], after.cpu()[measured]))
            before = after
    l2, l2_std, angle, angle_std = torch.stack(steps).T
    return LayerSimilarity(l2, l2_std, angle, angle_std)


def _step(before: Float[Tensor, "N H"], after: Float[Tensor, "N H"]) -> Float[Tensor, "4"]:
    """Return mean and deviation of the L2 distance and of the angle over N tokens."""
    x = before.double()  # small angles need more digits than float32 has
    y = after.double()
    l2 = (y - x).norm(dim=-1)
    angle = F.cosine_similarity(x, y, dim=-1).clamp(-1, 1).arccos().rad2deg()
    return torch.stack([l2.mean(), l2.std(), angle.mean(), angle.std()])
