"""The printed parameter counts as results: how far each is from what its model really has."""

from albert_paper.published import TABLES, CountedRow, printed_and_counted

WIDE = ("ALBERT-xlarge", "ALBERT-xxlarge")  # their counts are claims of their own


def counted_rows(*_) -> list[dict]:
    """Return the printed counts as results, and the worst of each group of tables, in millions."""
    counted = printed_and_counted()
    tables_3_and_4 = [row for row in counted if row.table in ("3", "4")]
    table_1 = [row for row in counted if row.table == "1" and row.row not in WIDE]
    groups = {"Tables 3 and 4": tables_3_and_4, "Table 1 but xlarge and xxlarge": table_1}
    results = [_result(f"{TABLES[row.table].name}: {row.row}", row) for row in counted]
    for name, rows in groups.items():
        results.append(max((_result(name, row) for row in rows), key=lambda result: result["off"]))
    return results


def _result(name: str, row: CountedRow) -> dict:
    nearest = min((row.without_pooler, row.total), key=lambda n: abs(row.printed - n / 1e6))
    off = round(abs(row.printed - nearest / 1e6), 3)
    return {
        "row": name,
        "seed": 0,
        "off": off,
        "printed": row.printed,
        "parameters": nearest,
        "convention": row.convention,
    }
