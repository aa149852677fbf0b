"""Cards of notebook 12: a printed count, a printed speed, a criterion."""

from albert_course.checks.cards.nb09 import interval
from albert_course.checks.engine.card import Case, Cases, Draw, card


def fitting_rules(printed: int, counts: dict[str, int]) -> list[str]:
    """``fitting_rules(printed, counts) -> names``: the rules, in the order of ``counts``, whose
    exact count rounds to ``printed`` millions. A printed number of four digits or more was rounded
    to the nearest ten millions."""
    step = 10 if printed >= 1000 else 1
    return [rule for rule, count in counts.items() if round(count / 1e6 / step) * step == printed]


def _fitting_rules_cases(draw: Draw) -> Cases:
    for name, printed, half in (
        ("to millions", 10 * draw.integer(2, 40), 500_000),
        ("1000 and more to tens", 1000, 5_000_000),
    ):
        near, far = draw.integer(half // 2, half), draw.integer(half + 1, 2 * half)
        off = {"just below": -near, "too low": -far, "just above": near, "too high": far}
        yield Case(f"rounds {name}", (printed, {k: printed * 10**6 + by for k, by in off.items()}))


check_fitting_rules = card("notebook 12.1", fitting_rules, _fitting_rules_cases, pure=True)


def speed_range(steps: int, hours: int, base_steps: int, base_hours: int) -> tuple[float, float]:
    """``speed_range(steps, hours, base_steps, base_hours) -> (low, high)``: the smallest and the
    largest ratio of the steps per hour to those of the baseline, where the printed hours were
    rounded to whole hours."""
    low = (steps / (hours + 0.5)) / (base_steps / (base_hours - 0.5))
    high = (steps / (hours - 0.5)) / (base_steps / (base_hours + 0.5))
    return low, high


def _speed_range_cases(draw: Draw) -> Cases:
    yield Case("takes Table 6", (125_000, 32, 400_000, 34), 2.0)
    steps, base_steps = (1000 * draw.integer(50, 500) for _ in range(2))
    yield Case("takes other runs", (steps, draw.integer(5, 12), base_steps, draw.integer(13, 20)))


check_speed_range = card("notebook 12.2", speed_range, _speed_range_cases)


def most_of_the_drop(none: list[float], ffn: list[float], all_shared: list[float]) -> str:
    """``most_of_the_drop(none, ffn, all_shared) -> word`` of three lists of losses, one per seed:
    "void" unless the 95% interval of d_all = all_shared - none is above 0; else "agrees", "opposes"
    or "undecided" by the interval of d_ffn - d_all / 2, where d_ffn = ffn - none."""
    drops = [a - z for a, z in zip(all_shared, none, strict=True)]
    value, half = interval(drops)
    if value - half <= 0:
        return "void"
    value, half = interval([f - z - d / 2 for f, z, d in zip(ffn, none, drops, strict=True)])
    if abs(value) <= half:
        return "undecided"
    return "agrees" if value > 0 else "opposes"


def _most_of_the_drop_cases(draw: Draw) -> Cases:
    for name, ffn, all_shared in (
        ("agrees above half of the drop", 0.16, 0.2),
        ("opposes below half, although the FFN costs", 0.05, 0.2),
        ("is void where nothing is lost", 0.0, 0.0),
        ("is void where sharing helps", 0.16, -0.2),
        ("is undecided at half of the drop", 0.103, 0.2),
    ):
        none = [3 + 0.2 * luck for luck in draw.randn(6).tolist()]
        noise = (0.005, -0.004, 0.008, -0.008, 0.004, -0.004)
        noisy = [z + x for z, x in zip(none, noise, strict=True)]
        yield Case(name, (none, [z + ffn for z in noisy], [z + all_shared for z in noisy]))


check_most_of_the_drop = card("notebook 12.3", most_of_the_drop, _most_of_the_drop_cases, pure=True)
