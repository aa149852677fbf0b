"""The paper's printed numbers: consistent where they should be, contradictory where we say so, and explained by our counts."""

import numpy as np
import pytest

from albert_paper import published
from albert_paper.published import CONFIGS, TABLES, TASKS, TRAINING, average, read_toml

DEV_TABLES = {number for number, rows in TABLES.items() if number.isdigit()}
DEV_TABLES = {n for n in DEV_TABLES if {*TASKS, "Avg"} <= {*next(iter(TABLES[n].values()))}}
PRINTED = {table["number"]: table for table in read_toml("tables.toml")["table"]}


def scores(number: str, key) -> dict:
    return {name: TABLES[number][key][name] for name in (*TASKS, "Avg")}


def rounds_to(value: float, printed: float) -> bool:
    return abs(value - printed) <= 0.05 + 1e-9  # a tie may have been rounded either way


@pytest.fixture(scope="module")
def counted():
    return {(row.table, row.row): row for row in published.printed_and_counted()}


def test_all_tables_are_there_with_title_source_and_every_printed_row():
    assert list(TABLES) == [*map(str, range(1, 15)), "early-1", "early-main"]
    for number, table in PRINTED.items():
        assert table["title"] and len(table["rows"]) == len(TABLES[number])
        assert table["columns"][: len(table["key"])] == table["key"]
        assert f"Table {number.removeprefix('early-').replace('main', '3')}" in table["source"]
        assert ("1909.11942v6" in table["source"]) is not number.startswith("early")


def kind_of(column: str):
    """The kind of a column's cells: F1 and exact match of SQuAD; three scores of RACE."""
    return tuple if column.startswith("SQuAD") or column == "RACE test" else int | float


@pytest.mark.parametrize("number", TABLES)
def test_cells_are_of_their_kind_and_exact_match_never_beats_f1(number):
    names = {*PRINTED[number]["key"], "share"}
    for row in TABLES[number].values():
        for column, cell in row.items():
            if column not in names and cell is not None:
                check_cell(column, cell)


def check_cell(column: str, cell):
    assert isinstance(cell, kind_of(column)), column
    if column == "RACE test":  # all questions, those of middle and of high schools
        of_all, middle, high = cell
        assert high < of_all < middle < 100
    elif isinstance(cell, tuple):
        f1, exact = cell
        assert 0 < exact <= f1 < 100


@pytest.mark.parametrize("number", sorted(DEV_TABLES))
def test_every_printed_average_is_the_mean_of_its_row(number):
    for row in TABLES[number].values():
        assert rounds_to(average(row), row["Avg"]), row


def test_the_early_average_is_not_the_mean_of_its_row_except_for_xxlarge():
    early = TABLES["early-main"]
    right = [model for model, row in early.items() if rounds_to(average(row), row["Avg"])]
    assert right == ["ALBERT-xxlarge"]
    assert average(early["BERT-xlarge"]) == pytest.approx(72.45)
    assert early["BERT-xlarge"]["Avg"] == 76.7


def test_the_glue_ensembles_average_is_not_the_mean_of_the_row():
    for (setting, _), row in TABLES["9"].items():
        tasks = [*row.values()][2:-1]
        if setting == "single":
            assert row["Avg"] is None
            assert None in tasks
        else:
            assert not rounds_to(sum(tasks) / len(tasks), row["Avg"])


@pytest.mark.parametrize(
    ("one", "other", "contradiction"),
    [
        (("6", "ALBERT-xxlarge"), ("13", 12), set()),
        (("2", "ALBERT-xxlarge"), ("13", 24), set()),
        (("3", ("none", 768)), ("2", "BERT-base"), set()),
        (("4", (768, "none")), ("2", "BERT-base"), set()),
        (("3", ("all", 128)), ("2", "ALBERT-base"), set()),
        (("7", "books and wikipedia"), ("2", "ALBERT-base"), set()),
        (("4", (768, "all")), ("3", ("all", 768)), set()),
        (("5", "SOP"), ("4", (128, "all")), set()),
        (("12", 1024), ("11", 3), set()),
        (("3", ("all", 128)), ("4", (128, "all")), {"MNLI"}),
        (("3", ("none", 128)), ("4", (128, "none")), {"MNLI", "Avg"}),
    ],
)
def test_rows_of_one_model_have_one_set_of_scores_but_where_the_paper_contradicts_itself(
    one, other, contradiction
):
    first, second = scores(*one), scores(*other)
    assert {name for name in first if first[name] != second[name]} == contradiction


def test_the_papers_own_slips_are_kept_as_printed():
    mnli = [TABLES["3"]["all", 128]["MNLI"], TABLES["4"][128, "all"]["MNLI"]]
    assert mnli == [81.6, 82.0]
    wide = TABLES["1"]["ALBERT-xxlarge"]
    assert (wide["layers"], wide["params"], TABLES["12"][4096]["params"]) == (12, 235, 225)
    assert scores("13", 12) != scores("13", 24)  # both are given for xxlarge
    tests = [TABLES["10"]["single", model]["SQuAD2.0 test"] for model in ("BERT-large", "XLNet")]
    assert tests[0] == tests[1]
    assert TABLES["early-1"]["BERT-xlarge (authors' run)"]["RACE"] == 54.3


def test_gains_the_text_quotes_follow_from_the_tables():
    best = TABLES["2"]["ALBERT-xxlarge"]
    bert = TABLES["2"]["BERT-large"]
    gains = [np.ravel(best[task])[0] - np.ravel(bert[task])[0] for task in TASKS]  # F1 of SQuAD
    assert gains == pytest.approx([1.9, 3.1, 1.4, 2.2, 8.4])  # section 4.3
    rows = [TABLES["6"][name] for name in ("ALBERT-xxlarge", "BERT-large")]
    slow, fast = (row["hours"] / row["steps"] for row in rows)
    assert slow / fast == pytest.approx(3.01, abs=0.005)


def test_final_speedups_are_the_early_ones_relative_to_bert_large():
    early, final = TABLES["early-main"], TABLES["2"]
    base = early["BERT-large"]["speedup"]
    for name in final:
        assert rounds_to(early[name]["speedup"] / base, final[name]["speedup"])
    assert round(base / early["ALBERT-xxlarge"]["speedup"], 2) == 3.17  # section 4.7


# Printed counts that no rule gives, and what the guess in the notes of Table 12 gives in millions.
MISSES = {
    ("1", "ALBERT-xlarge"): 59.7,
    ("1", "ALBERT-xxlarge"): None,
    ("12", "H=2048"): 59.7,
    ("12", "H=4096"): 224.6,
    ("12", "H=6144"): 498.6,
    ("early-main", "ALBERT-xxlarge"): None,
}


def test_every_printed_parameter_count_has_ours_beside_it(counted):
    for number in ("1", "3", "4", "12", "early-main"):
        ours = [row.printed for row in counted.values() if row.table == number]
        assert ours == [row["params"] for row in TABLES[number].values()]
    row = counted["4", "E=768, share=ffn"]
    assert (row.without_pooler, row.total) == (56_527_104, 57_117_696)
    row = counted["early-main", "ALBERT-xxlarge"]
    assert (row.without_pooler, row.total) == (205_814_272, 222_595_584)


def test_printed_counts_have_the_pooler_where_anything_is_shared_and_lack_it_elsewhere(counted):
    configs = [config for of_table in CONFIGS.values() for config in of_table.values()]
    for config, row in zip(configs, counted.values(), strict=True):
        if (row.table, row.row) in MISSES:
            assert row.convention == "none"
        elif config.share == "none":
            assert row.convention == "without pooler"
        else:
            assert row.convention in ("with pooler", "either")
    assert [key for key, row in counted.items() if row.convention == "either"] == [
        ("3", "share=all, E=768"),
        ("4", "E=768, share=all"),
        ("4", "E=768, share=ffn"),
    ]


def test_counts_that_no_convention_gives_are_near_and_the_notes_name_a_guess(counted):
    tolerance = {60: 0.022, 225: 0.011, 499: 0.007, 235: 0.053, 233: 0.045}
    for key, wide in MISSES.items():
        number, name = key
        row = counted[key]
        config = CONFIGS[number][int(name.removeprefix("H=")) if "H=" in name else name]
        assert abs(row.total / 1e6 / row.printed - 1) < tolerance[row.printed]
        if wide is not None:  # 512 + 2 + 2 rows become wider
            guess = row.total + 516 * (config.hidden_size - config.embedding_size)
            assert round(guess / 1e6, 1) == wide
            assert f"{wide}M" in " ".join(PRINTED["12"]["notes"])


def test_each_configuration_is_the_one_its_row_describes():
    letters = {"layers": "num_layers", "H": "hidden_size", "E": "embedding_size", "share": "share"}
    depths = {"3": 12, "4": 12, "12": 3}  # where no column says it
    for number, configs in CONFIGS.items():
        for key, config in configs.items():
            row = TABLES[number][key]
            for letter in letters.keys() & row:
                assert getattr(config, letters[letter]) == row[letter]
            assert config.vocab_size == TRAINING["vocab_size"]
            assert config.ffn_size == 4 * config.hidden_size
            assert config.num_layers == depths.get(number, config.num_layers)


def test_the_training_recipe_is_the_papers_and_every_fact_says_where_it_stands():
    assert (TRAINING["batch_size"], TRAINING["steps"]) == (4096, 125_000)
    assert (TRAINING["learning_rate"], TRAINING["warmup_steps"]) == (0.00176, 3125)
    positions = TRAINING["batch_size"] * TRAINING["steps"] * TRAINING["sequence_length"]
    assert TRAINING["token_positions"] == positions
    mean = sum(n * p for n, p in enumerate(TRAINING["ngram_probabilities"], 1))
    assert TRAINING["mean_ngram"] == pytest.approx(mean)
    assert all(fact["source"] for fact in read_toml("training.toml").values())
