"""Right answers to assignment 06, written in another style than ours."""

OTHER_STYLE = {
    "order_head": """
class OrderHead(nn.Module):
    def __init__(self, H, C=2):
        super().__init__()
        self.square = nn.Parameter(torch.randn(H, H) / H**0.5)
        self.lift = nn.Parameter(torch.zeros(H))
        self.decide = nn.Sequential(nn.Tanh(), nn.Linear(H, C))

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
    commonest = np.unique(y)[np.unique(y, return_counts=True)[1].argmax()]
    return np.mean(said == ty), np.array(recalls), (ty == commonest).mean()""",
}
