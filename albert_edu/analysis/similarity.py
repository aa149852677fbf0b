"""How far does each layer move its input? The measurement of Figure 1 (section 3.1, notebook 08).

The paper does not say on which tokens or text its curves were measured. Ours are means over all
tokens but padding and [CLS], on held-out text without masks or dropout.
"""

from dataclasses import dataclass
from itertools import chain, pairwise

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from albert_edu.model.albert import Albert, AlbertForPretraining, evaluation_mode
from albert_edu.text.batches import PretrainingBatch


@dataclass(frozen=True)
class LayerSimilarity:
    """Distance between the input and the output of each layer application, means over tokens.

    Entry 0 is the step from the embedding, which is not normed at width H: its L2 distance is also
    a change of norm. Entries from ``num_layers`` on are applications beyond the trained depth.
    """

    num_layers: int
    l2: Float[Tensor, "steps"]
    l2_std: Float[Tensor, "steps"]
    angle_degrees: Float[Tensor, "steps"]
    angle_std: Float[Tensor, "steps"]
    cosine: Float[Tensor, "steps"]
    update_cosine: Float[Tensor, "steps-1"]  # of successive updates; below 0 the vector turns back

    def as_lists(self) -> dict:
        """Return plain numbers, rounded for storing as JSON."""
        return {
            name: [round(x, 4) for x in value.tolist()] if isinstance(value, Tensor) else value
            for name, value in vars(self).items()
        }


def layer_similarity(
    model: Albert | AlbertForPretraining, batch: PretrainingBatch, beyond: int = 0
) -> LayerSimilarity:
    """Return how far every layer application moves its input, measured on a batch.

    Masked tokens are put back first. With h_l the output of application l (after its
    second norm) and h_0 the projected embedding, L2 is |h_l - h_{l-1}|, and the angle
    is that between h_{l-1} and h_l, both per token and then averaged. ``beyond``
    applies the last layer that many times more. Built in notebook 08.
    """
    albert = model.albert if isinstance(model, AlbertForPretraining) else model
    batch = batch.to(next(albert.parameters()).device)
    attention_mask = batch.attention_mask.bool()
    tokens = attention_mask.cpu().clone()
    tokens[:, 0] = False  # [CLS]
    rows, turns, update = [], [], None
    with evaluation_mode(albert):
        first = albert.embeddings(batch.unmasked_ids(), batch.segment_ids)
        # One after the other: a thousand applications need no more memory than two.
        states = chain([first], albert.encoder.steps(first, attention_mask, beyond))
        for before, after in pairwise(states):
            # Small angles need more digits than float32 has.
            before, after = before.cpu().double(), after.cpu().double()
            last_update, update = update, after - before
            l2 = update.norm(dim=-1)  # B S
            cosine = F.cosine_similarity(before, after, dim=-1).clamp(-1, 1)
            angle = torch.rad2deg(torch.arccos(cosine))
            means = (
                l2[tokens].mean(),
                l2[tokens].std(),
                angle[tokens].mean(),
                angle[tokens].std(),
                cosine[tokens].mean(),
            )
            rows.append(torch.stack(means).tolist())
            if last_update is not None:
                turn = F.cosine_similarity(last_update, update, dim=-1)
                turns.append(turn[tokens].mean().item())
    columns = torch.tensor(rows, dtype=torch.float64).T
    turns = torch.tensor(turns, dtype=torch.float64)
    return LayerSimilarity(albert.config.num_layers, *columns, update_cosine=turns)
