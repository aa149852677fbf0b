"""Puts the questions of a card to an answer, and says which properties hold."""

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
from albert_course.checks.engine.running import ask, changed, stops

CHANGED = "the caller's data are changed: work on a copy"


class Outcome(NamedTuple):
    """What an answer gives for one question, and whether it has changed the inputs."""

    value: object
    touched: bool


class Question(NamedTuple):
    """A question of a card for one seed, and what is right."""

    case: Case
    right: object


def judge(card: Card, answer: Callable, seed: int) -> list[Property]:
    """Return the properties that an answer must have, and which of them it has."""
    questions = questions_of(card, seed)
    results = results_of(questions, answer, seed)
    mistakes = mistakes_in(card, seed, results)
    none_is_right = any(one.right is None for one in questions)
    properties = [
        explain(result, card.reference, mistake, none_is_right)
        for result, mistake in zip(results, mistakes, strict=True)
    ]
    properties += [
        Property(case.name, False, case.weight, asked=False)
        for case, _ in questions[len(results) :]
    ]
    if card.pure:
        properties.append(purity(results))
    return properties


@functools.lru_cache(128)
def questions_of(card: Card, seed: int) -> list[Question]:
    """Draw the questions, and ask the reference."""
    with torch.random.fork_rng(devices=()):  # for the first numbers of modules
        torch.manual_seed(seed)
        cases = list(card.cases(Draw(seed)))
    return [Question(case, put(case, card.reference, seed).value) for case in cases]


def put(case: Case, answer: Callable, seed: int, limited: bool = False) -> Outcome:
    """Ask one question."""
    inputs = copy.deepcopy(case.inputs)
    value = ask(case.ask, answer, inputs, seed, limited)
    return Outcome(value, changed(case.inputs, inputs))


def results_of(questions: list[Question], answer: Callable, seed: int) -> list[Result]:
    """Ask all questions up to one that stops: too slow, too large, or not begun.

    An answer that does nothing gets no point.
    """
    results = []
    for case, right in questions:
        value, touched = put(case, answer, seed, limited=True)
        held = same(value, right, case.atol)
        results.append(Result(case, right, value, touched, held))
        if stops(value):
            break
    if all(is_nothing(result.right) for result in results if result.held):
        return [result._replace(held=False) for result in results]
    return results


@functools.lru_cache(20_000)
def mistaken(card: Card, seed: int, mistake: str, k: int) -> Outcome:
    """Ask a known mistake question ``k``."""
    return put(questions_of(card, seed)[k].case, wrong(card, mistake), seed)


@functools.lru_cache(2_000)
def wrong(card: Card, mistake: str) -> Callable:
    """Return the wrong answer that a mistake is."""
    return wrong_answer(card.reference, card.mistakes[mistake])


def mistakes_in(card: Card, seed: int, results: list[Result]) -> list[str]:
    """Return for each result the known mistake that explains it, or nothing.

    Where an answer changes its inputs, the mistake must do so, too. Else the answer may only look
    like the mistake because it has spoilt its own inputs.
    """

    def gives(name: str, k: int) -> object:
        """What a mistake gives for question ``k``."""
        return mistaken(card, seed, name, k).value

    names = name_mistakes(card.mistakes, gives, results)
    for k, name in enumerate(names):
        if name and results[k].touched and not mistaken(card, seed, name, k).touched:
            names[k] = ""
    return names


def purity(results: list[Result]) -> Property:
    """Return whether the inputs are as they were; who does nothing earns nothing by it."""
    touched = any(result.touched for result in results)
    earned = any(result.held for result in results)
    return Property(
        "leaves its inputs as they were",
        passed=earned and not touched,
        asked=earned or touched,
        reason=CHANGED if touched else "",
    )
