"""What a class hands in for assignment 08: the same answers in another style, and a known mistake for each."""

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
        sharp = {i + 1: abs(curve[i - 1] - 2 * curve[i] + curve[i + 1]) for i in range(2, len(curve) - 1)}
        signs = [np.sign(b - a) for a, b in zip(curve[1:], curve[2:])]
        bends.append(np.mean(list(sharp.values())))
        changes.append(sum({a, b} == {-1, 1} for a, b in zip(signs, signs[1:])))
        where.append(max(sharp, key=sharp.get))
    return torch.tensor(bends), torch.tensor(changes), torch.tensor(where)""",
    "update_cosine": """
def update_cosine(hidden_states, attention_mask, lag=1):
    weight = attention_mask.double()
    weight[:, 0] = 0
    units = []
    for before, after in zip(hidden_states, hidden_states[1:]):
        step = (after - before).double()
        units.append(step / step.square().sum(-1, keepdim=True).sqrt().clamp(min=1e-12))
    found = [torch.einsum("bsh,bsh,bs->", units[i], units[i + lag], weight) for i in range(len(units) - lag)]
    return torch.stack(found) / weight.sum()""",
}

WRONG = {
    "similarity": (
        """
def similarity(batches):
    distances, degrees = [], []
    for hidden_states, attention_mask in batches:
        votes = attention_mask.bool()
        votes[:, 0] = False
        h = torch.stack(hidden_states).double()[:, votes]
        cosines = F.cosine_similarity(h[1:], h[:-1], dim=-1).clamp(-1, 1)
        distances.append((h[1:] - h[:-1]).norm(dim=-1).mean(1))
        degrees.append(torch.rad2deg(cosines.arccos()).mean(1))
    return torch.stack(distances).mean(0), torch.stack(degrees).mean(0)""",
        "averaging within each sequence first",
    ),
    "roughness": (
        """
def roughness(curves):
    slopes = curves.diff()
    bends = slopes.diff().abs()
    return bends.mean(-1), (slopes[:, 1:] * slopes[:, :-1] < 0).sum(-1), bends.argmax(-1) + 2""",
        "counting step 1 in",
    ),
    "update_cosine": (
        """
def update_cosine(hidden_states, attention_mask, lag=1):
    votes = attention_mask.bool()
    votes[:, 0] = False
    states = torch.stack(hidden_states)[1:, votes]
    return F.cosine_similarity(states[:-lag], states[lag:], dim=-1).mean(-1)""",
        "comparing states instead of steps",
    ),
}
