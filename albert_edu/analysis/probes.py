"""What a linear classifier can tell from frozen features, class by class (assignment 06).

A trained head answers the question that it was trained on. A fresh linear probe asks what the
features hold at all. The paper does not say which of the two its Table 5 reports off the diagonal,
so we report both.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

L2 = 1e-3  # how strong the penalty on large weights is


def linear_probe(
    features: Float[Tensor, "N D"],
    labels: Int[Tensor, "N"],
    test_features: Float[Tensor, "M D"],
    test_labels: Int[Tensor, "M"],
) -> tuple[float, list[float]]:
    """Fit a logistic regression on frozen features; return its accuracy on others, and its recalls.

    The recall is that of each true class, NaN if it does not occur. The problem is convex, so there
    is no seed and no learning rate to choose. Features are standardised with the training set's
    mean and spread. The penalty is ``L2`` times the squared norm of the weights.
    """
    mean = features.double().mean(0)
    spread = features.double().std(0).clamp(min=1e-6)
    x = (features.double() - mean) / spread  # N D
    x_test = (test_features.double() - mean) / spread  # M D
    D = features.shape[1]
    C = int(labels.max()) + 1
    weight = torch.zeros(D, C, dtype=torch.double, requires_grad=True)
    bias = torch.zeros(C, dtype=torch.double, requires_grad=True)
    optimizer = torch.optim.LBFGS([weight, bias], max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        """Return the loss in nats, with its gradient in the weights: what LBFGS calls."""
        optimizer.zero_grad()
        logits = x @ weight + bias  # N C
        value = F.cross_entropy(logits, labels) + L2 * weight.square().sum()
        value.backward()
        return value

    optimizer.step(loss)
    guess = (x_test @ weight + bias).argmax(-1)  # M
    right = (guess == test_labels).double()
    recalls = [right[test_labels == c].mean().item() for c in range(C)]
    return right.mean().item(), recalls
