"""Right answers to assignment 05, written in another style than ours."""

OTHER_STYLE = {
    "hide": """
def hide(rng, token_ids, masked, vocab_size, blank=0.8, other=0.1):
    seen, labels = [], []
    for ids, asked in zip(token_ids.tolist(), masked.tolist()):
        line = []
        for piece, wanted in zip(ids, asked):
            die = rng.random() if wanted else 2
            if blank <= die < blank + other:
                piece = rng.integers(5, vocab_size)
            line.append(4 if die < blank else piece)
        seen.append(line)
        labels.append([piece if wanted else -100 for piece, wanted in zip(ids, asked)])
    return [np.array(seen), np.array(labels)]""",
    "head": """
class Head(nn.Module):
    def __init__(self, config, word_embedding):
        super().__init__()
        self.down = nn.Linear(config.hidden_size, config.embedding_size)
        self.norm = nn.LayerNorm(config.embedding_size)
        self.decoder = nn.Linear(config.embedding_size, config.vocab_size)
        self.decoder.weight = word_embedding.weight

    def forward(self, hidden, positions=None):
        if positions is not None:
            index = positions.unsqueeze(-1).expand(*positions.shape, hidden.size(-1))
            hidden = torch.gather(hidden, 1, index)
        x = self.down(hidden)
        x = x * (1 + torch.erf(x / math.sqrt(2))) / 2
        return self.decoder(self.norm(x))""",
    "masked_token_loss": """
def masked_token_loss(logits, labels, total=None):
    votes = (labels != -100).double()
    log_p = logits.double().log_softmax(dim=2)
    taken = torch.gather(log_p, 2, labels.clamp(min=0).unsqueeze(2)).squeeze(2)
    count = votes.sum().clamp(min=1) if total is None else total
    return (votes * -taken).sum() / count""",
}
