"""Preparing text: the kept copy is the fresh one, half a copy is never used, and held-out text stays out."""

import threading
from pathlib import Path

import numpy as np
import pytest
from datasets import Dataset

from albert_edu.text import prepare as module
from albert_edu.text.corpora import CorpusError, hold_out
from albert_edu.text.prepare import cache_folder, prepare
from albert_edu.text.stories import stories
from albert_edu.text.tokenized import TokenizedCorpus
from albert_edu.text.tokenizer import UNK, AlbertTokenizer


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache folder of its own, and a corpus small enough to prepare often; ``cache.loads`` counts how often it was read."""
    folder = tmp_path / "deep" / "cache"
    monkeypatch.setenv("ALBERT_EDU_CACHE", str(folder))
    loads = []
    monkeypatch.setattr(module, "load_corpus", lambda name: loads.append(name) or stories(num_documents=40, num_scripts=5))
    return folder, loads


def fingerprints(text) -> tuple[str, str, str]:
    return text.tokenizer.fingerprint, text.train.fingerprint, text.held_out.fingerprint


def test_the_cache_folder_can_be_chosen(monkeypatch, tmp_path):
    monkeypatch.setenv("ALBERT_EDU_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("ALBERT_EDU_CACHE")
    assert cache_folder() == Path.home() / ".cache" / "albert_edu"


def test_the_kept_copy_equals_the_fresh_one(cache):
    folder, loads = cache
    fresh = prepare("stories", vocab_size=120)
    kept = prepare("stories", vocab_size=120)
    assert loads == ["stories"] and len(list(folder.iterdir())) == 1
    assert isinstance(kept.train.tokens, np.memmap) and not isinstance(fresh.train.tokens, np.memmap)
    assert fingerprints(kept) == fingerprints(fresh)
    for part in ("train", "held_out"):
        for name in TokenizedCorpus.FILES:
            np.testing.assert_array_equal(getattr(getattr(kept, part), name), getattr(getattr(fresh, part), name), strict=True)


def test_what_is_prepared_is_the_corpus_cut_by_documents_and_tokenised(cache):
    prepared = prepare("stories", vocab_size=120, held_out=0.25, seed=3)
    parts = hold_out(stories(num_documents=40, num_scripts=5), 0.25, 3)
    for corpus, part in zip(parts, prepared[1:], strict=True):
        assert part.fingerprint == TokenizedCorpus.encode(corpus, prepared.tokenizer).fingerprint
    assert len(prepared.tokenizer) == 120 and len(prepared.held_out.documents) - 1 == 10


def test_two_corpora_become_one_each_with_the_documents_held_out_that_it_holds_out_alone(cache, monkeypatch):
    folder, _ = cache
    corpora = {"sotu": stories(40, 5), "imdb": stories(20, 5, seed=1).remove_columns(["topic", "script"])}
    monkeypatch.setattr(module, "load_corpus", corpora.get)
    both = prepare("sotu+imdb", vocab_size=120, held_out=0.25, seed=3)
    sides = zip(*(hold_out(corpus, 0.25, 3) for corpus in corpora.values()), strict=True)
    for (one, other), side in zip(sides, (both.train, both.held_out), strict=True):
        documents = [*one["sentences"], *other["sentences"]]
        wanted = TokenizedCorpus.encode(Dataset.from_dict({"id": [""] * len(documents), "sentences": documents}), both.tokenizer)
        assert side.fingerprint == wanted.fingerprint
    assert len(list(folder.iterdir())) == 1


def test_a_story_world_with_strengths_is_kept_under_a_name_that_every_system_allows(cache):
    folder, loads = cache
    world = "stories:topic_nouns=3"
    fresh = prepare(world, vocab_size=120)
    assert fingerprints(prepare(world, vocab_size=120)) == fingerprints(fresh) and loads == [world]
    assert [path.name.split("-V")[0] for path in folder.iterdir()] == ["stories-topic_nouns=3"]
    assert module.default_vocabulary(world) == module.default_vocabulary("stories")


def test_every_setting_has_a_copy_of_its_own(cache):
    folder, loads = cache
    given = AlbertTokenizer.train((s for sentences in stories(30)["sentences"] for s in sentences), 60)
    settings = [{}, {"vocab_size": 100}, {"held_out": 0.2}, {"seed": 1}, {"tokenizer": given}]
    settings = [{"vocab_size": 120} | each for each in settings]
    prepared = [fingerprints(prepare("stories", **each)) for each in settings]
    assert len(set(prepared)) == len(loads) == len(list(folder.iterdir())) == 5
    assert prepared[-1][0] == given.fingerprint
    assert [fingerprints(prepare("stories", **each)) for each in settings] == prepared and len(loads) == 5


def test_two_that_prepare_the_same_text_at_once_both_get_it_and_leave_one_copy(cache, monkeypatch):
    folder, loads = cache
    together, small = threading.Barrier(2, timeout=20), module.load_corpus

    def load_together(name):
        together.wait()  # so that neither finds the other's copy
        return small(name)

    monkeypatch.setattr(module, "load_corpus", load_together)
    results = []
    threads = [threading.Thread(target=lambda: results.append(prepare("stories", vocab_size=120))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len(results) == len(loads) == 2 and fingerprints(results[0]) == fingerprints(results[1])
    assert len(list(folder.iterdir())) == 1  # nothing temporary is left
    assert fingerprints(prepare("stories", vocab_size=120)) == fingerprints(results[0]) and len(loads) == 2


def test_a_preparation_that_breaks_off_leaves_no_copy_to_be_taken_for_whole(cache, monkeypatch):
    folder, loads = cache
    save = TokenizedCorpus.save

    def full_disk(self, target):
        assert target.parent.parent == folder  # renaming is all or nothing within one disk
        if target.name == "held_out":
            raise OSError(28, "No space left on device")
        save(self, target)

    monkeypatch.setattr(TokenizedCorpus, "save", full_disk)
    with pytest.raises(OSError, match="No space left"):
        prepare("stories", vocab_size=120)
    assert not [path for path in folder.iterdir() if not path.name.startswith(".")]
    monkeypatch.setattr(TokenizedCorpus, "save", save)
    whole = prepare("stories", vocab_size=120)
    assert len(loads) == 2 and fingerprints(prepare("stories", vocab_size=120)) == fingerprints(whole) and len(loads) == 2


def test_a_folder_of_text_is_read_afresh_and_its_held_out_part_teaches_the_tokenizer_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("ALBERT_EDU_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "one+two"  # two named corpora would be written so
    folder.mkdir()
    own = "абвгдежзик"  # each document has a letter that no other has
    for index, letter in enumerate(own):
        story = f"The barn {letter}{letter} was old. The boat {letter} was turning. It was late."
        (folder / f"{index}.txt").write_text(story, "utf-8")
    before = prepare(str(folder), vocab_size=36)
    unknown = [letter for letter in own if UNK in before.tokenizer.encode(letter)]
    assert len(unknown) == 1 == len(before.held_out.documents) - 1
    assert UNK in before.held_out.tokens and UNK not in before.train.tokens
    (folder / "3.txt").write_text("The barn was new. The boat was old.", "utf-8")
    assert fingerprints(prepare(str(folder), vocab_size=36)) != fingerprints(before)
    assert list(tmp_path.iterdir()) == [folder]  # no copy, in the cache or beside the texts


def test_the_size_of_the_vocabulary_follows_the_corpus(text, story_text):
    assert len(text.tokenizer) == 4000 > 10 * len(story_text.tokenizer) == 10 * module.default_vocabulary("stories")


def test_one_document_cannot_be_prepared(tmp_path):
    (tmp_path / "only.txt").write_text("One. Two. Three.")
    with pytest.raises(CorpusError, match="one document cannot be split"):
        prepare(str(tmp_path), vocab_size=20)
