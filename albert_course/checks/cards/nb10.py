"""Cards of notebook 10: where a saving fades, a speedup, and FLOPs.

Their known mistakes are edits in mistakes/10.txt.
"""

from albert_course.checks.engine.card import Case, Cases, Draw
from albert_course.checks.engine.making import make_check
from albert_edu.config import AlbertConfig


def smallest_batch(separate: int, shared: int, activations: int, saving: float) -> int:
    """``smallest_batch(separate, shared, activations, saving) -> B``: the smallest whole number of
    sequences at which sharing saves less than the part ``saving`` of the memory. ``separate`` and
    ``shared`` are the bytes for the parameters, ``activations`` the bytes for one sequence."""
    B = 1
    while (separate - shared) / (separate + B * activations) >= saving:
        B += 1
    return B


def _smallest_batch_cases(draw: Draw) -> Cases:
    shared = draw.integer(2, 9) * 10**8
    activations = draw.integer(3, 9) * 10**8
    for saving in (0.05, 0.3, 0.95):
        inputs = 53 * 10**8 + shared, shared, activations, saving
        yield Case(f"finds where the saving falls below {saving:.0%}", inputs)
    yield Case("wants less, not as much", (6 * 10**8, 2 * 10**8, 10**8, 0.25))


check_smallest_batch = make_check("notebook 10.1", smallest_batch, _smallest_batch_cases)


def training_speedup(flops, separate, shared, workers, speed, link) -> float:
    """``training_speedup(flops, separate, shared, workers, speed, link) -> ratio``: seconds of a
    step with separate layers divided by seconds with shared layers. All workers together compute
    ``flops`` per step, each with ``speed`` FLOPs per second, and then average float32 gradients
    of ``separate`` or ``shared`` parameters in a ring, with ``link`` bytes per second."""
    compute = flops / workers / speed
    ring = 2 * (workers - 1) / workers * 4 / link
    return (compute + ring * separate) / (compute + ring * shared)


def _training_speedup_cases(draw: Draw) -> Cases:
    for workers in (64, 2, 1):
        flops = workers * draw.integer(5, 15) * 1e12
        link = 1e9 * draw.integer(2, 5)
        name = f"is right for {workers} worker{'s' * (workers > 1)}"
        yield Case(name, (flops, 3.4e8, 1.8e7, workers, 1e13, link))


check_training_speedup = make_check("notebook 10.2", training_speedup, _training_speedup_cases)


def flops(config: AlbertConfig, S: int, training: bool) -> float:
    """``flops(config, S, training) -> number``: the FLOPs for one token of a sequence of S tokens,
    where a multiply-add counts as two; ``training`` is False for the forward pass, True for forward
    and backward together. Only products of matrices count: the projection from E to H (there is
    none if E = H) and in each of the L layers query, key, value, scores, mixing, output and the two
    maps of the feed-forward block. ``config`` is an AlbertConfig: embedding_size, hidden_size,
    ffn_size, num_layers, num_heads."""
    E, H, F, L = config.embedding_size, config.hidden_size, config.ffn_size, config.num_layers
    project = 0 if E == H else 2 * E * H
    qkv = 6 * H * H
    output = 2 * H * H
    attention = 4 * S * H
    ffn = 4 * H * F
    factor = 3 if training else 1
    return factor * (project + L * (qkv + output + attention + ffn))


def _flops_cases(draw: Draw) -> Cases:
    A = draw.integer(3, 6)
    L = draw.integer(3, 7)
    S = 2 * draw.integer(5, 25) + 1
    # S and F are odd, so that no two mistakes come to the same.
    config = AlbertConfig(
        vocab_size=50,
        embedding_size=3 * A,
        hidden_size=8 * A,
        ffn_size=16 * A + 3,
        num_layers=L,
        num_heads=A,
    )

    def count(answer, configs, S, training):
        """The FLOPs of each configuration."""
        return [float(answer(config, S, training)) for config in configs]

    def ratio(answer, configs, S):
        """The FLOPs of training, as a multiple of those of the forward pass."""
        forward, training = (count(answer, configs, S, training)[0] for training in (False, True))
        return training / (forward or 1)

    def growth(answer, configs, S):
        """How many FLOPs a hundred more tokens take."""
        short, long = (count(answer, configs, length, False)[0] for length in (S, S + 100))
        return long - short

    shares = [config.replace(share=share) for share in ("none", "attention", "ffn")]
    yield Case(
        "counts the forward pass",
        inputs=([config], S, False),
        weight=3.0,
        ask=count,
        atol=0.4,
    )
    yield Case(
        "is the same whatever is shared",
        inputs=(shares, S, False),
        weight=2.0,
        ask=count,
        atol=0.4,
    )
    yield Case(
        "training is three times the forward pass",
        inputs=([config], S),
        weight=2.0,
        ask=ratio,
    )
    yield Case(
        "grows with the sequence",
        inputs=([config], S),
        ask=growth,
        atol=0.5,
    )
    one = config.replace(num_heads=1)
    bert = config.replace(embedding_size=8 * A)
    yield Case(
        "is the same for any number of heads",
        inputs=([one], S, False),
        ask=count,
        atol=0.4,
    )
    yield Case(
        "counts no projection where E = H",
        inputs=([bert], S, False),
        ask=count,
        atol=0.4,
    )


check_flops = make_check("assignment 10.3", flops, _flops_cases)
