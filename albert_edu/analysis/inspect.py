"""Look at a model from outside: what it is made of, and what it says where a word is masked.

The command line's ``inspect`` and ``fill`` are these functions.
"""

import torch

from albert_edu.analysis.counting import count_parameters
from albert_edu.analysis.similarity import layer_similarity
from albert_edu.batch import Inputs
from albert_edu.config import check_whole
from albert_edu.errors import InputError
from albert_edu.model.albert import AlbertForPretraining, evaluation_mode
from albert_edu.text.hub_tokenizer import Tokenizer
from albert_edu.text.tokenizer import check_text
from albert_edu.text.unknown import check_known

GAP = "[MASK]"  # what a text has where a token is to be guessed
SAMPLE = "four score and seven years ago our fathers brought forth on this continent a new nation"
ROWS = 32  # of the text that Figure 1 is measured on: enough, also of a long one


def fill(
    model: AlbertForPretraining, tokenizer: Tokenizer, text: str, top: int = 5
) -> list[list[tuple[str, float]]]:
    """Return the ``top`` likeliest tokens, each with its probability, for every "[MASK]" of a text.

    Raises InputError for a text without "[MASK]", and for one that is longer than the model allows,
    and TokenizerError where the tokenizer does not know the text.
    """
    check_whole("top", top, 1, model.config.vocab_size)
    check_text(text)
    parts = text.split(GAP)
    if len(parts) == 1:
        raise InputError(f"there is no {GAP} in {text!r}: write it where to guess a token.")
    check_known(tokenizer, parts)
    row = [tokenizer.cls_id, *tokenizer.encode(parts[0])]
    for part in parts[1:]:
        row += [tokenizer.mask_id, *tokenizer.encode(part)]
    row.append(tokenizer.sep_id)
    token_ids = torch.tensor([row], device=next(model.parameters()).device)  # 1 S
    with evaluation_mode(model):
        hidden = model.albert(token_ids).last_hidden  # 1 S H
        at_gaps = hidden[token_ids == tokenizer.mask_id]  # K H
        best = model.masked_token_head(at_gaps).softmax(-1).topk(top)
    guesses = []
    for ids, probabilities in zip(best.indices.tolist(), best.values.tolist(), strict=True):
        tokens = tokenizer.pieces(ids)
        guesses.append(list(zip(tokens, probabilities, strict=True)))
    return guesses


def rows_of_text(tokenizer: Tokenizer, text: str, sequence_length: int) -> Inputs:
    """Return a text in rows: [CLS], tokens, [SEP], padding.

    Raises InputError for a text without a token, and TokenizerError where the tokenizer does not
    know it.
    """
    check_known(tokenizer, [text])
    tokens = tokenizer.encode(text)
    if not tokens:
        raise InputError("there is no token in the text.")
    room = sequence_length - 2  # beside [CLS] and [SEP]
    length = min(len(tokens), room) + 2
    rows = []
    attention = []
    for at in range(0, len(tokens), room):
        row = [tokenizer.cls_id, *tokens[at : at + room], tokenizer.sep_id]
        padding = length - len(row)
        rows.append(row + [tokenizer.pad_id] * padding)
        attention.append([1] * len(row) + [0] * padding)
    token_ids = torch.tensor(rows)
    return Inputs(token_ids, torch.zeros_like(token_ids), torch.tensor(attention))


def inspect(model: AlbertForPretraining, tokenizer: Tokenizer | None, text: str = SAMPLE) -> str:
    """Describe a model in lines of text: its config, parameters, layers, and Figure 1 on a text.

    Without a tokenizer there is no Figure 1.
    """
    lines = []
    for field, value in vars(model.config).items():
        lines.append(f"{value!s:>13} {field.replace('_', ' ')}")
    count = count_parameters(model.config)
    for part, size in (count._asdict() | {"whole model": count.with_heads}).items():
        lines.append(f"{size:>13,} parameters of the {part.replace('_', ' ')}")
    if tokenizer is None:
        lines.append("There is no tokenizer, so there is no Figure 1.")
    else:
        rows = rows_of_text(tokenizer, text, model.config.max_positions)
        lines += _figure_1(model, rows.first(ROWS))
    return "\n".join(lines)


def _figure_1(model: AlbertForPretraining, text: Inputs) -> list[str]:
    """Return a title, and a line for each layer application: its blocks, L2 distance and angle."""
    similarity = layer_similarity(model, *text)
    lines = ["Figure 1: L2 distance and angle between a layer's input and its output"]
    for i, slot in enumerate(model.albert.encoder.plan):
        blocks = f"layer {i + 1}: attention {slot.attention}, ffn {slot.ffn}"
        l2 = similarity.l2[i]
        angle = similarity.angle_degrees[i]
        lines.append(f"{blocks:34}{l2:8.2f} {angle:6.1f} degrees")
    return lines
