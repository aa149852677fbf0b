"""Answers to the exercise of notebook 01 that cuts a word into pieces, right and wrong."""

import functools
import heapq

import numpy as np

from albert_edu.checks import check_best_cut
from tests.bug_zoo.zoo import right


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
