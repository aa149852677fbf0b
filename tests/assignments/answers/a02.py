"""Right answers to assignment 02, written in another style than ours."""

OTHER_STYLE = {
    "attention": """
def attention(q, k, v, keep):
    scores = torch.einsum("baid,bajd->baij", q, k) * q.size(-1) ** -0.5
    allowed = keep[:, None, None].expand_as(scores).to(scores)
    highest = (scores - 1e9 * (1 - allowed)).amax(-1, keepdim=True).detach()
    powers = torch.exp((scores - highest).clamp(max=0)) * allowed
    total = powers.sum(-1, keepdim=True)
    weights = powers / torch.where(total > 0, total, torch.ones_like(total))
    return torch.einsum("baij,bajd->baid", weights, v), weights""",
    "heads_of_all": """
def heads_of_all(x, weight, bias, A):
    H = x.shape[-1]
    D = H // A
    found = []
    for part in range(3):
        rows = slice(part * H, (part + 1) * H)
        z = x @ weight[rows].T + bias[rows]
        found.append(torch.stack([z[:, :, a * D : (a + 1) * D] for a in range(A)], dim=1))
    return found""",
    "layer_norm": """
def layer_norm(x, gain, bias, eps=1e-12):
    variance, mean = torch.var_mean(x.double(), dim=-1, correction=0, keepdim=True)
    return ((x - mean) * torch.rsqrt(variance + eps) * gain + bias).to(x.dtype)""",
    "gelu_and_slope": """
def gelu_and_slope(x):
    inner = math.sqrt(8 / math.pi) * (x + 0.044715 * x.pow(3))
    share = torch.sigmoid(inner)  # half of 1 + tanh u is the sigmoid of 2u
    growth = math.sqrt(8 / math.pi) * (1 + 0.134145 * x * x)
    return x * share, share + x * share * torch.sigmoid(-inner) * growth""",
    "layer": """
def layer(x, attend, norm1, think, norm2, drop, norm_first=False):
    def nothing(y):
        return y

    before1, after1 = (norm1, nothing) if norm_first else (nothing, norm1)
    before2, after2 = (norm2, nothing) if norm_first else (nothing, norm2)
    middle = after1(torch.add(drop(attend(before1(x))), x))
    return after2(torch.add(drop(think(before2(middle))), middle))""",
}
