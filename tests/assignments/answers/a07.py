"""Right answers to assignment 07, written in another style than ours."""

OTHER_STYLE = {
    "rates_from": """
def rates_from(first, settings):
    def rate(step):
        if step < settings.warmup_steps:
            return settings.learning_rate / settings.warmup_steps * (step + 1)
        length = settings.steps - settings.warmup_steps
        return settings.learning_rate * (1 - (step - settings.warmup_steps) / length)

    return torch.tensor(list(map(rate, range(first, settings.steps))))""",
    "step_in_parts": """
def step_in_parts(model, parts, optimizer, limit=None):
    nats = 0
    for part in parts:
        if (part.masked_labels >= 0).any():
            loss = model(part).masked_token_loss * part.num_masked
            loss.backward()
            nats = nats + loss.detach()
    pieces = torch.cat([part.masked_labels.flatten() for part in parts]).ge(0).sum()
    with torch.no_grad():
        for p in model.parameters():
            if p.grad is not None:
                p.grad.div_(pieces)
        grads = [p.grad for p in model.parameters() if p.grad is not None]
        norm = torch.cat([g.flatten() for g in grads]).norm()
        if limit is not None and norm > limit:
            torch._foreach_mul_(grads, limit / norm)
    optimizer.step()
    optimizer.zero_grad()
    return nats / pieces""",
}
