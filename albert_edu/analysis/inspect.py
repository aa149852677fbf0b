"""Look at a model from outside: what it is made of, and what it says where a word is masked.

The command line's ``inspect`` and ``fill`` are these functions.
"""

import torch

from albert_edu.analysis.counting import count_parameters
from albert_edu.analysis.similarity import layer_similarity
from albert_edu.config import check_whole
from albert_edu.errors import InputError
from albert_edu.model.albert import AlbertForPretraining, evaluation_mode
from albert_edu.text.batches import IGNORE, PretrainingBatch
from albert_edu.text.tasks import Tokenizer, as_data
from albert_edu.text.tokenizer import check_text
from albert_edu.text.unknown import check_known

MASK = "[MASK]"
SAMPLE = "four score and seven years ago our fathers brought forth on this continent a new nation"


def fill(
    model: AlbertForPretraining, tokenizer: Tokenizer, text: str, top: int = 5
) -> list[list[tuple[str, float]]]:
    """Return the ``top`` likeliest tokens, each with its probability, for every "[MASK]" of a text.

    Raises ValueError for a text without "[MASK]", and for one that is longer than the model allows,
    and TokenizerError where the tokenizer does not know the text.
    """
    check_whole("top", top, 1, model.config.vocab_size)
    check_text(text)
    parts = [tokenizer.encode(part) for part in text.split(MASK)]
    if len(parts) == 1:
        raise InputError(f"there is no {MASK} in {text!r}: write it where to guess a token.")
    check_known(tokenizer, text.split(MASK))
    ids = [token_id for part in parts for token_id in (tokenizer.mask_id, *part)]
    row = [tokenizer.cls_id, *ids[1:], tokenizer.sep_id]
    token_ids = torch.tensor([row], device=next(model.parameters()).device)
    with evaluation_mode(model):
        hidden = model.albert(token_ids).last_hidden[token_ids == tokenizer.mask_id]  # K H
        best = model.masked_token_head(hidden).softmax(-1).topk(top)
    guesses = []
    for ids, probabilities in zip(best.indices.tolist(), best.values.tolist(), strict=True):
        guesses.append(list(zip(tokenizer.pieces(ids), probabilities, strict=True)))
    return guesses


def rows_of_text(tokenizer: Tokenizer, text: str, sequence_length: int) -> PretrainingBatch:
    """Return a text as a batch without masks and labels: rows of [CLS], tokens, [SEP], padding.

    Raises ValueError for a text without a token, and TokenizerError where the tokenizer does not
    know it.
    """
    check_known(tokenizer, [text])
    tokens, room = tokenizer.encode(text), sequence_length - 2
    if not tokens:
        raise InputError("there is no token in the text.")
    rows = [(tokens[at : at + room], None) for at in range(0, len(tokens), room)]
    data = as_data(rows, [IGNORE] * len(rows), tokenizer, min(len(tokens), room) + 2)
    labels = data.labels[:, None]  # of one slot, which is not used
    parts = (data.token_ids, data.segment_ids, data.attention_mask)
    return PretrainingBatch(*parts, torch.zeros_like(labels), labels, data.labels)


def inspect(model: AlbertForPretraining, tokenizer: Tokenizer | None, text: str = SAMPLE) -> str:
    """Describe a model in lines of text: its config, parameters, layers, and Figure 1 on a text.

    Without a tokenizer there is no Figure 1.
    """
    config, count = model.config, count_parameters(model.config)
    lines = [f"{value!s:>13} {name.replace('_', ' ')}" for name, value in vars(config).items()]
    sizes = count._asdict() | {"whole model": count.with_heads}
    lines += [f"{n:>13,} parameters of the {part.replace('_', ' ')}" for part, n in sizes.items()]
    if tokenizer is None:
        return "\n".join([*lines, "There is no tokenizer, so there is no Figure 1."])
    batch = rows_of_text(tokenizer, text, config.max_positions)
    measured = layer_similarity(model, batch.rows(slice(32)))  # enough, also of a long text
    lines.append("Figure 1: L2 distance and angle between a layer's input and its output")
    steps = zip(model.albert.encoder.plan, measured.l2, measured.angle_degrees, strict=True)
    for i, (slot, l2, angle) in enumerate(steps, 1):
        blocks = f"layer {i}: attention {slot.attention}, ffn {slot.ffn}"
        lines.append(f"{blocks:34}{l2:8.2f} {angle:6.1f} degrees")
    return "\n".join(lines)
