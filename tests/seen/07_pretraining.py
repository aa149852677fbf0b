"""The folded experiments: a deleted line, and the cures of A, B and C."""

from copy import deepcopy


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

ill = new_model(seed=1)
train(ill, 300, batch_at=mixed_up)
ends = {}
for name, patient in {"A": A, "other A": ill, "C": C, "new": new_model()}.items():
    ends[name] = sum(train(deepcopy(patient), 150)[-20:]) / 20
assert min(ends["A"], ends["C"]) > levels.unigram - 0.15, ends
assert ends["new"] < ends["other A"] < levels.unigram - 0.3, ends

older = {"B": deepcopy(B), "healthy": deepcopy(healthy)}
older["B"].albert.encoder.ffn[0].up.bias.data.fill_(0.0)
worth = {}
for name, each in older.items():
    train(each, 300)
    exam = health(each, unseen, 4)
    worth[name] = exam.without_ffn - exam.loss
    assert min(exam.open_units) > 0.9 and abs(exam.loss - 2.2) < 0.2, exam
assert worth["B"] < 0.3 < worth["healthy"], worth
