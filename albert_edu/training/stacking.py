"""Deeper models from shallower ones, as the paper warm-starts its deep ones (footnote 5, appendix A.1)."""

from pathlib import Path
from typing import NamedTuple

import torch

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.model.interchange import save_pretrained
from albert_edu.text.batches import EVAL_SEED_OFFSET, PretrainingStream
from albert_edu.text.prepare import PreparedText
from albert_edu.training.checkpoint import weights_fingerprint
from albert_edu.training.pretrain import pretrain
from albert_edu.training.settings import PretrainSettings


class Stage(NamedTuple):
    """One depth on the way to the last: train this many steps with this peak learning rate.

    A stage on shorter sequences takes as many more of them into a batch, so that every step reads as many pieces.
    """

    num_layers: int
    steps: int
    learning_rate: float
    sequence_length: int = 0  # 0: as long as the model's own


@torch.no_grad()
def stack_layers(model: AlbertForPretraining, num_layers: int) -> AlbertForPretraining:
    """A model of ``num_layers`` layers that starts from this one's weights.

    Application i of the new stack takes the blocks of application i * L_old // L_new: where everything is shared the
    weights stay the same and are only applied more often, where nothing is shared each layer is copied and then free.
    """
    if num_layers < model.config.num_layers:
        raise ValueError(f"stack_layers makes a model deeper: {num_layers} layers are fewer than {model.config.num_layers}.")
    deep = AlbertForPretraining(model.config.replace(num_layers=num_layers))
    old, new = model.albert.encoder, deep.albert.encoder
    deep.load_state_dict({k: v for k, v in model.state_dict().items() if ".encoder." not in k}, strict=False)
    for half in ("attention", "ffn"):
        ours, theirs = getattr(new, half), getattr(old, half)
        for i, slot in enumerate(new.plan):
            block, source = getattr(slot, half), getattr(old.plan[i * len(old.plan) // num_layers], half)
            # As many blocks as before: groups, and each keeps its own, wherever the deeper stack draws their borders.
            ours[block].load_state_dict(theirs[block if len(ours) == len(theirs) else source].state_dict())
    return deep


def pretrain_stacked(
    config: AlbertConfig, stages: tuple[Stage, ...], text: PreparedText, folder: str | Path, *,
    batch_size: int = 16, sequence_length: int = 128, seed: int = 0, device=None, precision: str = "float32",
    compile: bool = False,
) -> None:  # fmt: skip
    """Train the first stage's depth from scratch and each further one from the one before it; write a model folder.

    ``folder/layers-LL-length-SSS`` holds the checkpoints and metrics of a stage. The same call again goes on where it stopped.
    Each stage trains with LAMB, as the paper does, on batches of its own, with a warm-up over its first tenth.
    """
    folder, model = Path(folder), None
    for index, stage in enumerate(stages):
        length = stage.sequence_length or sequence_length
        stage_folder = folder / f"layers-{stage.num_layers:02d}-length-{length:03d}"
        torch.manual_seed(seed)
        deeper = config.replace(num_layers=stage.num_layers)
        model = AlbertForPretraining(deeper) if model is None else stack_layers(model, stage.num_layers)
        rows = batch_size * sequence_length // length
        stream = PretrainingStream(text.train, text.tokenizer, "sop", rows, length, seed=1000 * seed + index)
        held_out = PretrainingStream(text.held_out, text.tokenizer, "sop", 32, length, seed=seed + EVAL_SEED_OFFSET)
        settings = PretrainSettings(
            steps=stage.steps, learning_rate=stage.learning_rate, warmup_steps=stage.steps // 10, optimizer="lamb",
            precision=precision, compile=compile, checkpoint_every=100, log_every=10,
            evaluate_every=max(50, stage.steps // 10), seed=seed,
        )  # fmt: skip
        origin = weights_fingerprint(model)
        checkpoints, metrics = stage_folder / "checkpoints", stage_folder / "metrics.jsonl"
        pretrain(model, stream, settings, checkpoints, device, held_out, metrics, None, origin)
    save_pretrained(model, text.tokenizer, folder, native=True)
