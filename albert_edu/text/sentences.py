"""What a text is: running sentences, a sentence a line as in BERT's own files, or no prose."""

import json
import re
import unicodedata

from albert_edu.errors import CourseError
from albert_edu.text.tokenizer import check_text

PARAGRAPH_BREAK = re.compile(r"\n\s*\n|\u2029")
HEAD = 20_000  # characters that are enough to see what a text is

# Full stops, question and exclamation marks of scripts that have their own: those of Unicode's
# property Sentence_Terminal that are in daily use, and the two shads of Tibetan.
OTHER_ENDS = "。｡．！？।॥؟۔։።፧፨។៕။᠃᠉།༎׃܀܁܂‼⁇⁈⁉‽⸮"
CLOSING = "\"'”’»›)]}」』）】》〉"  # may stand behind such a mark, in the same sentence
BEHIND = f"[{re.escape(CLOSING)}]*"
PART = re.compile(rf".*?(?:[{OTHER_ENDS}]+{BEHIND}(?!\d)|$)")  # 3．5 is a number
LAST_MARK = re.compile(rf"(\S)\s*{BEHIND}$")
COMMAS = "،、，"

JSON_OBJECT = re.compile(r'[\[\s]*\{\s*"[^"\n]*"\s*:')
# Tags that cannot be somebody's name or address, such as <ann> or <ann@x.org>.
TAG = re.compile(
    r"</[a-z][^<>]*>|<[!?][^<>]*>|<(?:br|p|hr|li|td|tr|img)\b[^<>@]*>"
    r"|<(?!\w+:/)[a-z][^<>@]*(?:=[^<>]*|/)>",
    re.IGNORECASE,
)
OPENING_TAG = re.compile(r"<([a-zA-Z][\w:.-]*)(?:\s[^<>@=]*)?>")
CLOSING_TAG = re.compile(r"</([a-zA-Z][\w:.-]*)")
# A command of LaTeX follows no letter: there it is a part of a path of Windows.
COMMAND = re.compile(r"(?<![\w:\\])\\[a-zA-Z]+\b[\[{*]?")
WIKI = re.compile(r"\{\{[^{}]*\}\}|\[\[[^\[\]]*\]\]")
# What stands before a tab in prose: the number or the mark of a list, or who speaks.
LABEL = re.compile(r"^(?:(?:\d{1,4}|[a-zA-Z]|[ivxlc]+)[.)]|[^\w\s]|[^\t]{1,30}:)\t")


class CorpusError(CourseError, ValueError):
    """Text or rows cannot be used; the message names the file or the row and what is wrong."""


def split_sentences(text: str) -> list[str]:
    """Split running text at the marks that end sentences; an empty line, blanks or not, ends one.

    The marks are . ! and ?, and those of scripts that have their own.

    >>> split_sentences("Mr. Smith spoke of the U.S. Senate. It was late.")
    ['Mr. Smith spoke of the U.S. Senate.', 'It was late.']
    >>> split_sentences("They don't know. We can't help.")
    ["They don't know.", "We can't help."]
    >>> split_sentences("彼は来た。彼女は行った。")
    ['彼は来た。', '彼女は行った。']
    """
    from syntok import segmenter  # it knows abbreviations

    text = check_text(text).replace("\r\n", "\n").replace("\r", "\n")
    sentences = []
    for paragraph in PARAGRAPH_BREAK.split(text):
        for part in PART.findall(" ".join(paragraph.split())):
            for tokens in segmenter.analyze(part):  # process() would write donot
                sentences += ["".join(t.spacing + t.value for t in each).strip() for each in tokens]
    return sentences


def is_blank(text: str) -> bool:
    """Whether a text has nothing that a reader sees: blanks, accents alone, marks without width."""
    return all(
        letter.isspace() or unicodedata.category(letter) in ("Mn", "Me", "Cf", "Cc")
        for letter in text
    )


def is_sentence_a_line(text: str) -> bool:
    """Whether a text has BERT's own format: a sentence a line, an empty line after a document.

    Most lines are one sentence with its mark, and between empty lines there are two or more. Lines
    that were broken at some width end without a mark, and paragraphs hold several sentences.
    """
    documents = [part for part in PARAGRAPH_BREAK.split(text[:HEAD]) if part.strip()]
    lines = [line.strip() for part in documents for line in part.splitlines() if line.strip()]
    whole = [line for line in lines if _has_end(line) and len(split_sentences(line)) == 1]
    return 1 < len(documents) <= len(lines) / 2 and len(whole) > 0.8 * len(lines)


def _has_end(line: str) -> bool:
    """Whether a line ends in a mark that may end a sentence, in any script."""
    found = LAST_MARK.search(line)
    if not found:
        return False
    mark = found[1]
    if mark.isascii():
        return mark in ".!?:;"
    return unicodedata.category(mark) == "Po" and mark not in COMMAS


def looks_like(text: str) -> str | None:
    """Return what a text seems to be if it is no prose: "JSON", "markup" or "a table".

    >>> looks_like('{"text": "The barn was old."}'), looks_like("The barn was old.")
    ('JSON', None)
    """
    head = text[:HEAD]
    if _is_json(head):
        return "JSON"
    marks = _markup(head)
    if len(marks) > 2 and sum(map(len, marks)) > 0.01 * len(head):
        return "markup"
    lines = [line.strip() for line in head.splitlines()[:20] if line.strip()]
    tabs = [LABEL.sub("", line, count=1).count("\t") for line in lines]
    is_table = len(tabs) > 2 and 0 < min(tabs) == max(tabs)
    return "a table" if is_table else None


def _is_json(head: str) -> bool:
    """Whether a text begins with an object that has a name, or with a list of texts or lists."""
    if JSON_OBJECT.match(head):
        return True
    begin = head.lstrip()
    try:
        value, _ = json.JSONDecoder().raw_decode(begin)
    except (ValueError, RecursionError):
        # A long list is cut in the middle: as far as it goes, it is texts between commas.
        is_cut = len(head) == HEAD
        return is_cut and re.match(r'\[\s*("[^"]*"\s*,\s*){20}', begin) is not None
    return isinstance(value, list) and bool(value) and isinstance(value[0], str | list | dict)


def _markup(head: str) -> list[str]:
    """Return the marks of HTML, XML, LaTeX and wikis in a text."""
    closed = set(CLOSING_TAG.findall(head))
    opening = [found[0] for found in OPENING_TAG.finditer(head) if found[1] in closed]
    return [*TAG.findall(head), *opening, *COMMAND.findall(head), *WIKI.findall(head)]
