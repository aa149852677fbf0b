"""What a text is: where its sentences end, BERT's own format, and what is no prose."""

import pytest

from albert_edu.text.sentences import is_blank, is_sentence_a_line, looks_like, split_sentences


@pytest.mark.parametrize(
    "sentence",
    [
        "Mr. Smith spoke of the U.S. Senate.",
        "It met Gen. Grant at 5 p.m. on Jan. 5, in Washington, D.C., with others.",
        "The cost is $3.5 million, i.e. a lot, and No. 7 of the list.",
    ],
)
def test_an_abbreviation_does_not_end_a_sentence(sentence):
    assert split_sentences(f"{sentence} It was late.") == [sentence, "It was late."]


def test_sentences_of_another_script_end_at_the_same_marks():
    sentences = ["Съешь ещё.", "Да!", "Нет?", "Да."]
    assert split_sentences(" ".join(sentences)) == sentences


OTHER_SCRIPTS = [
    (["彼は来た。", "彼女は「行くの？」と言った。", "終わり！"], ""),
    (["円は３．５です．", "はい．"], ""),
    (["वह आया।", "वह गई।", "क्या वह आया?"], " "),
    (["وہ آیا۔", "کیا وہ گئی؟", "ہاں۔"], " "),
    (["Նա եկավ։", "Նա գնաց։"], " "),
    (["እሱ መጣ።", "እሷ ሄደች፧"], " "),
    (["គាត់បានមក។", "នាងបានទៅ។"], ""),
    (["သူလာသည်။", "သူမသွားသည်။"], " "),
]


@pytest.mark.parametrize(("sentences", "gap"), OTHER_SCRIPTS)
def test_a_script_with_full_stops_of_its_own_is_split_at_them(sentences, gap):
    found = split_sentences(gap.join(sentences))
    if gap:
        assert found == sentences
    assert len(found) >= len(sentences) and "".join(found) == "".join(sentences)
    assert found[0] == sentences[0]


@pytest.mark.parametrize("mark", "。।۔։።។။᠃༎꓿᱾")
def test_berts_format_is_recognised_by_the_full_stop_of_any_script(mark):
    text = f"one two{mark}\nthree four{mark}\n\nfive{mark}\nsix seven{mark}\n"
    assert is_sentence_a_line(text)
    commas = text.replace(mark, "、")
    assert not is_sentence_a_line(commas)


@pytest.mark.parametrize("gap", ["\n\n", "\n \n", "\n\t \n\n", "\r\r", "\u2029", "\r\n  \r\n"])
def test_an_empty_line_however_written_ends_a_sentence_and_a_line_break_does_not(gap):
    text = f"It was late.{gap}= The Barn ={gap}The barn\nwas old."
    assert split_sentences(text) == ["It was late.", "= The Barn =", "The barn was old."]


def test_splitting_loses_no_character_but_white_space():
    text = 'Dr. Who?! "Stop," he said... It\'s 3.5% (e.g. this\tone).\n\nThe   end — 是。」好 । x\n'
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())


BERT = "The barn was old.\nWas it late?\n\nA boat turned.  \nThe end."


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (BERT, True),
        (BERT.replace("\n", "\r\n"), True),
        ("He said:\n«Go on…»\n\n(It was late;)\n“So!”\n", True),
        (BERT.split("\n\n")[0], False),  # one document anyway
        ("The barn was\nold and it\nwas late.\n\nA boat\nturned.", False),  # broken at some width
        ("The barn is. It was.\nIs it? No.\n\nA boat. So?\nWas it. Yes.", False),  # paragraphs
        ("A heading\n\nThe barn was old.\n\nThe end.", False),
    ],
)
def test_a_sentence_a_line_with_empty_lines_between_documents_is_recognised(text, found):
    assert is_sentence_a_line(text) == found


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"text": "The barn was old."}\n{"text": "It was late."}', "JSON"),
        ('[\n {"text": "The barn was old."}]', "JSON"),
        ('["The barn was old.", "It was late."]', "JSON"),
        ("<html><body><p>The barn was old.</p></body></html>", "markup"),
        ('<?xml version="1.0"?><s>The barn was old.</s>', "markup"),
        ("The barn.<br /><br />It was old.<br />", "markup"),
        (r"\begin{document}The barn was \emph{old}.\end{document}", "markup"),
        ("the barn\t1\nthe boat\t0\nthe tree\t1", "a table"),
        ("\tThe barn was old,\n\tand it was late.\nThe end.", None),
        ("a barn\tit was late", None),
        ("The barn, it was old,\nand the boat, that was new,\nturned, it was late.", None),
        ("= Barn =\n\nThe <unk> barn was <unk> @-@ old <unk> .", None),
        ("\tThe barn was old.\n\n\tIt was late.\n\n\tA boat turned.", None),
        ("1.\tThe barn was old.\n2.\tIt was late.\n3.\tA boat turned.", None),
        ("•\tThe barn.\n•\tThe boat.\n•\tThe tree.", None),
        ("Ann:\tIt is late.\nBen:\tIs it?\nAnn:\tIt is.", None),
        ("1\tThe barn was old.\n2\tIt was late.\n3\tA boat turned.", "a table"),
        ("<ann@x.org>, <ben@x.org> and <carla@x.org> came.", None),
        ("<http://x.org/> <https://y.org/a/> <http://z.org/?a=b> are pages.", None),
        ("<ann> hi\n<ben> hi\n<ann> how are you\n<carla> fine", None),
        ("It lies in C:\\Users\\ann\\notes\\table.txt.", None),
        ("It lies in \\\\server\\share\\notes\\barn.", None),
        (r"The $\alpha$ of $\beta$ and \gamma is old.", "markup"),
        ('["It is late," he said, "and cold."] So it was.', None),
        ("[1] The barn was old.", None),
        ('{"It is late," he said.', None),
        ("{{Infobox}} The [[barn]] was [[old]].", "markup"),
        ("[" + '"The barn.", ' * 2000, "JSON"),
        ("<b>The barn</b> was <i>old</i>.", "markup"),
        ("[A barn] {is} a < b and c > d, as {x | x in A} says. \\o/", None),
        ("Hello,\n\nit was late.\n\nYours", None),
        ("", None),
    ],
)
def test_what_is_no_prose_is_told_from_prose(text, kind):
    assert looks_like(text) == kind


@pytest.mark.parametrize(
    "text", ["", " \t\n", "\u200b\u200d", "\u0301 \u0301", "\ufeff", "\xad\u2060", "\x00"]
)
def test_a_text_of_nothing_that_a_reader_sees_is_blank(text):
    assert is_blank(text) and not is_blank(text + "a") and not is_blank(text + "日")
