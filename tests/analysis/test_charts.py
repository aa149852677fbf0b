"""The notebooks' charts: labels that can be read, and alt texts that carry the numbers."""

from itertools import pairwise

from albert_course.charts import bars, lines


def test_alt_text_of_lines_names_every_curve_its_ends_and_the_baselines():
    curves = [("shared", [1, 2], [4.0, 1.5]), ("separate", [1, 2], [4.0, 3.25])]
    figure, alt = lines(curves, "step", "loss", "It falls", {"chance": 0.69}, xscale="log")
    parts = ("shared from 4 to 1.5", "separate from 4 to 3.25", "chance at 0.69", "It falls")
    assert all(part in alt for part in (*parts, "over step, x logarithmic."))
    assert figure.axes[0].get_xscale() == "log"


def test_names_of_curves_and_baselines_that_end_together_do_not_overlap():
    curves = [(name, [0, 1], [5.0, 3.0]) for name in "abcd"]
    figure, _ = lines(curves, "step", "loss", "one end", {"copy": 3.0, "unigram": 3.01})
    heights = sorted(text.get_position()[1] for text in figure.axes[0].texts)
    assert len(heights) == 6 and all(after - before > 0.07 for before, after in pairwise(heights))


def test_bars_write_each_value_on_top():
    figure, alt = bars(["none", "SOP"], {"accuracy": [0.5, 0.86]}, "accuracy", "Order is learnt")
    assert {"0.50", "0.86"} <= {text.get_text() for text in figure.axes[0].texts}
    assert "SOP 0.86" in alt
