"""Puts the questions of a card to an answer, and writes the report."""

import copy
import functools
from collections.abc import Callable
from typing import NamedTuple

import torch

from albert_course.checks.engine.card import Card, Case, Draw
from albert_course.checks.engine.comparing import same
from albert_course.checks.engine.edits import wrong_answer
from albert_course.checks.engine.explaining import Result, explain, is_nothing, name_mistakes
from albert_course.checks.engine.properties import Property
from albert_course.checks.engine.report import Report
from albert_course.checks.engine.running import ask, changed, stops

CHANGED = "the caller's data are changed: work on a copy"


class Outcome(NamedTuple):
    """What an answer gives for one question, and whether it has changed the inputs."""

    value: object
    touched: bool


class Questions(NamedTuple):
    """The questions of a card for one seed, and what is right."""

    cases: list[Case]
    right: list[object]


class Answered(NamedTuple):
    """A card's questions with the outcomes of an answer; after one that stops none is asked."""

    card: Card
    seed: int
    questions: Questions
    outcomes: list[Outcome]
    held: list[bool]  # for each outcome whether it earns its point


def judge(card: Card, answer: Callable, seed: int, name: str) -> Report:
    """Return the report on an answer; ``name`` is what it is called, where the answer wraps it."""
    questions = questions_of(card, seed)
    outcomes = answers_to(questions, answer, seed)
    answered = Answered(card, seed, questions, outcomes, which_hold(questions, outcomes))
    mistakes = mistakes_in(answered)
    properties = [
        property_of(answered, k, mistakes[k]) if k < len(outcomes) else unasked(case)
        for k, case in enumerate(questions.cases)
    ]
    if card.pure:
        properties.append(purity(answered))
    called = name or getattr(answer, "__name__", card.title)
    return Report(card.title, properties, card.place, called)


@functools.lru_cache(128)
def questions_of(card: Card, seed: int) -> Questions:
    """Draw the questions, and ask the reference."""
    with torch.random.fork_rng(devices=()):  # for the first numbers of modules
        torch.manual_seed(seed)
        cases = list(card.cases(Draw(seed)))
    right = [put(case, card.reference, seed).value for case in cases]
    return Questions(cases, right)


def put(case: Case, answer: Callable, seed: int, limited: bool = False) -> Outcome:
    """Ask one question."""
    inputs = copy.deepcopy(case.inputs)
    value = ask(case.ask, answer, inputs, seed, limited)
    return Outcome(value, changed(case.inputs, inputs))


def answers_to(questions: Questions, answer: Callable, seed: int) -> list[Outcome]:
    """Ask all questions up to one that stops: too slow, too large, or not begun."""
    outcomes = []
    for case in questions.cases:
        outcome = put(case, answer, seed, limited=True)
        outcomes.append(outcome)
        if stops(outcome.value):
            break
    return outcomes


def which_hold(questions: Questions, outcomes: list[Outcome]) -> list[bool]:
    """Return for each outcome whether it is right; an answer that does nothing gets no point."""
    held = [
        same(outcome.value, right, case.atol)
        for outcome, right, case in zip(outcomes, questions.right, questions.cases, strict=False)
    ]
    earned = [right for right, ok in zip(questions.right, held, strict=False) if ok]
    return [False] * len(held) if all(map(is_nothing, earned)) else held


@functools.lru_cache(20_000)
def mistaken(card: Card, seed: int, mistake: str, k: int) -> Outcome:
    """Ask a known mistake question ``k``."""
    return put(questions_of(card, seed).cases[k], wrong(card, mistake), seed)


@functools.lru_cache(2_000)
def wrong(card: Card, mistake: str) -> Callable:
    """Return the wrong answer that a mistake is."""
    return wrong_answer(card.reference, card.mistakes[mistake])


def mistakes_in(answered: Answered) -> list[str]:
    """Return for each outcome the known mistake that explains it, or nothing."""
    if all(answered.held):
        return [""] * len(answered.held)

    def gives(name: str, k: int) -> object:
        """What a mistake gives for question ``k``."""
        return mistaken(answered.card, answered.seed, name, k).value

    cases, right = answered.questions
    results = [
        Result(outcome.value, right[k], answered.held[k], cases[k].atol)
        for k, outcome in enumerate(answered.outcomes)
    ]
    named = name_mistakes(answered.card.mistakes, gives, results)
    return [name if fits_what_is_touched(answered, k, name) else "" for k, name in enumerate(named)]


def fits_what_is_touched(answered: Answered, k: int, name: str) -> bool:
    """Whether an answer that changes its inputs is like the mistake, which then does so, too.

    Else it may only look like the mistake because it has spoilt its own inputs.
    """
    if not name or not answered.outcomes[k].touched:
        return True
    return mistaken(answered.card, answered.seed, name, k).touched


def property_of(answered: Answered, k: int, mistake: str) -> Property:
    """Return whether property ``k`` holds, and why not."""
    case = answered.questions.cases[k]
    if answered.held[k]:
        return Property(case.name, True, case.weight)
    outcome = answered.outcomes[k]
    right = answered.questions.right
    return explain(
        case,
        answered.card.reference,
        got=outcome.value,
        right=right[k],
        mistake=mistake,
        touched=outcome.touched,
        none_is_right=any(value is None for value in right),
    )


def unasked(case: Case) -> Property:
    """Return the property of a question that was not asked."""
    return Property(case.name, False, case.weight, asked=False)


def purity(answered: Answered) -> Property:
    """Return whether the inputs are as they were; who does nothing earns nothing by it."""
    touched = any(outcome.touched for outcome in answered.outcomes)
    earned = any(answered.held)
    return Property(
        "leaves its inputs as they were",
        passed=earned and not touched,
        asked=earned or touched,
        reason=CHANGED if touched else "",
    )
