"""What is measured on a trained run.

Each measure takes (model, text, run) and returns plain numbers; ``sweep`` rounds and keeps them.
"""

from copy import deepcopy
from pydoc_data.topics import topics

import numpy as np
import torch
from scipy import stats

from albert_edu.analysis.counting import count_parameters
from albert_edu.analysis.health import health
from albert_edu.analysis.probes import linear_probe
from albert_edu.analysis.similarity import layer_similarity
from albert_edu.model.albert import AlbertForPretraining, evaluation_mode
from albert_edu.model.task_heads import AlbertForClassification
from albert_edu.text.batches import PretrainingStream
from albert_edu.text.corpora import hold_out, load_corpus, split_sentences, to_dataset
from albert_edu.text.prepare import PreparedText
from albert_edu.text.tasks import Example, encode_pairs
from albert_edu.text.tokenized import TokenizedCorpus
from albert_edu.training.evaluate import baselines, evaluate
from albert_edu.training.finetune import TrainSettings, finetune, task_scores

EXAMPLES = 4000  # of the downstream task; a quarter of them test
LABELS = (50, 200)  # to learn it from
MEASURED = 32  # batches of 64 that a score is measured on, and as many for a probe to learn from
WATCHED = 8  # batches of 64 for a score while a run trains
SILENCED = 4  # batches of 64 for each half that is silenced
FAR = 1000  # applications of a shared layer: does it come to rest?
LOOKED_AT = (12, 24, 36, 100, 300, FAR)  # applications on the way there
FINETUNED = {"steps": 200, "learning_rate": 1e-3, "warmup_steps": 40}
TASKS = {"sop": "document", "nsp-document": "document", "nsp-topic": "topic"}  # kind of negatives


def scores(model: AlbertForPretraining, text: PreparedText, run) -> dict:
    """Return parameters, health, and MLM loss and accuracy on held-out and on training text."""
    record = {"parameters": count_parameters(model.config).with_heads}
    for part, held_out in (("held_out", True), ("train", False)):
        measured = evaluate(model, run.stream(text, held_out, batch_size=64), MEASURED)
        record |= {f"{part}_{name}": value for name, value in measured.items()}
    loss = record["held_out_masked_token_loss"]
    copy = baselines(text.train, text.held_out, model.config.vocab_size).copy
    record["copy_baseline"] = copy
    record["never_learnt"] = float(loss >= copy)
    record["gap"] = loss - record["train_masked_token_loss"]
    record["health"] = living_parts(model, text, run)
    return record


def living_parts(model: AlbertForPretraining, text: PreparedText, run) -> dict:
    """Return the health of a model, what each half is worth in nats, and the least open share."""
    found = health(model, run.stream(text, held_out=True, batch_size=64), SILENCED)
    return found._asdict() | {
        "alive": found.alive,
        "dead": found.dead,
        "ffn_worth": found.without_ffn - found.loss,
        "attention_worth": found.without_attention - found.loss,
        "least_open": min(found.open_units),
    }


def held_out_scores(model: AlbertForPretraining, text: PreparedText, run) -> dict:
    """Return the scores on some held-out text, for a curve."""
    return evaluate(model, run.stream(text, held_out=True, batch_size=64), WATCHED)


def third_domain(model: AlbertForPretraining, text: PreparedText, run) -> dict:
    """Return the scores on some text of a kind that no run has read, for a curve."""
    return evaluate(model, third_stream(text, run), WATCHED)


def third_stream(text: PreparedText, run) -> PretrainingStream:
    """Return batches of Python's language reference."""
    documents = (
        {"id": name, "sentences": split_sentences(topic)} for name, topic in sorted(topics.items())
    )
    third = TokenizedCorpus.encode(to_dataset(documents), text.tokenizer)
    return run.stream(text._replace(held_out=third), held_out=True, batch_size=64)


def scores_branch(model: AlbertForPretraining, text: PreparedText, run) -> dict:
    """Return ``scores``, and those on a kind of text that no run has read.

    ``unigram`` is the loss there of a unigram model of what this branch has read: what counting
    words brings. ``below_unigram`` says how far the model lies below one unigram model of the text
    that the vocabulary is of, which is the same for every branch.
    """
    stream = third_stream(text, run)
    found = evaluate(model, stream, MEASURED)
    size = model.config.vocab_size
    read = run.text(dict(run.then)["corpus"])
    everything = run.text(run.vocabulary)
    found["unigram"] = baselines(read.train, stream.corpus, size).unigram
    one = baselines(everything.train, stream.corpus, size).unigram
    found["below_unigram"] = one - found["masked_token_loss"]
    return scores(model, text, run) | {"third": found}


def scores_third_domain(model: AlbertForPretraining, text: PreparedText, run) -> dict:
    """Return ``scores``, and the MLM loss on a kind of text that no run has read.

    This is Python's language reference. The unigram baseline there depends on which text was
    read, so the record also says how far the loss lies below this baseline.
    """
    stream = third_stream(text, run)
    loss = evaluate(model, stream, MEASURED)["masked_token_loss"]
    below = baselines(text.train, stream.corpus, model.config.vocab_size).unigram - loss
    return scores(model, text, run) | {"third": {"masked_token_loss": loss, "below_unigram": below}}


def few_labels(model: AlbertForPretraining, text: PreparedText, run) -> dict:
    """Return accuracies on a task of two sentences, fine-tuned on few labelled examples.

    Is a stage of the story missing between the two sentences? Both orders of a pair never occur.
    """
    device, record = next(model.parameters()).device, scores(model, text, run)
    split = story_gap(run.corpus, EXAMPLES, run.seed)
    train, test = (encode_pairs(part, text.tokenizer, run.sequence_length) for part in split)
    for labels in LABELS:
        torch.manual_seed(run.seed)
        task, few = AlbertForClassification(deepcopy(model.albert), 2), train.rows(slice(labels))
        finetune(task.to(device), few, TrainSettings(**FINETUNED, seed=run.seed))
        record[f"labels_{labels}"] = {"accuracy": task_scores(task, test)["accuracy"]}
    return record


def story_gap(world: str, examples: int, seed: int) -> tuple[list[Example], list[Example]]:
    """Do two sentences of a story follow each other (0), or is one between them left out (1)?

    It takes both sentences, and it is not sentence order, because no pair is ever swapped. Half of
    the labels are 0, on average. Stories are drawn with replacement; those of the test are what
    ``prepare(world)`` holds out.
    """
    (train, test), rng, drawn = hold_out(load_corpus(world)), np.random.default_rng(seed), []
    learnt = examples - examples // 4
    for part in [train] * learnt + [test] * (examples - learnt):
        sentences = part[int(rng.integers(len(part)))]["sentences"]
        places, label = range(len(sentences)), int(rng.integers(2))
        pairs = [(i, j) for i in places for j in places[i + 1 :] if (j > i + 1) == label]
        i, j = pairs[rng.integers(len(pairs))]
        drawn.append(Example(sentences[i], sentences[j], label))
    return drawn[:learnt], drawn[learnt:]


def layer_steps(model: AlbertForPretraining, text: PreparedText, run) -> dict:
    """Return Figure 1 in numbers: how far each layer moves its input, and how smooth the curve is.

    ``roughness`` is the mean absolute second difference of the angles from layer 2 on, l2_roughness
    that of the L2 distances, relative_roughness the first one over the mean angle. ``added`` is
    what training added to each number, since untrained layers differ already. ``later_angle`` is
    the angle after applying a shared stack twice as often again, and ``angle_at`` goes to
    application 1,000, on fewer rows.
    """
    L, batch = model.config.num_layers, run.stream(text, held_out=True, batch_size=64).batch(0)
    shared = model.config.share == "all" and model.config.num_groups == 1
    torch.manual_seed(run.seed)
    untrained = layer_similarity(AlbertForPretraining(model.config), *batch.unmasked()).as_lists()
    curves = layer_similarity(model, *batch.unmasked(), beyond=2 * L if shared else 0).as_lists()
    steps, before = _summary(curves, L), _summary(untrained, L)
    added = {name: steps[name] - value for name, value in before.items()}
    steps |= {"added": added, "angle_degrees": curves["angle_degrees"], "l2": curves["l2"]}
    steps["untrained"] = {name: untrained[name] for name in ("angle_degrees", "l2")}
    if shared:
        steps["later_angle"] = curves["angle_degrees"][-1]
        far = layer_similarity(model, *batch.unmasked().first(16), beyond=FAR - L).as_lists()
        angles = far["angle_degrees"]
        steps["angle_at"] = {
            str(place): angles[place - 1] for place in LOOKED_AT if L <= place <= FAR
        }
    return scores(model, text, run) | steps


def _summary(curves: dict, L: int) -> dict[str, float]:
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


def order_cross(model: AlbertForPretraining, text: PreparedText, run) -> dict:
    """Return Table 5's cross: MLM, and three order tasks by the head and by fresh linear probes.

    The head has an accuracy, its recalls, and the area under its curve: how often a swapped or
    random pair gets a higher score than one in order, whatever the head's threshold is.
    ``probe`` reads the pooled vector, which without an order loss is a random map of [CLS];
    ``probe_mean`` reads the mean of the last hidden states. Text that names no topics has another
    one in each document.
    """
    found = {"head": {}, "probe": {}, "probe_mean": {}}
    for task, negatives in TASKS.items():
        negatives = negatives if len(np.unique(text.held_out.topics)) > 1 else "document"
        kind = {"objective": task.split("-")[0], "negatives": negatives, "batch_size": 64}
        measured = evaluate(model, run.stream(text, held_out=True, **kind), MEASURED)
        found["head"][task] = {"accuracy": measured["sentence_order_accuracy"]}
        found["head"][task] |= head_curve(model, run.stream(text, held_out=True, **kind))
        (*train, labels), (*test, answers) = (
            _features(model, run.stream(text, held_out, **kind)) for held_out in (False, True)
        )
        for name, seen, unseen in zip(("probe", "probe_mean"), train, test, strict=True):
            accuracy, _ = linear_probe(seen, labels, unseen, answers)
            found[name][task] = {"accuracy": accuracy}
    plain = evaluate(model, run.stream(text, True, objective="none", batch_size=64), MEASURED)
    found["held_out_masked_token_loss"] = plain["masked_token_loss"]
    found["copy_baseline"] = baselines(text.train, text.held_out, model.config.vocab_size).copy
    found["health"] = living_parts(model, text, run)
    return found


def head_curve(model: AlbertForPretraining, stream: PretrainingStream) -> dict[str, float]:
    """Return the area under the order head's curve, and its recalls of pairs in order and not."""
    scores, labels = [], []
    with evaluation_mode(model):
        for step in range(MEASURED):
            batch = stream.batch(step).to(next(model.parameters()).device)
            logits = model(batch).sentence_order_logits
            scores.append((logits[:, 1] - logits[:, 0]).cpu())
            labels.append(batch.order_labels.cpu())
    score, label = torch.cat(scores).numpy(), torch.cat(labels).numpy()
    ranks = stats.rankdata(score)
    wrong = label == 1
    many, few = wrong.sum(), (~wrong).sum()
    return {
        "auc": float((ranks[wrong].sum() - many * (many + 1) / 2) / (many * few)),
        "recall_in_order": float((score[~wrong] <= 0).mean()),
        "recall_other": float((score[wrong] > 0).mean()),
    }


def _features(model: AlbertForPretraining, stream: PretrainingStream) -> list[torch.Tensor]:
    """The pooled vector, the mean of the last hidden states, and the label of every row."""
    rows = []
    with evaluation_mode(model):
        for step in range(MEASURED):
            batch = stream.batch(step).to(next(model.parameters()).device)
            output = model.albert(*batch.unmasked())
            weight = batch.attention_mask[:, :, None] / batch.attention_mask.sum(1)[:, None, None]
            rows.append((output.pooled, (output.last_hidden * weight).sum(1), batch.order_labels))
    return [torch.cat(part).cpu() for part in zip(*rows, strict=True)]
