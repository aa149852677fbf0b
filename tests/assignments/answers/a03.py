"""What a class hands in for assignment 03: the same answers in another style, and a known mistake for each."""

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
        self.tables = nn.ParameterDict({name: 0.1 * torch.randn(n, E) for name, n in (("piece", V), ("place", P), ("text", 2))})
        self.bias, self.gain = nn.Parameter(torch.zeros(E)), nn.Parameter(torch.ones(E))
        self.maps = nn.ParameterList([torch.randn(E, H) / E**0.5, torch.zeros(H)] if E != H else [])

    def forward(self, token_ids, segment_ids):
        S = token_ids.shape[-1]
        if S > len(self.tables["place"]):
            raise ValueError(f"{S} tokens, {len(self.tables['place'])} places")
        x = self.tables["piece"][token_ids] + self.tables["text"][segment_ids] + self.tables["place"][:S]
        x = x - x.mean(-1, keepdim=True)
        x = x / (x.square().mean(-1, keepdim=True) + 1e-12).sqrt() * self.gain + self.bias
        return x @ self.maps[0] + self.maps[1] if len(self.maps) else x

    def scores(self, x):
        return torch.einsum("...e,ve->...v", x, self.tables["piece"])""",
    "count": """
def count(V, E, H, L, share):
    def linear(n, m):
        return n * m + m

    norm = {width: 2 * width for width in (E, H)}
    total = sum(rows * E for rows in (V, 512, 2)) + norm[E] + linear(H, H)
    if E != H:
        total += linear(E, H)
    for i in range(L):
        if i == 0 or share not in ("all", "attention"):
            total += 4 * linear(H, H) + norm[H]
        if i == 0 or share not in ("all", "ffn"):
            total += linear(H, 4 * H) + linear(4 * H, H) + norm[H]
    return total""",
}

WRONG = {
    "widest": (
        """
def widest(V, H, budget, others=0):
    return max(0, min(H - 1, round((budget - H) / (V + H))))""",
        "rounding to the nearest whole number",
    ),
    "embedding": (
        """
class Embedding(nn.Module):
    def __init__(self, V, E, H, P):
        super().__init__()
        self.word, self.place, self.side = nn.Embedding(V, E), nn.Embedding(P, E), nn.Embedding(2, E)
        self.map = nn.Linear(E, H) if E != H else nn.Identity()
        self.norm = nn.LayerNorm(H, eps=1e-12)

    def forward(self, token_ids, segment_ids):
        x = self.word(token_ids) + self.place(torch.arange(token_ids.shape[1])) + self.side(segment_ids)
        return self.norm(self.map(x))

    def scores(self, x):
        return x @ self.word.weight.detach().T""",
        "norming at width H",
    ),
    "count": (
        """
def count(V, E, H, L, share):
    blocks = {"all": (1, 1), "attention": (L, 1), "ffn": (1, L), "none": (L, L)}[share]
    layer = blocks[0] * (4 * H * H + 6 * H) + blocks[1] * (8 * H * H + 7 * H)
    return (V + 516) * E + (E * H + H) * (E != H) + layer + H * H + H""",
        "exchanging the halves",
    ),
}
