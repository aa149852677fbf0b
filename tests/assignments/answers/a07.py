"""What a class hands in for assignment 07: the same answers in another style, and a known mistake for each."""

OTHER_STYLE = {
    "lamb": """
import math

def lamb(weights, gradients, lr, decay):
    after = {}
    for name, tensor in weights.items():
        adapts = not name.endswith("bias") and ".norm." not in name
        w = tensor.double().flatten().tolist()
        m, v = [0.0] * len(w), [0.0] * len(w)
        for step in gradients:
            for i, g in enumerate(step[name].flatten().tolist()):
                m[i] += 0.1 * (g - m[i])
                v[i] += 0.001 * (g * g - v[i])
            u = [a / (math.sqrt(b) + 1e-6) for a, b in zip(m, v)]
            factor = lr
            if adapts:
                u = [a + decay * b for a, b in zip(u, w)]
                long, far = math.hypot(*w), math.hypot(*u)
                factor *= long / far if long and far else 1
            w = [a - factor * b for a, b in zip(w, u)]
        after[name] = torch.tensor(w).view(tensor.shape)
    return after""",
    "rates_from": """
def rates_from(first, settings):
    def rate(step):
        if step < settings.warmup_steps:
            return settings.learning_rate / settings.warmup_steps * (step + 1)
        return settings.learning_rate * (1 - (step - settings.warmup_steps) / (settings.steps - settings.warmup_steps))

    return torch.tensor(list(map(rate, range(first, settings.steps))))""",
    "step_in_parts": """
def step_in_parts(model, parts, optimizer):
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
    optimizer.step()
    optimizer.zero_grad()
    return nats / pieces""",
}

WRONG = {
    "lamb": (
        """
def lamb(weights, gradients, lr, decay):
    m, v = ({name: torch.zeros_like(w) for name, w in weights.items()} for _ in range(2))
    for t, step in enumerate(gradients, start=1):
        for name, w in weights.items():
            m[name] = 0.9 * m[name] + 0.1 * step[name]
            v[name] = 0.999 * v[name] + 0.001 * step[name] ** 2
            u = m[name] / (1 - 0.9**t) / ((v[name] / (1 - 0.999**t)).sqrt() + 1e-6)
            ratio = 1.0
            if not (name.endswith("bias") or ".norm." in name):
                u = u + decay * w
                ratio = w.norm() / u.norm() if w.any() and u.any() else 1.0
            weights[name] = w - lr * ratio * u
    return weights""",
        "correcting the bias of m and v",
    ),
    "rates_from": (
        """
def rates_from(first, settings):
    N, W = settings.steps, settings.warmup_steps
    t = torch.arange(first, N)
    return settings.learning_rate * torch.where(t < W, t / max(W, 1), (N - t) / max(N - W, 1))""",
        "the first step moves nothing",
    ),
    "step_in_parts": (
        """
def step_in_parts(model, parts, optimizer):
    optimizer.zero_grad()
    total = 0.0
    for part in parts:
        loss = model(part).masked_token_loss / len(parts)
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total""",
        "a mean of means",
    ),
}
