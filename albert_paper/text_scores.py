"""How good a trained run is on text: its losses, what it is compared with, and its health.

A model, its text and its run go in; MLM losses, accuracies and baselines come out as plain numbers.
Other measures add to ``scores``. Explained in notebooks 05 (baselines) and 07 (health).
"""

import functools
from pydoc_data.topics import topics
from typing import Any

from albert_edu.analysis.counting import count_parameters
from albert_edu.analysis.health import health
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.text.batches import PretrainingStream
from albert_edu.text.corpora import split_sentences, to_dataset
from albert_edu.text.prepare import PreparedText
from albert_edu.text.tokenized import TokenizedCorpus
from albert_edu.text.tokenizer import AlbertTokenizer
from albert_edu.training.evaluate import baselines, evaluate
from albert_paper.training_run import Run

BATCH = 64  # rows
MEASURED = 32  # batches that a score is measured on
WATCHED = 8  # batches for a score while a run trains
SILENCED = 4  # batches for each half that is silenced


def scores(model: AlbertForPretraining, text: PreparedText, run: Run) -> dict:
    """Return parameters, health, and MLM loss and accuracy on held-out and on training text."""
    record: dict[str, Any] = {"parameters": count_parameters(model.config).with_heads}
    for part, held_out in (("held_out", True), ("train", False)):
        measured = evaluate(model, run.stream(text, held_out, batch_size=BATCH), MEASURED)
        for name, value in measured.items():
            record[f"{part}_{name}"] = value
    loss = record["held_out_masked_token_loss"]
    copy = baselines(text.train, text.held_out, model.config.vocab_size).copy
    record["copy_baseline"] = copy
    record["never_learnt"] = float(loss >= copy)
    record["gap"] = loss - record["train_masked_token_loss"]
    record["health"] = living_parts(model, text, run)
    return record


def living_parts(model: AlbertForPretraining, text: PreparedText, run: Run) -> dict:
    """Return the health of a model: what silencing each half costs, and the least open share."""
    found = health(model, run.stream(text, held_out=True, batch_size=BATCH), SILENCED)
    return {
        **found._asdict(),
        "alive": found.alive,
        "dead": found.dead,
        "ffn_worth": found.without_ffn - found.loss,
        "attention_worth": found.without_attention - found.loss,
        "least_open": min(found.open_units),
    }


def held_out_scores(model: AlbertForPretraining, text: PreparedText, run: Run) -> dict:
    """Return the scores on some held-out text, for a curve."""
    return evaluate(model, run.stream(text, held_out=True, batch_size=BATCH), WATCHED)


def third_domain(model: AlbertForPretraining, text: PreparedText, run: Run) -> dict:
    """Return the scores on some text of a kind that no run has read, for a curve."""
    return evaluate(model, third_stream(text, run), WATCHED)


def third_stream(text: PreparedText, run: Run) -> PretrainingStream:
    """Return batches of Python's language reference, which no run has read."""
    third = language_reference(text.tokenizer)
    return run.stream(text._replace(held_out=third), held_out=True, batch_size=BATCH)


@functools.lru_cache(1)  # a run that is watched reads it again and again
def language_reference(tokenizer: AlbertTokenizer) -> TokenizedCorpus:
    """Return Python's language reference, tokenised: a topic is a document."""
    documents = []
    for name, topic in sorted(topics.items()):
        documents.append({"id": name, "sentences": split_sentences(topic)})
    return TokenizedCorpus.encode(to_dataset(documents), tokenizer)


def scores_branch(model: AlbertForPretraining, text: PreparedText, run: Run) -> dict:
    """Return ``scores``, and those on a kind of text that no run has read.

    ``unigram`` is the loss there of a unigram model of what this branch has read: what counting
    words brings. ``below_unigram`` says how far the model lies below one unigram model of the text
    that the vocabulary is of, which is the same for every branch.
    """
    stream = third_stream(text, run)
    third = evaluate(model, stream, MEASURED)
    size = model.config.vocab_size
    last: dict[str, Any] = dict(run.then)
    read = run.text(last["corpus"])
    everything = run.text(run.vocabulary)
    third["unigram"] = baselines(read.train, stream.corpus, size).unigram
    one_for_all = baselines(everything.train, stream.corpus, size).unigram
    third["below_unigram"] = one_for_all - third["masked_token_loss"]
    return {**scores(model, text, run), "third": third}
