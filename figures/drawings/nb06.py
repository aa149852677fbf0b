"""Drawings of notebook 06, sentence order: pairs, bags of words, and a leak."""

import re

from figures.drawings.palette import (
    GREY,
    INK,
    LARGE,
    PALE,
    SEGMENT_A,
    SEGMENT_B,
    SMALL,
    TARGET,
)
from figures.drawings.style import box, brace, canvas, line, text

# Two documents of four and two sentences. The cut of the first one falls after its second sentence.
BAKING = ("Anna buys flour.", "She makes dough.", "The dough rises.", "Anna bakes bread.")
SKY = ("A comet passes.", "Stars fade.")
CUT = 2
A, B, RANDOM = BAKING[:CUT], BAKING[CUT:], SKY
IN_ORDER, OTHER = 0, 1  # the two labels of SOP and of NSP
PAIRS = {
    ("SOP", IN_ORDER): (A, B),
    ("SOP", OTHER): (B, A),
    ("NSP", IN_ORDER): (A, B),
    ("NSP", OTHER): (A, RANDOM),
}
COLOURS = {A: SEGMENT_A, B: SEGMENT_B, RANDOM: GREY}
NAMES = {A: "segment A", B: "segment B", RANDOM: "random segment"}


def vocabulary(segment) -> set[str]:
    """Return the words of a segment without their order."""
    return set(re.findall("[a-z]+", " ".join(segment).lower()))


def building_a_pair():
    """SOP swaps the two segments of one document, and NSP takes the second one from elsewhere."""
    drawing = canvas(
        492,
        "How one pair of segments is built for SOP and for NSP",
        f"Top left: a document of {len(BAKING)} sentences, cut after sentence {CUT}. Segment A is "
        f"{' '.join(A)} Segment B is {' '.join(B)} Top right: another document, {' '.join(RANDOM)} "
        f"Below are two columns. Both columns start with the same pair, segment A then segment B, "
        f"with label {IN_ORDER}, in order. Left column, SOP: the second pair is segment B then "
        f"segment A, with label {OTHER}, swapped. Right column, NSP: the second pair is segment A "
        f"then the random segment from the other document, with label {OTHER}.",
    )
    text(drawing, 16, 20, "one document", anchor="start", weight="bold")
    text(drawing, 414, 20, "another document", anchor="start", weight="bold")
    for x, segment in ((16, A), (182, B), (414, RANDOM)):
        box(drawing, x, 36, 160, 58, COLOURS[segment], "\n".join(segment))
        text(drawing, x + 80, 108, NAMES[segment], SMALL)
    text(drawing, 179, 128, "cut between two sentences", SMALL)
    line(drawing, [(179, 30), (179, 116)], INK, 1.5)
    line(drawing, [(300, 150), (300, 476)], PALE, 2)
    for x, task, question in (
        (8, "SOP", "sentence-order prediction"),
        (316, "NSP", "next-sentence prediction"),
    ):
        text(drawing, x, 164, task, LARGE, anchor="start", weight="bold")
        text(drawing, x + 46, 165, question, SMALL, anchor="start")
        for y, label in ((190, IN_ORDER), (338, OTHER)):
            first, second = PAIRS[task, label]
            for place, segment in ((x, first), (x + 140, second)):
                box(drawing, place, y, 136, 58, COLOURS[segment], "\n".join(segment), SMALL)
            words = {IN_ORDER: "in order", OTHER: "swapped" if task == "SOP" else "random segment"}
            box(drawing, x + 30, y + 78, 216, 32, TARGET, f"label {label}: {words[label]}")
            brace(drawing, (x, y + 62), (x + 276, y + 62), depth=12)
    text(drawing, 146, 466, "same words, other order", SMALL)
    text(drawing, 454, 466, "other words", SMALL)
    return drawing


def bags_of_words():
    """Shared words tell the labels of NSP apart; for SOP only the places of the bags differ."""
    shared = {key: vocabulary(pair[0]) & vocabulary(pair[1]) for key, pair in PAIRS.items()}
    assert shared["SOP", OTHER] == shared["SOP", IN_ORDER] != shared["NSP", OTHER] == set()
    listed = " and ".join(sorted(shared["SOP", IN_ORDER]))
    count = len(shared["SOP", IN_ORDER])
    drawing = canvas(
        498,
        "Two bags of words for each label of NSP and of SOP",
        f"Four pairs of bags, two in each row; a bag holds the words of a segment without their "
        f"order. Upper row, NSP. Label 0: the bags of segments A and B share {count} words, "
        f"{listed}. Label 1: the bags of segment A and of a random segment share 0 words. "
        f"Conclusion: counting shared words solves NSP. Lower row, SOP. Label 0: bags A and B "
        f"share {listed}. Label 1: bags B and A share the same {count} words. Conclusion: "
        f"counting shared words gives 50% on SOP; only the places of the two bags differ.",
    )
    for top, task, conclusion in (
        (20, "NSP", "The number of shared words tells the label."),
        (268, "SOP", "The number is equal. Only the places of the two bags differ."),
    ):
        text(drawing, 16, top, task, LARGE, anchor="start", weight="bold")
        for x, label in ((16, IN_ORDER), (312, OTHER)):
            pair, common = PAIRS[task, label], shared[task, label]
            text(drawing, x + 136, top, f"label {label}")
            for place, segment in ((x, pair[0]), (x + 142, pair[1])):
                box(drawing, place, top + 20, 130, 142, COLOURS[segment], radius=20)
                words = vocabulary(segment)
                for i, word in enumerate(sorted(words & common) + sorted(words - common)):
                    bold = "bold" if word in common else "normal"
                    text(drawing, place + 65, top + 40 + 20 * i, word, weight=bold)
            box(drawing, x + 48, top + 170, 176, 28, TARGET, f"shared words: {len(common)}")
        text(drawing, 300, top + 216, conclusion, weight="bold")
    line(drawing, [(16, 250), (584, 250)], PALE, 2)
    return drawing


def truncation_leak(lengths=(6, 6, 5, 10), room=22):
    """If segments are cut at the length limit, an unfinished end tells which one came second."""
    cell = 19
    first, second = sum(lengths[:CUT]), sum(lengths[CUT:])
    kept = room - first
    assert 0 < kept < second
    drawing = canvas(
        464,
        "A segment that is cut at the length limit gives the label away",
        f"Top: segment A has {first} tokens and segment B has {second}; only {room} tokens fit, "
        f"so the last {first + second - room} tokens of segment B are cut off. Middle, cut first "
        f"and swap afterwards: with label 0 the ragged, unfinished end of B is in second place; "
        f"with label 1, swapped, it is in first place, before the [SEP] between the segments. So "
        f"the place of the unfinished end tells the label. Bottom, whole sentences only: B ends "
        f"after its first sentence of {lengths[CUT]} tokens, and neither order has an unfinished "
        f"end.",
    )

    def strip(x, y, tokens, colour, words, ragged=False):
        """Draw a segment as long as its tokens; a ragged right end is an unfinished one."""
        width = tokens * cell
        box(drawing, x, y, width, 34, colour, words, SMALL, radius=0)
        if ragged:
            teeth = [(x + width + (4 if i % 2 else -4), y - 3 + i * 8) for i in range(6)]
            line(drawing, teeth, INK, 2.5)
        return x + width

    text(drawing, 16, 20, f"The limit is {room} tokens", anchor="start", weight="bold")
    at = strip(16, 46, first, SEGMENT_A, f"A: {first} tokens")
    strip(at, 46, kept, SEGMENT_B, f"B: {kept} of {second} tokens")
    over = 16 + room * cell
    box(
        drawing,
        over,
        46,
        (first + second - room) * cell,
        34,
        GREY,
        "cut off",
        SMALL,
        radius=0,
        line=1,
        strength=0.1,
    )
    line(drawing, [(over, 36), (over, 90)], INK, 2)
    groups = (
        (118, "Cut first, then swap: the label leaks", kept, True),
        (288, "Whole sentences only: no leak", lengths[CUT], False),
    )
    for top, heading, tokens, ragged in groups:
        text(drawing, 16, top, heading, anchor="start", weight="bold")
        for y, label in ((top + 20, IN_ORDER), (top + 84, OTHER)):
            order = ((first, SEGMENT_A, "A", False), (tokens, SEGMENT_B, "B", ragged))
            at = 16
            for count, colour, name, end in order if label == IN_ORDER else order[::-1]:
                words = f"{name}, unfinished" if end else name
                at = strip(at, y, count, colour, words, end) + 12
            box(
                drawing,
                456,
                y + 1,
                128,
                32,
                TARGET,
                f"label {label}: {'swapped' if label else 'in order'}",
                SMALL,
            )
        if ragged:
            words = [f"the unfinished end is in {place} place" for place in ("second", "first")]
            for y, said in zip((top + 67, top + 131), words, strict=True):
                text(drawing, 16, y, said, SMALL, anchor="start")
    text(
        drawing,
        16,
        430,
        "Every segment ends with a sentence, in both orders.",
        SMALL,
        anchor="start",
    )
    return drawing


DRAWINGS = (
    building_a_pair,
    bags_of_words,
    truncation_leak,
)
