"""What a class hands in for assignment 10: the same answers in another style, and a known mistake for each."""

OTHER_STYLE = {
    "flops": """
def flops(config, S, training):
    H, A, count = config.hidden_size, config.num_heads, 0

    def product(rows, inner, columns):
        nonlocal count
        count += 2 * rows * inner * columns * (1 + 2 * training)

    if config.embedding_size != H:
        product(1, config.embedding_size, H)
    for _ in range(config.num_layers):
        for _ in range(A):
            for _ in "qkv":
                product(1, H, H // A)
            product(1, H // A, S)
            product(1, S, H // A)
        product(1, H, H)
        product(1, H, config.ffn_size)
        product(1, config.ffn_size, H)
    return count""",
    "checkpointed": """
from torch.utils.checkpoint import checkpoint


def checkpointed(layers, x, keep=None):
    given = [] if keep is None else [keep]
    for layer in layers:
        x = checkpoint(layer, x, *given, use_reentrant=False)
    return x""",
    "recompute_same": '''
class RecomputeSame(torch.autograd.Function):
    """The state travels among the saved tensors and is put back by hand."""

    @staticmethod
    def forward(ctx, block, x, *weights):
        ctx.save_for_backward(x, torch.random.get_rng_state())
        ctx.run = block
        return block(x)

    @staticmethod
    def backward(ctx, back):
        x, before = ctx.saved_tensors
        now = torch.random.get_rng_state()
        torch.random.set_rng_state(before)
        with torch.enable_grad():
            leaf = x.clone().detach().requires_grad_(True)
            loss = (ctx.run(leaf) * back).sum()
        torch.random.set_rng_state(now)
        return (None, *torch.autograd.grad(loss, [leaf] + list(ctx.run.parameters())))''',
    "inverse": """
def inverse(couplings, y1, y2, down_to=0):
    L = len(couplings)
    if down_to not in range(L + 1):
        raise ValueError(f"{down_to} of {L}")
    if down_to == L:
        return [y1, y2]
    *before, (F, G) = couplings
    x2 = y2 - G(y1)
    x1 = y1 - F(x2)
    return inverse(before, x1, x2, down_to)""",
}

WRONG = {
    "flops": (
        """
def flops(config, S, training):
    E, H, F = config.embedding_size, config.hidden_size, config.ffn_size
    weights = config.num_layers * (4 * H * H + 2 * H * F) + (E * H if E != H else 0)
    return (6 if training else 2) * weights""",
        "leaving out the attention scores and the mixing, which grow with S",
    ),
    "checkpointed": (
        """
class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, layer, extra, x, *weights):
        ctx.layer, ctx.extra = layer, extra
        ctx.save_for_backward(x)
        return layer(x, *extra)

    @staticmethod
    def backward(ctx, back):
        x = ctx.saved_tensors[0].detach().requires_grad_()
        with torch.enable_grad():
            again = ctx.layer(x, *ctx.extra)
        return None, None, *torch.autograd.grad(again, (x, *ctx.layer.parameters()), back)


def checkpointed(layers, x, keep=None):
    for layer in layers:  # each input a leaf, so that it can have a gradient
        leaf = x.detach().requires_grad_()
        x = Again.apply(layer, () if keep is None else (keep,), leaf, *layer.parameters())
    return x""",
        "letting only the last layer learn",
    ),
    "recompute_same": (
        '''
class RecomputeSame(torch.autograd.Function):
    """Forks, and forgets to set the state."""

    @staticmethod
    def forward(ctx, block, x, *weights):
        ctx.block = block
        ctx.save_for_backward(x)
        return block(x)

    @staticmethod
    def backward(ctx, back):
        x = ctx.saved_tensors[0].detach().requires_grad_()
        with torch.random.fork_rng(), torch.enable_grad():
            y = ctx.block(x)
        return None, *torch.autograd.grad(y, (x, *ctx.block.parameters()), back)''',
        "drawing another dropout in the second run",
    ),
    "inverse": (
        """
def inverse(couplings, y1, y2, down_to=0):
    for F, G in couplings:
        y2 = y2 - G(y1)
        y1 = y1 - F(y2)
    return y1, y2""",
        "undoing the first coupling first",
    ),
}
