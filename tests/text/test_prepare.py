"""Preparing text: the kept copy is the fresh one, half a copy is never used, and held-out text stays out."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jaxtyping
import pytest
import tokenizers

from albert_edu.text import prepare as module
from albert_edu.text.batches import PretrainingStream
from albert_edu.text.corpora import hold_out
from albert_edu.text.hub_tokenizer import HubTokenizer
from albert_edu.text.prepare import cache_folder, prepare
from albert_edu.text.sentences import CorpusError
from albert_edu.text.stories import stories
from albert_edu.text.tokenized import TokenizedCorpus
from albert_edu.text.tokenizer import UNK, AlbertTokenizer, TokenizerError
from tests.support import HOUR, main


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache folder of its own, and a corpus small enough to prepare often; ``cache.loads`` counts how often it was read."""
    folder = tmp_path / "deep" / "cache"
    monkeypatch.setenv("ALBERT_EDU_CACHE", str(folder))
    loads = []
    monkeypatch.setattr(module, "load_corpus", lambda name, _: loads.append(name) or stories(40, 5))
    return folder, loads


def fingerprints(text) -> tuple[str, str, str]:
    return text.tokenizer.fingerprint, text.train.fingerprint, text.held_out.fingerprint


def test_what_is_prepared_is_the_corpus_cut_by_documents_and_tokenised(cache):
    prepared = prepare("stories", vocab_size=120)
    parts = hold_out(stories(num_documents=40, num_scripts=5))
    for corpus, part in zip(parts, prepared[1:], strict=True):
        assert part.fingerprint == TokenizedCorpus.encode(corpus, prepared.tokenizer).fingerprint
    assert len(prepared.tokenizer) == 120 and len(prepared.held_out.document_offsets) - 1 == 4


def test_two_corpora_become_one_each_with_the_documents_held_out_that_it_holds_out_alone(
    cache, monkeypatch
):
    folder, _ = cache
    other = stories(20, 5, seed=1).remove_columns(["topic", "script"])
    corpora = {"sotu": stories(40, 5), "imdb": other}
    monkeypatch.setattr(module, "load_corpus", lambda name, scratch: corpora[name])
    both = prepare("sotu+imdb", vocab_size=120)
    sides = zip(*(hold_out(corpus) for corpus in corpora.values()), strict=True)
    for (one, other), side in zip(sides, (both.train, both.held_out), strict=True):
        rows = [{"sentences": each} for each in (*one["sentences"], *other["sentences"])]
        assert side.fingerprint == TokenizedCorpus.encode(rows, both.tokenizer).fingerprint
    assert len(list(folder.iterdir())) == 1


def test_a_story_world_with_strengths_is_kept_under_a_name_that_every_system_allows(cache):
    folder, loads = cache
    world = "stories:topic_nouns=3"
    fresh = prepare(world, vocab_size=120)
    assert fingerprints(prepare(world, vocab_size=120)) == fingerprints(fresh) and loads == [world]
    assert [path.name.split("-V")[0] for path in folder.iterdir()] == ["stories-topic_nouns=3"]
    assert len(prepare(world).tokenizer) == 190


def test_every_setting_has_a_copy_of_its_own_which_equals_the_fresh_one(cache, monkeypatch):
    folder, loads = cache
    lines = (s for sentences in stories(30)["sentences"] for s in sentences)
    given = AlbertTokenizer.train(lines, 60)
    settings = [{"vocab_size": 120}, {"vocab_size": 100}, {"tokenizer": given}]
    fresh, kept = (
        [fingerprints(prepare("stories", **each)) for each in settings] for _ in range(2)
    )
    assert fresh == kept and fresh[-1][0] == given.fingerprint
    assert len(set(fresh)) == len(loads) == len(list(folder.iterdir())) == 3
    assert all(path.name.endswith("-held0.1-seed0-10") for path in folder.iterdir())
    assert cache_folder() == folder
    monkeypatch.delenv("ALBERT_EDU_CACHE")
    assert cache_folder() == Path.home() / ".cache" / "albert_edu"


def test_two_that_prepare_the_same_text_at_once_both_get_it_and_leave_one_copy(cache, monkeypatch):
    folder, loads = cache
    together = threading.Barrier(2, timeout=HOUR)
    small = module.load_corpus

    def load_together(name, scratch):
        together.wait()  # so that neither finds the other's copy
        return small(name, scratch)

    monkeypatch.setattr(module, "load_corpus", load_together)
    with ThreadPoolExecutor(2) as pool:
        made = [pool.submit(prepare, "stories", vocab_size=120) for _ in range(2)]
    one, other = (fingerprints(each.result(timeout=HOUR)) for each in made)
    assert one == other == fingerprints(prepare("stories", vocab_size=120)) and len(loads) == 2
    assert len(list(folder.iterdir())) == 1  # nothing temporary is left


@pytest.mark.parametrize(("owner", "name"), [(AlbertTokenizer, "save"), (Path, "rename")])
def test_a_preparation_that_breaks_off_leaves_no_copy_to_be_taken_for_whole(
    cache, monkeypatch, owner, name
):
    folder, loads = cache

    def full_disk(self, target):
        assert folder in target.parents  # renaming is all or nothing within one disk
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full, pytest.raises(OSError, match="No space left"):
        full.setattr(owner, name, full_disk)
        prepare("stories", vocab_size=120)
    assert not list(folder.iterdir())
    prepare("stories", vocab_size=120)
    assert len(loads) == 2 and len(list(folder.iterdir())) == 1


@pytest.fixture
def texts(tmp_path, monkeypatch) -> Path:
    """A folder of ten documents, each with a letter that no other has, and a cache beside it."""
    monkeypatch.setenv("ALBERT_EDU_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "one+two"  # two named corpora would be written so
    folder.mkdir()
    for index, letter in enumerate(LETTERS):
        story = f"The barn {letter}{letter} was old. The boat {letter} was turning. It was late."
        (folder / f"{index}.txt").write_text(story, "utf-8")
    return folder


LETTERS = "абвгдежзик"


def test_the_held_out_part_of_a_folder_teaches_the_tokenizer_nothing(texts):
    prepared = prepare(str(texts), vocab_size=36)
    unknown = [letter for letter in LETTERS if UNK in prepared.tokenizer.encode(letter)]
    assert len(unknown) == 1 == len(prepared.held_out.document_offsets) - 1
    assert UNK in prepared.held_out.tokens and UNK not in prepared.train.tokens


def test_a_folder_has_one_copy_and_another_when_its_content_or_a_name_changes(texts):
    copies = cache_folder()
    first = prepare(str(texts), vocab_size=34)
    assert fingerprints(prepare(texts, vocab_size=34)) == fingerprints(first)
    assert len(list(copies.iterdir())) == 1
    (texts / "3.txt").write_text("The barn was new. The boat was old.", "utf-8")
    assert fingerprints(prepare(texts, vocab_size=34)) != fingerprints(first)
    (texts / "9.txt").rename(texts / "91.txt")  # which changes no order
    prepare(texts, vocab_size=34)
    assert len(list(copies.iterdir())) == 3


def test_unknown_tokens_are_counted_and_warned_of_with_the_commonest(texts):
    for path in texts.iterdir():
        path.write_text("The <unk> barn was old. The boat was <unk> turning. It was @-@ late.")
    with pytest.warns(UserWarning, match=r"\d+\.\d% of the tokens of .*; most often '<unk>' 18\."):
        prepared = prepare(str(texts), vocab_size=24)
    assert prepared.train.unknown_share > 0.03
    prepare(str(texts), vocab_size=24)  # said once, when the text is prepared


def test_text_that_a_given_tokenizer_does_not_know_is_refused(texts, story_text):
    for path in texts.iterdir():
        path.write_text("Съешь ещё этих мягких французских булок. Да выпей чаю.", "utf-8")
    for _ in range(2):  # nothing is kept of it
        with pytest.raises(TokenizerError, match=r"are unknown; most often .* for other text"):
            prepare(str(texts), tokenizer=story_text.tokenizer)


def test_a_tokenizer_that_does_not_say_where_words_begin_is_refused_before_any_work(
    texts, story_text, monkeypatch
):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # readers have no such check
    vocabulary = {
        token: number
        for number, token in enumerate(("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a"))
    }
    other = HubTokenizer(tokenizers.BertWordPieceTokenizer(vocabulary)._tokenizer)
    for use in (
        lambda: prepare(str(texts), tokenizer=other),
        lambda: PretrainingStream(story_text.train, other),
    ):
        with pytest.raises(TokenizerError, match=r"need an ALBERT tokenizer .* not a HubTokenizer"):
            use()
    assert not list(cache_folder().glob("*"))


def test_what_training_will_see_is_said_before_the_first_step(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ALBERT_EDU_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("albert_edu.cli.pretrain", lambda *rest: pytest.fail("a step"))
    command = "pretrain --corpus stories:num_documents=20 --steps 1 --sequence-length 32"
    with pytest.raises(pytest.fail.Exception):
        main([*command.split(), "--vocab-size", "140", "--out", str(tmp_path / "out")])
    said = capsys.readouterr().out
    assert "training: 18 documents, " in said and "0.00% unknown\nheld out: 2 documents, " in said
    assert "% of the training text fits into pairs." in said and "100.0%" not in said


@pytest.mark.parametrize("times", [1, 4])
def test_a_vocabulary_is_learnt_from_a_sample_that_does_not_grow_with_the_text(
    texts, monkeypatch, times
):
    learnt, train = [], AlbertTokenizer.train
    monkeypatch.setattr(module, "LEARNT_BYTES", 1500)
    monkeypatch.setattr(
        AlbertTokenizer, "train", lambda lines, size: train(learnt.extend(lines) or learnt, size)
    )
    for path in texts.iterdir():
        path.write_text("The barn was old. The boat was turning. It was late. " * 25 * times)
    prepare(str(texts), vocab_size=22)
    assert 750 < sum(map(len, learnt)) < 1500


def test_a_cache_that_cannot_be_written_is_named_with_its_variable(cache):
    folder, _ = cache
    folder.parent.mkdir(parents=True)
    folder.write_text("in the way")
    said = f"{folder} cannot be used .*FileExists.*ALBERT_EDU_CACHE.*text is kept"
    with pytest.raises(CorpusError, match=said):
        prepare("stories", vocab_size=120)


RECORDED = {  # tokenizer and training part of the corpora that records and shipped models rest on
    "stories": ("718bc61e5a268c58", "97395d82fd437062"),
    "stories:topic_nouns=3,order_strength=0.5": ("2a65faf58c0ecbcc", "430cb27fb95ae045"),
    "stories:num_documents=200": ("81b697f74a853df1", "94d3e630585276ec"),
    "sotu": ("bb802423aac3826a", "191a7892c80837aa"),
}


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_corpora_have_the_same_ids_whatever_sentencepiece_would_learn(name, monkeypatch):
    monkeypatch.setattr(AlbertTokenizer, "train", None)  # nothing is learnt
    prepared = prepare(name)
    assert fingerprints(prepared)[:2] == RECORDED[name]


def test_a_vocabulary_of_its_own_is_learnt_again_after_another_release(cache, monkeypatch):
    folder, loads = cache
    prepare("stories", vocab_size=120)
    monkeypatch.setattr(module.sentencepiece, "__version__", "0.2.99")
    prepare("stories", vocab_size=120)
    assert len(loads) == len(list(folder.iterdir())) == 2
    assert any("0.2.99" in path.name for path in folder.iterdir())
