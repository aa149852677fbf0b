"""Right answers to assignment 03, written in another style than ours."""

OTHER_STYLE = {
    "widest": """
def widest(V, H, budget, others=0):
    low, high = 0, H - 1  # low is affordable, what is above high is not
    while low < high:
        E = (low + high + 1) // 2
        if (V + others + H) * E + H <= budget:
            low = E
        else:
            high = E - 1
    return low""",
    "embedding": """
class Embedding(nn.Module):
    def __init__(self, V, E, H, P):
        super().__init__()
        sizes = {"token": V, "place": P, "text": 2}
        self.tables = nn.ParameterDict({name: 0.1 * torch.randn(n, E)
                                        for name, n in sizes.items()})
        self.bias, self.gain = nn.Parameter(torch.zeros(E)), nn.Parameter(torch.ones(E))
        self.maps = nn.ParameterList([torch.randn(E, H) / E**0.5, torch.zeros(H)] if E != H else [])

    def forward(self, token_ids, segment_ids):
        S = token_ids.shape[-1]
        if S > len(self.tables["place"]):
            raise ValueError(f"{S} tokens, {len(self.tables['place'])} places")
        x = self.tables["token"][token_ids] + self.tables["text"][segment_ids]
        x = x + self.tables["place"][:S]
        x = x - x.mean(-1, keepdim=True)
        x = x / (x.square().mean(-1, keepdim=True) + 1e-12).sqrt() * self.gain + self.bias
        return x @ self.maps[0] + self.maps[1] if len(self.maps) else x

    def scores(self, x):
        return torch.einsum("...e,ve->...v", x, self.tables["token"])""",
    "count": """
def count(V, E, H, L, share, G=1):
    def linear(n, m):
        return n * m + m

    norm = {width: 2 * width for width in (E, H)}
    total = sum(rows * E for rows in (V, 512, 2)) + norm[E] + linear(H, H)
    if E != H:
        total += linear(E, H)
    for i in range(L):
        if i < G or share not in ("all", "attention"):
            total += 4 * linear(H, H) + norm[H]
        if i < G or share not in ("all", "ffn"):
            total += linear(H, 4 * H) + linear(4 * H, H) + norm[H]
    return total""",
}
