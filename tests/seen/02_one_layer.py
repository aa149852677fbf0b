"""The text behind the last guess: another model without the block, and what a place alone says."""

from collections import Counter

torch.manual_seed(2)
other = AlbertForPretraining(mine.model.config)
with silenced(other, "ffn"):
    pretrain(other, lessons, settings, device="cpu", describe=None)
    other_loss = masked_loss(other, rows)
assert abs(other_loss - 2.66) < 0.15, other_loss
assert abs(without - loss["nothing"]) < 0.15, (without, loss)

corpus = lessons.corpus
starts, ends = corpus.sentences[:-1], corpus.sentences[1:]
third, eighth = (
    Counter(int(corpus.tokens[start + place]) for start in starts[ends - starts > place])
    for place in (2, 7)
)
assert {*third} == {mine.tokenizer.encode("the")[0]}, third
assert mine.tokenizer.pieces([eighth.most_common(1)[0][0]]) == ["."]
assert eighth.most_common(1)[0][1] > eighth.total() / 2
