"""The printed parameter counts as results: how far each is from what its model really has."""

from albert_edu.paper.published import TABLES, CountedRow, printed_and_counted

WIDE = ("ALBERT-xlarge", "ALBERT-xxlarge")  # claims of their own


def counted_rows(*_) -> list[dict]:
    """Every printed count, and for each table the one that is furthest off, in millions; 0.5 is what rounding may do."""
    counted = printed_and_counted()
    results = [_result(f"{TABLES[row.table].name}: {row.row}", row) for row in counted]
    for name, tables, apart in (("Tables 3 and 4", ("3", "4"), ()), ("Table 1 but xlarge and xxlarge", ("1",), WIDE)):
        worst = max((row for row in counted if row.table in tables and row.row not in apart), key=_off)
        results.append(_result(name, worst))
    return results


def _off(row: CountedRow) -> float:
    return min(abs(row.printed - count / 1e6) for count in (row.without_pooler, row.total))


def _result(name: str, row: CountedRow) -> dict:
    nearest = min((row.without_pooler, row.total), key=lambda count: abs(row.printed - count / 1e6))
    return {"row": name, "seed": 0, "off": round(_off(row), 3), "printed": row.printed, "parameters": nearest,
            "convention": row.convention}  # fmt: skip
