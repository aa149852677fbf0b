"""A synthetic corpus with two planted signals: the topic of a story, and the order of its events.

Real text hides both signals. Here the strength of each can be set, so that one can see what an
objective learns from which. Every story runs through six stages in order. Its nouns come from one
topic (NSP can be solved from them), and its verbs from the stages (SOP can only be solved from
them). A script is a topic together with the verb it uses at each stage. Used from notebook 00 on.
"""

import math
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from albert_edu.config import check_between, check_whole

if TYPE_CHECKING:
    import datasets

WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
STAGES = WORDS["stages"]  # of a story, in order: the verbs of each
TOPICS = WORDS["topics"]  # the nouns of each
NAMES = WORDS["names"]
PLACES = WORDS["places"]
PLAIN_NOUNS = WORDS["plain_nouns"]  # of no topic
PLAIN_VERBS = WORDS["plain_verbs"]  # of no stage


def stories(
    num_documents: int = 3000,
    num_scripts: int = 60,
    topic_strength: float = 0.9,
    order_strength: float = 1.0,
    topic_nouns: int = 0,
    seed: int = 0,
) -> "datasets.Dataset":
    """Return documents of six sentences, with columns ``topic`` and ``script``.

    ``topic_strength`` is the chance that a noun belongs to the topic, ``order_strength`` the chance
    that a verb belongs to the stage. At 0 the signal is gone, and the task that needs it cannot be
    learnt. ``topic_nouns`` puts so many further nouns of the topic at the end of each sentence, in
    the place of where or when. The topic then shows in most words, as in real text. (With one noun
    a sentence, some NSP models solve their task by the verbs.) Every sentence has the
    same number of words, so lengths give nothing away. Hold out with ``hold_out(corpus)`` (new
    stories of known scripts) or ``hold_out(corpus, by="script")`` (scripts never seen). Raises
    ValueError for a number out of its range.

    How hard is it? ``albert-tiny`` with batches of 32 x 64 and AdamW at 2e-3 on one core has this
    SOP accuracy on held-out scripts: 0.95 to 0.98 after 500 steps (20 s, three seeds) and 0.96 to
    0.98 after 800 (35 s, four seeds). After 500 steps and two seeds, ``order_strength=0.7`` gives
    0.89 and 0.90.
    """
    topics = list(TOPICS)
    verbs_of_stages = [len(verbs) for verbs in STAGES]
    all_scripts = len(topics) * math.prod(verbs_of_stages)
    check_between("topic_strength", topic_strength, 0.0, 1.0)
    check_between("order_strength", order_strength, 0.0, 1.0)
    check_whole("num_documents", num_documents, 1, 1_000_000)
    check_whole("num_scripts", num_scripts, 1, all_scripts)
    check_whole("topic_nouns", topic_nouns, 0, 2**32)
    check_whole("seed", seed, 0, 2**32)
    from datasets import Dataset

    rng = np.random.default_rng(seed)
    script_ids = rng.choice(all_scripts, size=num_scripts, replace=False)
    # A script's number says its topic, and which verb of each stage it uses.
    topic_of = script_ids % len(topics)
    verb_of = np.unravel_index(script_ids // len(topics), verbs_of_stages)  # [stage][script]

    def one_of(words: Sequence[str]) -> str:
        """Draw a word as ``rng.choice`` would, which makes an array of the words first."""
        return words[int(rng.integers(len(words)))]

    def sentence(topic: str, verb: str) -> str:
        """Draw a sentence; its noun and its verb tell of topic and stage as often as asked."""
        has_topic = rng.random() < topic_strength
        noun = one_of(TOPICS[topic] if has_topic else PLAIN_NOUNS)
        has_order = rng.random() < order_strength
        verb = verb if has_order else one_of(PLAIN_VERBS)
        name = one_of(NAMES)
        nouns = " ".join(one_of(TOPICS[topic]) for _ in range(topic_nouns))
        end = nouns or one_of(PLACES)
        return f"{name} {verb} the {noun} {end}."

    def document(index: int) -> dict:
        """Draw a story: a script, and a sentence for each stage."""
        script = int(rng.integers(num_scripts))
        topic = topics[topic_of[script]]
        sentences = []
        for stage, verbs in enumerate(STAGES):
            verb = verbs[verb_of[stage][script]]
            sentences.append(sentence(topic, verb))
        return {"id": f"story-{index}", "topic": topic, "script": script, "sentences": sentences}

    return Dataset.from_list([document(index) for index in range(num_documents)])


def spelling_lesson() -> list[str]:
    """Return every word of the stories with a full stop: lines that a tokenizer learns from, too.

    SentencePiece considers a piece only if two different words have it. Most words of this small
    vocabulary look like no other. They would be spelt in two pieces instead of one, and a sequence
    would hold three sentences instead of seven.
    """
    words = {"the", *NAMES, *PLAIN_NOUNS, *PLAIN_VERBS}
    words.update(*STAGES, *TOPICS.values())
    words.update(*(place.split() for place in PLACES))
    return [f"{word}." for word in sorted(words)]
