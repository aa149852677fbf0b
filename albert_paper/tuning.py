"""What is settled before the runs of an experiment: learning rates by pilots, and equal time.

A pilot is a row trained in full at one rate, with a seed that decides nothing else. The best rate
of a grid may lie at its edge, and then a better one may lie beyond it, so the grid is widened. The
rules stand at the top of ``data/plan.toml``. A section of the plan goes in; the same section with
its rates comes out. Explained in notebook 09.
"""

import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial
from statistics import mean, median

import torch

from albert_edu.model.albert import AlbertForPretraining
from albert_edu.training.pretrain import pretrain
from albert_edu.training.settings import TrainSettings
from albert_paper.training_run import Run

WIDENED = 4  # times at most
ROUNDS = 11  # of equal time
TIMED_STEPS = 100  # of each row in a round

Do = Callable[[Sequence[Run]], list[dict]]  # trains what is not trained yet, returns all results
At = Callable[[str, float, int], Run]  # the run of a row at a rate with a seed


def settle(plan: dict, run_of: Callable[..., Run], do: Do, record: dict) -> dict:
    """Return the plan with what pilots and timing settled filled in; it goes into the record, too.

    ``run_of`` makes a run from a row's name, a seed and its settings. A timing that the record has
    from an earlier sitting is kept.
    """
    plan = deepcopy(plan)
    tune = plan.get("tune", {})
    if equal := tune.get("equal_time"):
        if "timing" not in record:
            record["timing"] = equal_time(plan, run_of, **equal)
        plan["rows"][equal["row"]]["steps"] = record["timing"]["steps"]
    if "stages" in tune:
        record["rates"] = tuned_stages(plan, run_of, do)
        plan["settings"]["stage_rates"] = {
            depth: record["rates"][f"L={depth}"]["learning_rate"] for depth in tune["stages"]
        }
    elif tune:
        record["rates"] = tuned_rows(plan, run_of, do)
        for row in plan["rows"]:
            chosen = record["rates"][tune.get("same", {}).get(row, row)]
            plan["rows"][row]["learning_rate"] = chosen["learning_rate"]
    return plan


def tuned_rows(plan: dict, run_of: Callable[..., Run], do: Do) -> dict[str, dict]:
    """Return for each row that is tuned its learning rate and the scores of all rates tried."""
    tune = plan["tune"]

    def at(row: str, rate: float, seed: int) -> Run:
        """Return a pilot."""
        return run_of(row, seed, **(plan["settings"] | plan["rows"][row] | {"learning_rate": rate}))

    search = partial(best_rates, at=at, rates=tune["rates"], seeds=tune["seeds"], do=do)
    if tune.get("choose") == "half_stuck":
        one = search({"all rows": tune["rows"]}, score=far_from_half)["all rows"]
        return dict.fromkeys(tune["rows"], one)
    return search({row: [row] for row in tune["rows"]}, score=mean_loss)


def tuned_stages(plan: dict, run_of: Callable[..., Run], do: Do) -> dict[str, dict]:
    """Return for each depth its learning rate on top of the depths before it, at their rates."""
    tune = plan["tune"]
    found: dict[str, dict] = {}
    rates: dict[int, float] = {}
    sizes = next(iter(plan["rows"].values()))
    for depth in tune["stages"]:
        stage = f"L={depth}"
        before = list(rates)

        def at(row: str, rate: float, seed: int, depth: int = depth, before: list = before) -> Run:
            """Return a pilot: the depths before at their rates, and this one at a rate to try."""
            own = {"L": depth, "chain": before, "stage_rates": rates | {depth: rate}}
            return run_of(row, seed, **(plan["settings"] | sizes | own))

        found |= best_rates({stage: [stage]}, at, tune["rates"], tune["seeds"], mean_loss, do)
        rates[depth] = found[stage]["learning_rate"]
    return found


def best_rates(
    groups: dict[str, list[str]],
    at: At,
    rates: Sequence[float],
    seeds: Sequence[int],
    score: Callable[[list[dict]], float],
    do: Do,
) -> dict[str, dict]:
    """Return for each group of rows the rate with the lowest score, the lower one of two alike.

    A grid whose best rate is at an edge is widened by half or twice that rate. ``at_edge`` says
    that it still was when the grid had been widened as often as is allowed.
    """
    grids = {group: sorted(rates) for group in groups}
    for widened in range(WIDENED + 1):
        pilots = []
        for group, rows in groups.items():
            pilots += [
                at(row, rate, seed) for rate in grids[group] for row in rows for seed in seeds
            ]
        results = do(pilots)
        scores: dict[str, dict[float, float]] = {}
        for group, rows in groups.items():
            found = [result for result in results if result["row"] in rows]
            scores[group] = {}
            for rate in grids[group]:
                at_rate = [result for result in found if result["learning_rate"] == rate]
                scores[group][rate] = score(at_rate)
        best = {group: min(of_rate, key=of_rate.__getitem__) for group, of_rate in scores.items()}
        edge = [group for group, grid in grids.items() if best[group] in (grid[0], grid[-1])]
        if not edge or widened == WIDENED:
            break
        for group in edge:
            lowest = best[group] == grids[group][0]
            beyond = best[group] / 2 if lowest else best[group] * 2
            grids[group] = sorted([*grids[group], beyond])
    chosen = {}
    for group in groups:
        chosen[group] = {
            "learning_rate": best[group],
            "scores": [[rate, value] for rate, value in scores[group].items()],
            "at_edge": group in edge,
        }
    return chosen


def mean_loss(pilots: list[dict]) -> float:
    """Return the mean held-out MLM loss."""
    return mean(pilot["held_out_masked_token_loss"] for pilot in pilots)


def far_from_half(pilots: list[dict]) -> float:
    """Return how far the share of pilots that never learnt is from a half."""
    return abs(mean(pilot["never_learnt"] for pilot in pilots) - 0.5)


def equal_time(plan: dict, run_of: Callable[..., Run], row: str, as_long_as: str) -> dict:
    """Return how many steps ``row`` may take in the CPU seconds of another row, and the timings.

    Both rows take steps in turns, in this process with one thread.
    """
    rate = {"learning_rate": plan["tune"]["rates"][0]}  # no rate makes a step longer
    seed = plan["tune"]["seeds"][0]
    own_run, other_run = (
        run_of(name, seed, **(plan["settings"] | plan["rows"][name] | rate))
        for name in (row, as_long_as)
    )
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    rounds = []
    for _ in range(ROUNDS):
        rounds.append([step_seconds(own_run), step_seconds(other_run)])
    torch.set_num_threads(threads)
    ratio = median(other / own for own, other in rounds)
    steps = round(other_run.steps * ratio)
    return {"rows": [row, as_long_as], "seconds": rounds, "steps": steps}


def step_seconds(run: Run) -> float:
    """Return the CPU seconds of a step of a run: the mean of 100 after 20 to warm up."""
    text = run.text()
    model = AlbertForPretraining(run.model_config(len(text.tokenizer)))
    warm = TIMED_STEPS // 5
    clock = []

    def look(_) -> dict:
        """Note the time."""
        clock.append(time.process_time())
        return {}

    settings = TrainSettings(
        TIMED_STEPS + warm, run.learning_rate, log_every=warm, evaluate_every=warm
    )
    pretrain(model, run.stream(text), settings, device="cpu", describe=None, observe=look)
    return (clock[-1] - clock[0]) / TIMED_STEPS
