"""How far does each layer move its input? The measurement of Figure 1 (section 3.1, notebook 08).

The paper does not say on which tokens or text its curves were measured. Ours are means over all
tokens but padding and [CLS], on held-out text without masks or dropout.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from albert_edu.model.albert import AlbertForPretraining, evaluation_mode
from albert_edu.text.batches import PretrainingBatch


class LayerSimilarity(NamedTuple):
    """Distance between the input and the output of each layer application, means over tokens.

    Entry 0 is the step from the embedding, which is not normed at width H: its L2 distance is also
    a change of norm.
    """

    l2: Float[Tensor, "steps"]
    l2_std: Float[Tensor, "steps"]
    angle_degrees: Float[Tensor, "steps"]
    angle_std: Float[Tensor, "steps"]

    def as_lists(self) -> dict[str, list[float]]:
        """Return plain numbers, rounded for storing as JSON."""
        columns = self._asdict().items()
        return {name: [round(x, 4) for x in column.tolist()] for name, column in columns}


def layer_similarity(
    model: AlbertForPretraining, batch: PretrainingBatch, beyond: int = 0
) -> LayerSimilarity:
    """Return how far every layer application moves its input, measured on a batch.

    Masked tokens are put back first. With h_l the output of application l (after its
    second norm) and h_0 the projected embedding, L2 is |h_l - h_{l-1}|, and the angle
    is that between h_{l-1} and h_l, both per token and then averaged. ``beyond``
    applies the last layer that many times more. Built in notebook 08.
    """
    batch = batch.to(next(model.parameters()).device)
    attention_mask = batch.attention_mask.bool()
    tokens = attention_mask.cpu().clone()
    tokens[:, 0] = False  # [CLS]
    rows = []
    with evaluation_mode(model):
        before = model.albert.embeddings(batch.unmasked_ids(), batch.segment_ids)
        # One after the other: a thousand applications need no more memory than two.
        for after in model.albert.encoder.steps(before, attention_mask, beyond):
            # Small angles need more digits than float32 has.
            x, y = before.cpu()[tokens].double(), after.cpu()[tokens].double()  # tokens H
            l2 = (y - x).norm(dim=-1)
            angle = F.cosine_similarity(x, y, dim=-1).clamp(-1, 1).arccos().rad2deg()
            rows.append([l2.mean(), l2.std(), angle.mean(), angle.std()])
            before = after
    return LayerSimilarity(*torch.tensor(rows, dtype=torch.float64).T)
