"""The rows of each experiment of the plan: name -> where it departs from the profile's settings, relative to width H.

A profile of width 512 or more is one for a card; the others must be affordable on a laptop's core.
"""

from albert_edu.paper.experiments import Rows
from albert_edu.paper.published import TABLES

EMBEDDINGS = {"H/8": 8, "H/4": 4, "H/2": 2, "H": 1}


def model(H: int, layers: int, E: int | None = None, **more) -> dict:
    """Changes of the configuration: a layer of width H, ``layers`` applications; narrow layers start wider (``config.py``)."""
    heads = max(1, H // (64 if H >= 256 else 32))
    sizes = {"hidden_size": H, "ffn_size": 4 * H, "num_heads": heads, "embedding_size": E or H // 2, "num_layers": layers}
    return {"config": sizes | {"init_std": round(0.02 * (768 / H) ** 0.5, 3)} | more}


def deep(H: int, on_a_core: int = 4) -> int:
    """Layers: 12 on a card, as the paper has, fewer on a core."""
    return 12 if H >= 512 else on_a_core


def table2(H: int) -> Rows:
    L = deep(H)
    wide = model(2 * H, L, E=H // 2)
    steps = {row["model"]: row["steps"] for row in map(TABLES["6"].row, ("BERT-large", "ALBERT-xxlarge"))}
    return {
        "BERT, H": model(H, L, E=H, share="none"), "ALBERT, H": model(H, L), "ALBERT, 2H": wide,
        "ALBERT, 2H, E=H": model(2 * H, L, E=H),
        "ALBERT, 2H, equal time": wide | {"scaled": {"steps": steps["ALBERT-xxlarge"] / steps["BERT-large"]}},
    }  # fmt: skip


def table3(H: int) -> Rows:
    return {f"{name}, E={told}": model(H, deep(H, 2), E=H // part, share=share)
            for name, share in (("not shared", "none"), ("shared", "all")) for told, part in EMBEDDINGS.items()}  # fmt: skip


def table4(H: int) -> Rows:
    return {f"{share}, E={told}": model(H, deep(H), E=H // EMBEDDINGS[told], share=share)
            for told in ("H", "H/4") for share in ("all", "attention", "ffn", "none")}  # fmt: skip


def table4_text(H: int) -> Rows:
    return table4(H) | {"all, 2H, E=H": model(2 * H, deep(H), E=H)}


def longer(H: int) -> Rows:
    long = {share: model(H, deep(H), E=H, share=share) for share in ("all", "none")}
    return long | {f"{share}, a quarter of the steps": row | {"scaled": {"steps": 0.25}} for share, row in long.items()}


def objectives(H: int) -> Rows:
    size = model(H, 12) if H >= 512 else {}
    return {"none": size | {"objective": "none"}, "NSP": size | {"objective": "nsp"}, "SOP": size}


def table5(H: int) -> Rows:
    """NSP once against any other document and once against other topics only; in stories also with a topic hard to see."""
    if H >= 512:  # real text: another document is another topic
        return {row.replace("NSP", "NSP, other topics"): changes for row, changes in objectives(H).items()}
    kinds = objectives(H) | {"NSP, other topics": {"objective": "nsp", "negatives": "topic"}}
    loud = {row: kind | {"config": {"embedding_size": H}} for row, kind in kinds.items()}
    return loud | {f"{row}, topic hard to see": kind | {"steps": 1200, "corpus": "stories"} for row, kind in kinds.items()}


def table5_text(H: int) -> Rows:
    return {row: kind | {"config": {"embedding_size": H}} for row, kind in objectives(H).items()}


def table7(H: int) -> Rows:
    size = model(H, deep(H, 2), E=H)
    return {"addresses": size, "addresses and reviews": size | {"corpus": "sotu+imdb"}}


def table8(H: int) -> Rows:
    size = model(H, deep(H, 2))["config"]
    return {"no dropout": {"config": size}, "dropout 0.1": {"config": size | {"hidden_dropout": 0.1, "attention_dropout": 0.1}}}


def table11(H: int, E: int | None = None) -> Rows:
    depths = (1, 3, 6, 12)
    cold = {f"L={L}": model(H, L, E) for L in depths}
    return cold | {f"L={L}, grown": model(H, L, E) | {"depths": depths[:i]} for i, L in enumerate(depths) if i}


def table11_text(H: int) -> Rows:
    return table11(H, E=H) | {"L=3, H/2": model(H // 2, 3, E=H), "L=3, 2H": model(2 * H, 3, E=H)}


def table12(H: int) -> Rows:
    return {told: model(width, 3, E=H // 2) for told, width in (("H/2", H // 2), ("H", H), ("2H", 2 * H))}


def table13(H: int) -> Rows:
    L = deep(H, 2)
    return {"2H, L": model(2 * H, L, E=H // 2), "2H, 2L": model(2 * H, 2 * L, E=H // 2)}


def early(H: int) -> Rows:
    L = deep(H, 2)
    wide = model(2 * H, L, E=2 * H, share="none")
    return {"BERT, H": model(H, L, E=H, share="none"), "BERT, 2H": wide,
            "BERT, 2H, half the rate": wide | {"scaled": {"learning_rate": 0.5}}}  # fmt: skip


def steps(H: int) -> Rows:
    """Twelve layers (on a card 24), grown as the pair of ``reproduce`` is, and from scratch: no layer begins as a copy."""
    L, depths = (24, (3, 6, 12)) if H >= 512 else (12, (2, 4))
    kinds = (("shared", "all"), ("separate", "none"))
    grown = {name: model(H, L, share=share) | {"depths": depths} for name, share in kinds}
    return grown | {f"{name}, cold": model(H, L, share=share) for name, share in kinds}


def gap(H: int) -> Rows:
    return {name: model(H, deep(H), share=share) for name, share in (("shared", "all"), ("separate", "none"))}
