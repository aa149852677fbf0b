"""Answers to the exercise of notebook 01 that cuts a word into pieces, right and wrong."""

import functools
import heapq
import math

import numpy as np

from albert_edu.checks import check_best_cut
from tests.bug_zoo.zoo import right, wrong


@right(check_best_cut)
def cut_by_prefixes(word, log_p):
    best = [(0.0, [])]
    for end in range(1, len(word) + 1):
        ways = [(best[s][0] + log_p[word[s:end]], [*best[s][1], word[s:end]])
                for s in range(end) if word[s:end] in log_p and best[s] is not None]  # fmt: skip
        best.append(max(ways, default=None))
    return best[-1] and best[-1][1]


@right(check_best_cut)
def cut_by_memory(word, log_p):
    @functools.cache
    def rest_of(start):
        if start == len(word):
            return 0.0, ()
        ways = []
        for piece, score in log_p.items():
            if word.startswith(piece, start) and (rest := rest_of(start + len(piece))):
                ways.append((score + rest[0], (piece, *rest[1])))
        return max(ways, default=None)

    found = rest_of(0)
    return None if found is None else found[1]


@right(check_best_cut)
def cut_by_dijkstra(word, log_p):
    costs = {piece: -score for piece, score in log_p.items()}
    lowest = min(0.0, *costs.values()) if costs else 0.0  # Dijkstra wants no negative cost: a constant for each letter
    queue, done = [(0.0, 0, [])], set()
    while queue:
        cost, place, cut = heapq.heappop(queue)
        if place == len(word):
            return cut
        if place in done:
            continue
        done.add(place)
        for end in range(place + 1, len(word) + 1):
            if word[place:end] in costs:
                piece = word[place:end]
                heapq.heappush(queue, (cost + costs[piece] - lowest * len(piece), end, [*cut, piece]))
    return None


@right(check_best_cut)
def cut_with_back_pointers(word, log_p):
    best, came_from = np.full(len(word) + 1, -np.inf), [0] * (len(word) + 1)
    best[0] = 0
    for end in range(1, len(word) + 1):
        for start in range(end):
            score = best[start] + log_p.get(word[start:end], -np.inf)
            if score > best[end]:
                best[end], came_from[end] = score, start
    if best[-1] == -np.inf:
        return None
    cut, end = [], len(word)
    while end:
        cut.insert(0, word[came_from[end] : end])
        end = came_from[end]
    return cut


def cut_by(word, log_p, merit):
    """Greedy, by a merit of the next piece."""
    cut = []
    while word:
        fitting = [word[:end] for end in range(1, len(word) + 1) if word[:end] in log_p]
        if not fitting:
            return None
        cut.append(max(fitting, key=merit))
        word = word[len(cut[-1]) :]
    return cut


@wrong(check_best_cut, "longest piece that fits")
def longest_first(word, log_p):
    return cut_by(word, log_p, len)


@wrong(check_best_cut, "most probable piece that fits")
def likeliest_first(word, log_p):
    return cut_by(word, log_p, log_p.get)


@wrong(check_best_cut, "fewest pieces")
def fewest_pieces(word, log_p):
    return cut_by_prefixes(word, dict.fromkeys(log_p, -1.0))


@wrong(check_best_cut, "smallest sum")
def least_probable(word, log_p):
    return cut_by_prefixes(word, {piece: -score for piece, score in log_p.items()})


@wrong(check_best_cut, "adding probabilities")
def probabilities_added(word, log_p):
    return cut_by_prefixes(word, {piece: math.exp(score) for piece, score in log_p.items()})


def every_cut(word, log_p):
    if not word:
        return [[]]
    ends = [end for end in range(1, len(word) + 1) if word[:end] in log_p]
    return [[word[:end], *rest] for end in ends for rest in every_cut(word[end:], log_p)]


@wrong(check_best_cut, "comparing means")
def best_mean(word, log_p):
    if not word or set(word) - set(log_p) or len(word) > 20:
        return cut_by_prefixes(word, log_p)
    return max(every_cut(word, log_p), key=lambda cut: sum(log_p[piece] for piece in cut) / len(cut))


@wrong(check_best_cut, "not turning them round")
def back_to_front(word, log_p):
    cut = cut_with_back_pointers(word, log_p)
    return cut and cut[::-1]


@wrong(check_best_cut, "listing all cuts")
def all_cuts_listed(word, log_p):
    return max(every_cut(word, log_p), key=lambda cut: sum(log_p[piece] for piece in cut), default=None)


@wrong(check_best_cut, "return the pieces alone")
def sum_returned_too(word, log_p):
    cut = cut_by_prefixes(word, log_p)
    return sum(log_p[piece] for piece in cut), cut


@wrong(check_best_cut, "do your ranges reach the last letter")
def last_letter_lost(word, log_p):
    return cut_by_prefixes(word[:-1], log_p)


@wrong(check_best_cut, "it has one cut")
def nothing_for_the_empty_word(word, log_p):
    return cut_by_prefixes(word, log_p) or None


@wrong(check_best_cut, "in no_way_forgotten, line")
def no_way_forgotten(word, log_p):
    best = [(0.0, [])]
    for end in range(1, len(word) + 1):
        starts = [start for start in range(end) if word[start:end] in log_p]
        best.append(max((best[s][0] + log_p[word[s:end]], [*best[s][1], word[s:end]]) for s in starts))
    return best[-1][1]


@wrong(check_best_cut, "do not invent one")
def letters_as_a_way_out(word, log_p):
    return cut_by_prefixes(word, {**dict.fromkeys(word, -100.0), **log_p})
