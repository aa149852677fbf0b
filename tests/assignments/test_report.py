"""What an instructor reads of a class."""

from types import SimpleNamespace

import nbformat

from albert_course.assignments.report import commonest_mistakes, mean_shares


def test_the_class_s_means_are_shares_and_a_mistake_counts_once_for_each_student():
    def output(mistake):
        return nbformat.v4.new_output("display_data", metadata={"mistakes": [mistake]})

    cell = nbformat.v4.new_code_cell(metadata={"nbgrader": {"locked": True}})
    cell.outputs = [output("a swap"), output("a swap")]
    notebook = nbformat.v4.new_notebook(cells=[cell])
    assert commonest_mistakes([notebook, notebook]) == ["      2 a swap"]
    grade = SimpleNamespace(
        name="plan", max_score=4, auto_score=2, cell=SimpleNamespace(cell_type="code")
    )
    submission = SimpleNamespace(notebooks=[SimpleNamespace(grades=[grade])])
    assert mean_shares([submission])[0].split() == ["plan", "0.50"]
