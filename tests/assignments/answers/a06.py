"""Right answers to assignment 06, written in another style than ours."""

OTHER_STYLE = {
    "make_pairs": """
def make_pairs(documents, length, n, rng):
    starts = [(d, i) for d, document in enumerate(documents) for i in range(len(document) - 1)
              if len(document[i]) + len(document[i + 1]) + 3 <= length]
    if len(starts) == 0:
        raise ValueError("nothing fits")
    pairs = []
    while len(pairs) < n:
        d, i = starts[int(rng.integers(len(starts)))]
        room, chunk = length - 3, []
        for sentence in documents[d][i:]:
            if len(sentence) > room:
                break
            room -= len(sentence)
            chunk.append(sentence)
        k = 1 + int(rng.integers(len(chunk) - 1))
        segments = [np.concatenate(chunk[:k]), np.concatenate(chunk[k:])]
        label = len(pairs) % 2
        if label == 1:
            segments.reverse()
        ids = np.concatenate([[2], segments[0], [3], segments[1], [3]])
        place = np.zeros(len(ids), int)
        place[len(segments[0]) + 2 :] = 1
        pairs.append([ids, place, label])
    return pairs""",
    "order_head": """
class OrderHead(nn.Module):
    def __init__(self, H):
        super().__init__()
        self.square = nn.Parameter(torch.randn(H, H) / H**0.5)
        self.lift = nn.Parameter(torch.zeros(H))
        self.decide = nn.Sequential(nn.Tanh(), nn.Linear(H, 2))

    def forward(self, last_hidden):
        first = last_hidden.transpose(0, 1)[0]
        return self.decide(torch.einsum("bi,ij->bj", first, self.square) + self.lift)""",
    "probe": """
def probe(features, labels, test_features, test_labels):
    x, tx = features.numpy().astype(float), test_features.numpy().astype(float)
    y, ty = labels.numpy(), test_labels.numpy()
    middle, spread = x.mean(axis=0), x.std(axis=0)
    spread = np.where(spread < 1e-9, 1, spread)
    x, tx = ((each - middle) / spread for each in (x, tx))
    weight = nn.Linear(x.shape[1], y.max() + 1).double()
    torch.nn.init.zeros_(weight.weight)
    optimizer = torch.optim.LBFGS(weight.parameters(), max_iter=300, line_search_fn="strong_wolfe")
    def closure():
        optimizer.zero_grad()
        loss = F.cross_entropy(weight(torch.tensor(x)), labels) + 1e-4 * (weight.weight**2).sum()
        loss.backward()
        return loss
    optimizer.step(closure)
    said = weight(torch.tensor(tx)).detach().numpy().argmax(axis=1)
    recalls = []
    for c in range(y.max() + 1):
        recalls.append(np.mean(said[ty == c] == c) if c in ty else float("nan"))
    return np.mean(said == ty), np.array(recalls)""",
}
