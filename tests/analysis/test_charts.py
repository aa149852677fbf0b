"""The notebooks' charts: labels that can be read, and alt texts that carry the numbers."""

from itertools import pairwise

from matplotlib import rcParams

from albert_course.charts import bars, lines
from albert_edu.analysis.plots import style


def test_the_house_style_does_not_depend_on_what_a_reader_has_set():
    style()
    ours, rcParams["font.size"] = dict(rcParams), 33
    style()
    assert dict(rcParams) == ours and ours["axes.titlelocation"] == "left"


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


def test_bars_write_each_value_on_top_and_stand_around_their_group_each_in_its_own_look():
    series = {"tiny": [0.5, 0.86], "small": [0.6, 0.9]}
    figure, alt = bars(["none", "SOP"], series, "accuracy", "Order is learnt")
    axis = figure.axes[0]
    assert {"0.50", "0.86", "0.60"} <= {text.get_text() for text in axis.texts}
    assert "tiny: none 0.50, SOP 0.86" in alt
    assert [round(bar.get_center()[0], 6) for bar in axis.patches] == [-0.2, 0.8, 0.2, 1.2]
    looks = {(bar.get_facecolor(), bar.get_hatch()) for bar in axis.patches}
    assert [len(set(part)) for part in zip(*looks, strict=True)] == [2, 2]
    assert [text.get_text() for text in axis.get_legend().texts] == list(series)
