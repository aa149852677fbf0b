"""The words of every row of the plan can be filled in, also of those that are not run yet."""

import json
import random
import re

import pytest

from albert_paper.criterion import parse
from albert_paper.outcomes import judge
from albert_paper.page import rows_of
from albert_paper.plan import PAGE, PLAN, runs_of
from albert_paper.provenance import ROOT
from albert_paper.words import REFERENCE, filled, row_of


def invented_runs(name: str) -> list[dict]:
    """Runs of a section with a number for every column that its comparisons name."""
    section = PLAN[name]
    chance = random.Random(0)
    runs = []
    for run in runs_of(section):
        found = {"row": run.row, "seed": run.seed, "steps": run.steps, "copy_baseline": 2.0}
        found["health"] = {"alive": True}
        for claim in section["claims"].values():
            for text in (*claim["criterion"], *claim.get("control", ()), *claim.get("also", ())):
                *above, last = parse(text).column.split(".")
                place = found
                for key in above:
                    place = place.setdefault(key, {})
                place[last] = chance.random()
        scores = {f"{part}_masked_token_loss": chance.random() for part in ("held_out", "train")}
        runs.append(found | scores)
    return runs


@pytest.mark.parametrize("name", sorted({key.split(".")[0] for key in PAGE}))
def test_the_words_of_a_row_name_rows_and_columns_of_its_comparisons(name):
    first = json.loads((ROOT / "figures" / "outcomes.json").read_text(encoding="utf-8"))
    rows = rows_of({name: invented_runs(name)}, first)
    for key in PAGE:
        row = rows[key]
        if key.startswith(f"{name}."):
            assert row["word"] and row["ours"].count("(n = ") == 1
            for words in (row["ours"], row["note"], row["paper"]):
                assert not re.search(r"[{}]|nan", words), words


def test_a_row_that_leaves_no_stuck_run_out_counts_all_of_them_in_its_words_too():
    """Of four starts three never learnt; without stuck runs there would be one seed."""
    runs = []
    for seed, (one, other) in enumerate([(1.0, 1.0), (1.0, 0.0), (1.0, 1.0), (0.0, 0.0)]):
        for row, never in (("a", one), ("b", other)):
            loss = {"held_out_masked_token_loss": 3.0 if never else 1.0, "copy_baseline": 2.0}
            loss["health"] = {"alive": True}
            runs.append({"row": row, "seed": seed, "never_learnt": never} | loss)
    claim = {"criterion": ["never_learnt: a < b"], "paper": "", "test": "sign", "least": 0.5}
    claim |= {"runs": runs, "keep_stuck": True, "ours": "{a: never_learnt}, {b: never_learnt}"}
    (judged,) = judge({"x.y": claim}).values()
    ours = row_of(judged)["ours"]
    assert re.sub(r" ± [\d.]+", "", ours) == "75.0% (n = 4), 50.0%"


def test_what_is_no_reference_stays_as_it_is():
    assert REFERENCE.findall("{a < b: c.d} {a: c} {x.y} a: b") == [("a < b", "c.d"), ("a", "c")]
    assert filled("as of {x.y}, twice", {}) == "as of {x.y}, twice"
