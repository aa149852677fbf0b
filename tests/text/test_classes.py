"""Classes of labels: any names, whole columns, and an order that does not depend on the rows."""

import pytest

from tests.text.test_task_rows import classes_and_labels, labelled


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
    assert classes_and_labels(labelled(tmp_path, *labels)) == (names, numbers)
