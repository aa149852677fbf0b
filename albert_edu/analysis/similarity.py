"""How far does each layer move its input? The measurement behind Figure 1 (section 3.1). Built in notebook 08.

The paper does not say on which tokens or text its curves were measured; ours are means over all non-padding tokens, with
[CLS] apart, on held-out text without masks, dropout off.
"""

from dataclasses import dataclass
from itertools import pairwise

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from albert_edu.model.albert import Albert, AlbertForPretraining
from albert_edu.text.batches import PretrainingBatch


@dataclass(frozen=True)
class LayerSimilarity:
    """Distance between the input and the output of each layer application, means over tokens other than [CLS] and padding.

    Entry 0 is the step from the embedding, which is not normed at width H, so its L2 distance is also a change of
    norm: read it apart. Entries from ``num_layers`` on are applications beyond the trained depth.
    """

    num_layers: int
    l2: Float[Tensor, "steps"]
    l2_std: Float[Tensor, "steps"]
    angle_degrees: Float[Tensor, "steps"]
    angle_std: Float[Tensor, "steps"]
    cosine: Float[Tensor, "steps"]
    cls_l2: Float[Tensor, "steps"]
    cls_angle_degrees: Float[Tensor, "steps"]
    update_cosine: Float[Tensor, "steps-1"]  # between successive steps; below 0 the vector swings back

    def as_lists(self) -> dict:
        """Plain numbers, rounded for storing as JSON."""
        return {
            name: [round(x, 4) for x in value.tolist()] if isinstance(value, Tensor) else value
            for name, value in vars(self).items()
        }


@torch.no_grad()
def layer_similarity(model: Albert | AlbertForPretraining, batch: PretrainingBatch, beyond: int = 0) -> LayerSimilarity:
    """Measure every layer application on a batch; ``beyond`` applies the last layer that many times more.

    Masked pieces are put back first. With h_l the output of application l (after its second norm) and h_0 the projected
    embedding: L2 is |h_l - h_{l-1}|, the angle is that between h_{l-1} and h_l, both per token, then averaged.
    """
    albert = model.albert if isinstance(model, AlbertForPretraining) else model
    was_training = albert.training
    albert.eval()
    batch = batch.to(next(albert.parameters()).device)
    attention_mask = batch.attention_mask.bool()
    try:
        hidden = [albert.embeddings(batch.unmasked_ids(), batch.segment_ids)]
        hidden += albert.encoder.steps(hidden[0], attention_mask, beyond)
    finally:  # also when a cell is interrupted: a model left in eval mode would train on without dropout
        albert.train(was_training)

    tokens = attention_mask.cpu()
    tokens[:, 0] = False  # [CLS] apart
    rows, turns, previous = [], [], None
    for before, after in pairwise(hidden):
        before, after = before.cpu().double(), after.cpu().double()  # small angles need more than float32
        distance, cosine = (after - before).norm(dim=-1), F.cosine_similarity(before, after, dim=-1).clamp(-1, 1)
        angle = torch.rad2deg(torch.arccos(cosine))
        rows.append([
            distance[tokens].mean(), distance[tokens].std(), angle[tokens].mean(), angle[tokens].std(), cosine[tokens].mean(),
            distance[:, 0].mean(), angle[:, 0].mean(),
        ])  # fmt: skip
        if previous is not None:
            turns.append(F.cosine_similarity(previous, after - before, dim=-1)[tokens].mean())
        previous = after - before
    columns = torch.tensor(rows).T
    return LayerSimilarity(albert.config.num_layers, *columns, update_cosine=torch.tensor(turns))
