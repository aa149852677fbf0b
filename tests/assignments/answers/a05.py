"""What a class hands in for assignment 05: the same answers in another style, and a known mistake for each."""

OTHER_STYLE = {
    "choose": """
def choose(rng, maskable, starts_word, max_ngram, rate, most=None):
    weights = [1 / n for n in range(1, max_ngram + 1)]
    chances = [weight / sum(weights) for weight in weights]
    rows = []
    for may, starts in zip(maskable.tolist(), starts_word.tolist()):
        stretches, before = [], False
        for place, (allowed, begins) in enumerate(zip(may, starts)):
            if allowed and not before:
                stretches.append([[place]])
            elif allowed and begins:
                stretches[-1].append([place])
            elif allowed:
                stretches[-1][-1].append(place)
            before = allowed
        runs = []
        for words in stretches:
            draws = iter((1 + rng.choice(max_ngram, size=len(words), p=chances)).tolist())
            while words:
                n = next(draws)
                runs.append(sum(words[:n], []))
                words = words[n:]
        budget = int(np.maximum(np.round(rate * (sum(may) + 3)), 1))
        if most is not None and most < budget:
            budget = most
        hidden = []
        rng.shuffle(runs)
        for run in runs:
            if len(hidden) + len(run) <= budget:
                hidden.extend(run)
        rows.append([place in hidden for place in range(len(may))])
    return torch.tensor(rows)""",
    "hide": """
def hide(rng, token_ids, masked, vocab_size, blank=0.8, other=0.1):
    seen, labels = [], []
    for ids, asked in zip(token_ids.tolist(), masked.tolist()):
        line = []
        for piece, wanted in zip(ids, asked):
            die = rng.random() if wanted else 2
            line.append(4 if die < blank else int(rng.integers(5, vocab_size)) if die < blank + other else piece)
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
            slots = positions.unsqueeze(-1).expand(*positions.shape, hidden.size(-1))
            hidden = torch.gather(hidden, 1, slots)
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

WRONG = {
    "choose": (
        """
def choose(rng, maskable, starts_word, max_ngram, rate, most=None):
    hidden = np.zeros(maskable.shape, bool)
    for row, may in enumerate(maskable):
        places = np.flatnonzero(may)
        words = np.split(places, np.flatnonzero(starts_word[row, places])[1:])
        left = max(1, round(rate * (len(places) + 3)))
        for start in rng.permutation(len(words)):
            run = []
            for word in words[start : start + rng.integers(1, max_ngram + 1)]:
                if len(run) + len(word) > left or (run and word[0] > run[-1] + 1):
                    break
                run += word.tolist()
            if not hidden[row, run].any():
                hidden[row, run] = True
                left -= len(run)
    return hidden""",
        "drawing n evenly from 1, 2, 3",
    ),
    "hide": (
        """
def hide(rng, token_ids, masked, vocab_size, blank=0.8, other=0.1):
    dice, strangers = rng.random(token_ids.shape), rng.integers(5, vocab_size, token_ids.shape)
    token_ids[masked & (dice < blank)] = 4
    some = masked & (dice >= blank) & (dice < blank + other)
    token_ids[some] = strangers[some]
    return token_ids, np.where(masked, token_ids, -100)""",
        "taking the labels after replacing",
    ),
    "head": (
        """
class Head(nn.Module):
    def __init__(self, config, word_embedding):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.embedding_size)
        self.norm = nn.LayerNorm(config.embedding_size)
        self.decoder = nn.Linear(config.embedding_size, config.vocab_size)

    def forward(self, hidden, positions=None):
        scores = self.decoder(self.norm(F.gelu(self.dense(hidden))))
        if positions is None:
            return scores
        return torch.stack([row[places] for row, places in zip(scores, positions)])""",
        "a decoder with a table of its own",
    ),
    "masked_token_loss": (
        """
def masked_token_loss(logits, labels, total=None):
    nats = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none")
    return nats.mean() if total is None else nats.sum() / total""",
        "averaging over all positions",
    ),
}
