"""The printed parameter counts as results: how far each is from what its model really has."""

from albert_edu.paper.published import TABLES, CountedRow, printed_and_counted

WIDE = ("ALBERT-xlarge", "ALBERT-xxlarge")  # their counts are claims of their own


def counted_rows(*_) -> list[dict]:
    """The printed counts as results, and for each group of tables the one that is furthest off, in millions."""
    counted = printed_and_counted()
    results = [_counted_result(f"{TABLES[row.table].name}: {row.row}", row) for row in counted]
    groups = (("Tables 3 and 4", ("3", "4"), ()), ("Table 1 but xlarge and xxlarge", ("1",), WIDE))
    for name, tables, apart in groups:
        members = [row for row in counted if row.table in tables and row.row not in apart]
        results.append(max((_counted_result(name, row) for row in members), key=lambda result: result["off"]))
    return results


def _counted_result(name: str, row: CountedRow) -> dict:
    nearest = min((row.without_pooler, row.total), key=lambda count: abs(row.printed - count / 1e6))
    off = round(abs(row.printed - nearest / 1e6), 3)
    return {"row": name, "seed": 0, "off": off, "printed": row.printed, "parameters": nearest, "convention": row.convention}
