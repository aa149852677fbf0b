"""The two rows of the page that are counted and not trained: printed parameter counts.

The printed tables and our counts go in; the words of two rows come out. Explained in notebook 12.
"""

from albert_edu.config import AlbertConfig
from albert_paper.published import TABLES, CountedRow, printed_and_counted


def counted_rows() -> dict[str, dict]:
    """Return the rows by their keys, each with the words of the table and of its section."""
    counted = printed_and_counted()
    rows = [row for row in counted if row.table in ("3", "4")]
    off = max(distance_to_print(row) for row in rows)
    (wide,) = (row for row in counted if (row.table, row.row) == ("1", "ALBERT-xxlarge"))
    least = min(row.printed for row in rows)
    most = max(row.printed for row in rows)
    tables_3_and_4 = {
        "says": "The parameter counts of Tables 3 and 4 are right",
        "paper": f"{len(rows)} counts, {least}M to {most}M",
        "ours": f"all within {off:.1f} million",
        "word": "right" if all(row.convention != "none" for row in rows) else "wrong",
        "text": "Each count is made from the published shape. Rows with any sharing are printed "
        "with the pooler, rows without sharing without it; no row has the pre-training heads.",
    }
    xxlarge = {
        "says": f"ALBERT-xxlarge has {wide.printed} million parameters",
        "paper": f"{wide.printed}M (Table 1)",
        "ours": f"{wide.total:,}",
        "word": "wrong" if wide.convention == "none" else "right",
        "text": f"No way of counting that we tried gives {wide.printed}M, or the first version's "
        f"{TABLES['early-main'][wide.row]['params']}M. The "
        f"{TABLES['12'][4096]['params']}M of Table 12 for the same shared layer are "
        f"{wide.total + wide_positions():,}: positions and segments as wide as the layer.",
    }
    return {"counts.tables_3_and_4": tables_3_and_4, "counts.xxlarge": xxlarge}


def distance_to_print(row: CountedRow) -> float:
    """Return how many millions lie between the print and our nearer count."""
    without = abs(row.printed - row.without_pooler / 1e6)
    return min(without, abs(row.printed - row.total / 1e6))


def wide_positions() -> int:
    """Return how many parameters more ALBERT-xxlarge has with position and segment rows of width H.

    Their norm is as wide then, too.
    """
    config = AlbertConfig.named("albert-xxlarge-v2")
    vectors = config.max_positions + config.num_segments + 2  # the norm has two
    return vectors * (config.hidden_size - config.embedding_size)
