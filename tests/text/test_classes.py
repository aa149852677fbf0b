"""Classes of labels: any names, whole columns, and an order that does not depend on the rows."""

import json

import pytest

from albert_edu.text.task_rows import read_rows


def classes_and_labels(path) -> tuple[list[str], list]:
    rows = read_rows(path)
    return rows.class_names, [example.label for example in rows.examples]


@pytest.mark.parametrize(
    ("labels", "names", "numbers"),
    [
        (["good", "bad", "so-so"], ["bad", "good", "so-so"], [1, 0, 2]),
        ([10, 9, -1], ["-1", "9", "10"], [2, 1, 0]),
        ([1.0, 0.0], ["0", "1"], [1, 0]),
        ([True, False], ["false", "true"], [1, 0]),
        (["TRUE", False], ["false", "true"], [1, 0]),
        (["1.0", 0, "1"], ["0", "1"], [1, 0, 1]),
        (["01", "1"], ["01", "1"], [0, 1]),
        (["2020-01-02", "2020-01-01"], ["2020-01-01", "2020-01-02"], [1, 0]),
        (["1.0", "n/a"], ["1.0", "n/a"], [0, 1]),
        (["equivalent", "not_equivalent"], ["not_equivalent", "equivalent"], [1, 0]),
        (["Spam", "no spam"], ["no spam", "Spam"], [1, 0]),
        (["no", "yes"], ["no", "yes"], [0, 1]),
        (["nothing", "thing"], ["nothing", "thing"], [0, 1]),
        (["v1.0", "v1"], ["v1", "v1.0"], [1, 0]),
    ],
)
def test_labels_are_any_names(tmp_path, labels, names, numbers):
    path = tmp_path / "rows.jsonl"
    rows = ({"text": f"text {n}", "label": label} for n, label in enumerate(labels))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert classes_and_labels(path) == (names, numbers)
