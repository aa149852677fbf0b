"""Figure 1 of one pair, as ``reproduce`` and the README show it."""

from collections.abc import Collection

from matplotlib.figure import Figure

from albert_edu.analysis.plots import figure1
from albert_paper.pair import MEMBERS, PLAN


def pair_picture(members: Collection[dict]) -> tuple[Figure, str]:
    """Draw Figure 1 of a pair: its members in the order of ``MEMBERS``, as a record has them.

    Where they hold ``similarity_untrained``, random stacks of their shapes are drawn, too.
    """
    trained = [member["similarity"] for member in members]
    untrained = [m["similarity_untrained"] for m in members if "similarity_untrained" in m]
    title = (
        "The last application turns its input by {:.0f} degrees (shared layer) "
        "and by {:.0f} degrees (separate layers)"
    )
    last = [curves["angle_degrees"][-1] for curves in trained]
    names = tuple(PLAN["labels"][member] for member in MEMBERS)
    figure, alt = figure1(*trained, names, title.format(*last), untrained)
    figure.set_figheight(4.0)
    figure.supxlabel(
        "Bands: one standard deviation over tokens. "
        f"{'Dotted: random weights. ' if untrained else ''}Hollow: the step from the embedding.",
        fontsize=8,
    )
    return figure, alt
