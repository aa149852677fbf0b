"""Right answers to assignment 04, written in another style than ours."""

OTHER_STYLE = {
    "layer_plan": """
def layer_plan(L, share, G=1, order="sequence"):
    if order not in {"sequence", "cycle"} or G < 1 or G > L or share not in {"all", "attention", "ffn", "none"}:
        raise ValueError("no such plan")
    plan = []
    for i in range(L):
        g = max(g for g in range(G) if g * L <= i * G)
        g = i % G if order == "cycle" else g
        first = g if share in ("all", "attention") else i
        plan += [(first, g if share in ("all", "ffn") else i)]
    return tuple(plan)""",
    "encoder": """
class Encoder(nn.Module):
    def __init__(self, make_attention, make_ffn, L, share, G=1):
        super().__init__()
        self.L, self.G = L, G
        makers = {"attention": make_attention, "ffn": make_ffn}
        self.blocks = nn.ModuleDict({half: nn.ModuleList() for half in makers})
        for half, make in makers.items():
            number = G if share in ("all", half) else L
            self.blocks[half].extend([make() for _ in range(number)])

    def forward(self, x, depth=None):
        depth = self.L if depth is None else depth
        if not depth:
            return x
        x = self.forward(x, depth - 1)
        for blocks in self.blocks.values():
            x = blocks[(depth - 1) * len(blocks) // self.L](x)
        return x""",
    "gradient_of_each": """
def gradient_of_each(apply, W, x, L, loss):
    stack = torch.stack([W] * L).detach().requires_grad_()
    for number, layer in enumerate(stack.unbind()):
        x = apply(layer, x, number)
    loss(x).backward()
    return stack.grad""",
    "loss_with_last_only": """
def loss_with_last_only(model, batch, n=1):
    encoder, mask = model.albert.encoder, batch.attention_mask.bool()
    x = model.albert.embeddings(batch.token_ids, batch.segment_ids)
    for i in range(model.config.num_layers):
        x = x.detach() if i == model.config.num_layers - n else x
        x = encoder.ffn[0](encoder.attention[0](x, mask))
    rows = torch.arange(len(x))[:, None]
    logits = model.masked_token_head(x[rows, batch.masked_positions])
    labels = batch.masked_labels.flatten()
    return nn.functional.cross_entropy(logits.flatten(0, 1), labels, ignore_index=-100)""",
}
