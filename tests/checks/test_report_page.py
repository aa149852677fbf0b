"""A report in a notebook: the reason on top and in colour, words whole, the rest folded."""

import re
from html.parser import HTMLParser

from IPython.core.interactiveshell import InteractiveShell

from albert_course.checks import Property, Report, check_gelu, check_word_score


class Shown(HTMLParser):
    """The text that is seen before anything is unfolded, and the balance of the tags."""

    def __init__(self, page: str):
        super().__init__()
        self.text = ""
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "details" not in self.open:
            self.text += data


def counts_special_tokens(token_ids, segment_ids, weight):
    return (weight[token_ids] * (1 - 2 * segment_ids)).sum(-1)


def test_the_reason_is_seen_and_numbers_are_folded():
    page = check_word_score(counts_special_tokens)._repr_html_()
    shown = Shown(page)
    assert not shown.open, "every tag is closed"
    order = ["counts_special_tokens", "1 of 2", "likely", "counting [CLS]", "leaves the special"]
    places = [shown.text.index(words) for words in order]
    assert places == sorted(places)
    assert "expected" in page and "expected" not in shown.text
    assert "subtracts the second place" in page and "subtracts" not in shown.text


def test_only_the_first_reason_is_unfolded():
    failed = [Property(f"case {k}", False, mistake=f"mistake {k}") for k in range(3)]
    page = Report("long", failed)._repr_html_()
    assert "mistake 0" in Shown(page).text and "mistake 1" not in Shown(page).text
    assert "2 more reasons" in page and "mistake 2" in page


def test_a_page_may_not_break_words_and_its_colours_do_not_ask_for_a_white_page():
    page = check_word_score(counts_special_tokens)._repr_html_()
    for rule in ("word-break:normal", "overflow-wrap:normal", "white-space:normal"):
        assert rule in page.split(">")[0], rule
    assert re.findall(r"[^-]color:(#\w+)", page) == ["#ffffff"], "text has the page's own colour"
    assert "background-color:rgba(229,72,77,0.16)" in page


def test_what_an_answer_returns_is_text_and_no_tag():
    page = check_gelu(lambda x: "<script>alert(1)</script>")._repr_html_()
    assert "<script>" not in page
    assert "not a tensor" in Shown(page).text


def test_an_answer_that_is_not_begun_is_one_line():
    def gelu(x):
        raise NotImplementedError

    assert check_gelu(gelu)._repr_html_() == (
        "<pre>gelu: not answered yet, properties to check: 3</pre>"
    )


def test_where_a_check_stops_a_cell_the_notebook_shows_the_report_and_no_line_of_ours(capsys):
    shell = InteractiveShell.instance()
    shell.run_cell("from albert_course.checks import check_gelu")
    capsys.readouterr()
    shell.run_cell("check_gelu(lambda x: x.relu()).raise_if_failed()")
    shown = capsys.readouterr().out
    InteractiveShell.clear_instance()
    assert "using ReLU" in shown and "CheckFailed: gelu" in shown
    assert "raise_if_failed" not in shown
