"""What a text is: running sentences, a sentence a line as in BERT's own files, or no prose."""

import re

from albert_edu.errors import CourseError
from albert_edu.text.tokenizer import check_text

PARAGRAPH_BREAK = re.compile(r"\n\s*\n|\u2029")
JSON = re.compile(r'\s*(\[\s*)?[\[{]\s*["\[{]')
MARKUP = re.compile(r"</?(?!unk>)[a-zA-Z][^<>]*>|<[!?][^<>]*>|\\[a-zA-Z]+\b[\[{*]?")
LINE_END = re.compile(r"[.!?…:;]\s*[\"'”’»›)\]}]*$")
HEAD = 20_000  # characters that are enough to see what a text is


class CorpusError(CourseError, ValueError):
    """Text or rows cannot be used; the message names the file or the row and what is wrong."""


def split_sentences(text: str) -> list[str]:
    """Split running text at . ! and ? into sentences; an empty line, blanks or not, ends one too.

    >>> split_sentences("Mr. Smith spoke of the U.S. Senate. It was late.")
    ['Mr. Smith spoke of the U.S. Senate.', 'It was late.']
    >>> split_sentences("They don't know. We can't help.")
    ["They don't know.", "We can't help."]
    """
    from syntok import segmenter  # it knows abbreviations

    text = check_text(text).replace("\r\n", "\n").replace("\r", "\n")
    return [
        "".join(token.spacing + token.value for token in sentence).strip()
        for paragraph in PARAGRAPH_BREAK.split(text)
        for part in segmenter.analyze(" ".join(paragraph.split()))  # process() writes donot
        for sentence in part
    ]


def is_sentence_a_line(text: str) -> bool:
    """Whether a text has BERT's own format: a sentence a line, an empty line after a document.

    Most lines are one sentence with its mark, and between empty lines there are two or more. Lines
    that were broken at some width end without a mark, and paragraphs hold several sentences.
    """
    documents = [part for part in PARAGRAPH_BREAK.split(text[:HEAD]) if part.strip()]
    lines = [line.strip() for part in documents for line in part.splitlines() if line.strip()]
    whole = [line for line in lines if LINE_END.search(line) and len(split_sentences(line)) == 1]
    return 1 < len(documents) <= len(lines) / 2 and len(whole) > 0.8 * len(lines)


def looks_like(text: str) -> str | None:
    """Return what a text seems to be if it is no prose: "JSON", "markup" or "a table".

    >>> looks_like('{"text": "The barn was old."}'), looks_like("The barn was old.")
    ('JSON', None)
    """
    head = text[:HEAD]
    if JSON.match(head):
        return "JSON"
    marks = MARKUP.findall(head)
    if len(marks) > 2 and sum(map(len, marks)) > 0.01 * len(head):
        return "markup"
    tabs = [line.count("\t") for line in head.splitlines()[:20] if line.strip()]
    return "a table" if len(tabs) > 2 and 0 < min(tabs) == max(tabs) else None
