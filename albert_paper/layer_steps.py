"""Figure 1 of a trained run in numbers: how far each layer moves its input, and how smoothly.

A trained run goes in; angles and L2 distances of its layers come out, with those of an untrained
stack of its shape, and of a shared layer that is applied up to 1,000 times. Explained in notebook
08.
"""

import numpy as np
import torch

from albert_edu.analysis.similarity import layer_similarity
from albert_edu.batch import Inputs
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.text.prepare import PreparedText
from albert_paper.text_scores import BATCH, scores
from albert_paper.training_run import Run

FAR = 1000  # applications of a shared layer: does it come to rest?
LOOKED_AT = (12, 24, 36, 100, 300, FAR)  # applications on the way there
FAR_ROWS = 16  # of text, since they pass the layer so often


def layer_steps(model: AlbertForPretraining, text: PreparedText, run: Run) -> dict:
    """Return ``scores``, and the size and smoothness of the layers' steps.

    ``roughness`` is the mean absolute second difference of the angles from layer 2 on, l2_roughness
    that of the L2 distances, relative_roughness the first one over the mean angle. ``added`` is
    what training added to each number, since untrained layers differ already. ``later_angle`` is
    the angle after applying a shared stack twice as often again, and ``angle_at`` goes to
    application 1,000, on fewer rows.
    """
    L = model.config.num_layers
    rows: Inputs = run.stream(text, held_out=True, batch_size=BATCH).batch(0).unmasked()
    shared = model.config.share == "all" and model.config.num_groups == 1
    torch.manual_seed(run.seed)
    untrained_model = AlbertForPretraining(model.config)
    untrained = layer_similarity(untrained_model, *rows).as_lists()
    beyond = 2 * L if shared else 0
    trained = layer_similarity(model, *rows, beyond=beyond).as_lists()

    summary = step_sizes(trained, L)
    added = {}
    for name, before in step_sizes(untrained, L).items():
        added[name] = summary[name] - before
    found = {
        **summary,
        "added": added,
        "angle_degrees": trained["angle_degrees"],
        "l2": trained["l2"],
        "untrained": {"angle_degrees": untrained["angle_degrees"], "l2": untrained["l2"]},
    }
    if shared:
        found["later_angle"] = trained["angle_degrees"][-1]
        far = layer_similarity(model, *rows.first(FAR_ROWS), beyond=FAR - L).as_lists()
        places = [place for place in LOOKED_AT if L <= place <= FAR]
        found["angle_at"] = {str(place): far["angle_degrees"][place - 1] for place in places}
    return {**scores(model, text, run), **found}


def step_sizes(curves: dict[str, list[float]], L: int) -> dict[str, float]:
    """Return how large and how rough the steps of layers 2 to L are."""
    angles = curves["angle_degrees"][1:L]
    distances = curves["l2"][1:L]
    roughness = np.abs(np.diff(angles, n=2)).mean()
    return {
        "mean_angle": np.mean(angles),
        "mean_l2": np.mean(distances),
        "roughness": roughness,
        "l2_roughness": np.abs(np.diff(distances, n=2)).mean(),
        "relative_roughness": roughness / np.mean(angles),
    }
