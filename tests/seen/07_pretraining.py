"""The folded experiments: a deleted line, and the cures of A, B and C."""

import contextlib
import io


def without_zero_grad(seed):
    """Run the first loop for 101 steps without ``zero_grad()``; return what the model writes."""
    model = new_model(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.002)
    for step in range(101):
        model(stream.batch(step)).loss.backward()
        optimizer.step()
    return write(model)


frequent = {"the", ".", "at", "with", "in"}
for seed in (0, 1):
    _, *gaps, _ = without_zero_grad(seed).split()
    assert frequent.issuperset(gaps), gaps

said = io.StringIO()
with contextlib.redirect_stdout(said):
    exec(FOLDED["Can A and C be cured?"][0])
ends = {}
for line in said.getvalue().splitlines():
    name, loss = line.rsplit(" ", 1)
    ends[name] = float(loss)
assert min(ends["A"], ends["C"]) > levels.unigram - 0.15, ends
assert ends["new"] < ends["A, other weights"] < levels.unigram - 0.3, ends

with contextlib.redirect_stdout(said):
    exec(FOLDED["Can B be cured?"][0])
assert "B dead feed-forward" in said.getvalue(), said.getvalue()
worth = {}
for name, each in older.items():
    exam = health(each, unseen, 4)
    worth[name] = exam.without_ffn - exam.loss
    assert min(exam.open_units) > 0.9 and abs(exam.loss - 2.2) < 0.2, exam
assert worth["B"] < 0.3 < worth["healthy"], worth
