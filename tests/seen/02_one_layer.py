"""What the page says without a cell: one more model without the block, a place alone, the exact GELU."""

from collections import Counter
from copy import deepcopy

torch.manual_seed(1)
other = AlbertForPretraining(mine.model.config)
with silenced(other, "ffn"):
    pretrain(other, lessons, settings, device="cpu", describe=None)
    other_loss = masked_loss(other, rows)
assert abs(other_loss - 2.74) < 0.15, other_loss
assert abs(without - loss["nothing"]) < 0.15, (without, loss)

corpus = lessons.corpus
starts, ends = corpus.sentence_offsets[:-1], corpus.sentence_offsets[1:]
at = {}  # by place: how often each token stands there
for place in (2, 7):
    long_enough = starts[ends - starts > place]
    at[place] = Counter(corpus.tokens[long_enough + place].tolist())
third, eighth = at[2], at[7]
assert {*third} == {mine.tokenizer.encode("the")[0]}, third
token, times = eighth.most_common(1)[0]
assert mine.tokenizer.pieces([token]) == ["."] and times > eighth.total() / 2

exact = deepcopy(encoder)
exact.ffn[0].activation = nn.GELU()
with torch.no_grad():
    theirs_exactly = exact.layer(x, exact.plan[0], None)
    assert torch.allclose(layer(x), theirs_exactly, atol=1e-5)
