"""Exercise 1: what the two models lose where their layers run in another order."""

from statistics import mean

from albert_course.checks.cards.nb04_plans import loss_in_order

batches = [streams[1].batch(number) for number in range(4)]


def lost(model, order):
    """Return how much the mean loss of four held-out batches rises, in nats."""
    model = model.eval()
    return mean(
        loss_in_order(model, batch, order) - loss_in_order(model, batch, [0, 1, 2, 3])
        for batch in batches
    )


with torch.no_grad():
    exchanged = {name: lost(model, [0, 2, 1, 3]) for name, model in pair.items()}
    shorter = {name: lost(model, [1, 2, 3]) for name, model in pair.items()}
assert exchanged["all"] == 0, exchanged
assert abs(exchanged["none"] - 0.13) < 0.06, exchanged
assert abs(shorter["all"] - 0.06) < 0.05, shorter
assert abs(shorter["none"] - 0.31) < 0.1, shorter
