"""Right answers to assignment 08, written in another style than ours."""

OTHER_STYLE = {
    "similarity": """
import math

def similarity(batches):
    rows = []
    for states, mask in batches:
        for state, pieces in zip(zip(*states), mask.sum(1).tolist()):
            for place in range(1, pieces):
                path, row = [one[place].double() for one in state], []
                for x, y in zip(path, path[1:]):
                    a, b = x / x.norm(), y / y.norm()
                    half = math.atan2((a - b).norm(), (a + b).norm())
                    row.append((float((x - y).norm()), math.degrees(2 * half)))
                rows.append(row)
    return [torch.tensor([math.fsum(column) / len(rows) for column in zip(*kind)])
            for kind in zip(*([tuple(zip(*row)) for row in rows]))]""",
    "roughness": """
import numpy as np

def roughness(curves):
    bends, changes, where = [], [], []
    for curve in curves.double().numpy():
        sharp = {i + 1: abs(curve[i - 1] - 2 * curve[i] + curve[i + 1])
                 for i in range(2, len(curve) - 1)}
        signs = [np.sign(b - a) for a, b in zip(curve[1:], curve[2:])]
        bends.append(np.mean(list(sharp.values())))
        changes.append(sum({a, b} == {-1, 1} for a, b in zip(signs, signs[1:])))
        where.append(max(sharp, key=sharp.get))
    return bends, changes, where""",
    "update_cosine": """
def update_cosine(hidden_states, attention_mask, lag=1):
    weight = attention_mask.double()
    weight[:, 0] = 0
    units = []
    for before, after in zip(hidden_states, hidden_states[1:]):
        step = (after - before).double()
        units.append(step / step.square().sum(-1, keepdim=True).sqrt().clamp(min=1e-12))
    found = [torch.einsum("bsh,bsh,bs->", units[i], units[i + lag], weight)
             for i in range(len(units) - lag)]
    return torch.stack(found) / weight.sum()""",
}
