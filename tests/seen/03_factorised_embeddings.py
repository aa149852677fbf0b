"""Exercise 3: with two directions the lookup still serves the model, and the scores do not."""

from copy import deepcopy

from torch import nn

from albert_course.checks.cards.nb03 import factors_of


def squeeze(use, E):
    """Squeeze one use of the table, or both; return the MLM loss and the likeliest token."""
    model = deepcopy(mine.model)
    narrow, project = factors_of(original, E)
    product = nn.Parameter(narrow @ project)
    head = model.masked_token_head.decoder
    head.weight = nn.Parameter(original.clone())
    if use in ("lookup", "both"):
        model.albert.embeddings.word.weight = product
    if use in ("scores", "both"):
        head.weight = product
    loss = evaluate(model, mine.unseen, 4)["masked_token_loss"]
    (guesses,) = fill(model, mine.tokenizer, gap, top=3)
    return loss, [token.strip("▁") for token, _ in guesses]


lookup, lookup_says = squeeze("lookup", 2)
scores, scores_say = squeeze("scores", 2)
both, _ = squeeze("both", 2)
assert abs(lookup - 3.1) < 0.15, lookup
assert abs(scores - 3.6) < 0.15, scores
assert abs(scores - both) < 0.1, both
assert all(word.endswith("ed") or word == "bought" for word in lookup_says), lookup_says
assert {*scores_say} == {"the", "carla", "anna"}, scores_say
for use in ("lookup", "scores"):
    _, says = squeeze(use, 8)
    assert says[0].endswith("ed") or says[0] == "bought", says
