"""What a cell prints and shows is cut, and what decides about points is not."""

import pytest

from albert_course.assignments.outbox import CUT, LARGEST, Outbox

LONG = "x" * (10 * LARGEST)


@pytest.fixture
def sent():
    """The messages that were sent, by their kind and content."""
    return []


@pytest.fixture
def outbox(sent):
    def send(stream, message, content, parent=None):
        kind = message if isinstance(message, str) else message["msg_type"]
        sent.append((kind, content if isinstance(message, str) else message["content"]))

    return Outbox(send)


def show(text: str, kind: str = "display_data") -> dict:
    """Return a message that shows a text."""
    return {"msg_type": kind, "content": {"data": {"text/plain": text}, "metadata": {"a": LONG}}}


def test_what_is_printed_is_cut_once_and_then_dropped_until_the_next_cell(outbox, sent):
    for text in ("one", LONG, "two", "three"):
        outbox("socket", "stream", content={"name": "stdout", "text": text}, parent={})
    texts = [content["text"] for _, content in sent]
    assert texts[0] == "one" and len(texts) == 2
    assert texts[1].endswith(f"\n{CUT}\n") and len(texts[1]) < LARGEST + 100
    outbox.begin()
    outbox("socket", "stream", {"name": "stdout", "text": "two"})
    assert sent[-1][1]["text"] == "two"


@pytest.mark.parametrize("kind", ["display_data", "update_display_data"])
def test_what_is_shown_is_cut_once_and_then_dropped(kind, outbox, sent):
    for _ in range(3):
        outbox("socket", show(LONG, kind))
    assert sent == [(kind, {"data": {"text/plain": CUT}, "metadata": {}})]


def test_after_much_was_printed_and_shown_the_points_and_the_error_still_come(outbox, sent):
    outbox("socket", "stream", {"name": "stdout", "text": LONG})
    outbox("socket", show(LONG))
    result = {"data": {"text/plain": "2.5"}, "metadata": {}, "execution_count": 1}
    outbox("socket", {"msg_type": "execute_result", "content": result})
    outbox("socket", "error", {"ename": "E", "evalue": "no", "traceback": ["no"]}, {})
    outbox("socket", "status", {"execution_state": "idle"})
    assert [kind for kind, _ in sent][-3:] == ["execute_result", "error", "status"]
    assert sent[-3][1]["data"] == {"text/plain": "2.5"} and sent[-2][1]["traceback"] == ["no"]


def test_much_that_is_printed_does_not_crowd_out_a_report(outbox, sent):
    outbox("socket", "stream", {"name": "stdout", "text": LONG})
    outbox("socket", {"msg_type": "display_data", "content": {"data": {"text/plain": "FAIL"}}})
    assert sent[-1][1]["data"] == {"text/plain": "FAIL"}


def test_a_huge_error_keeps_its_name(outbox, sent):
    outbox("socket", "error", {"ename": "ValueError", "evalue": LONG, "traceback": [LONG] * 3}, {})
    (_, content), *_ = sent
    assert content["ename"] == "ValueError" and len(str(content)) < 3000


def test_a_huge_result_is_cut():
    sent = []
    outbox = Outbox(lambda stream, message, content: sent.append(message))
    data = {"text/plain": "x" * (2 * LARGEST)}
    outbox("socket", {"msg_type": "execute_result", "content": {"data": data, "metadata": {}}})
    assert sent[0]["content"]["data"] == {"text/plain": CUT}
