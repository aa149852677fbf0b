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
    mean, spread = features.double().mean(0), features.double().std(0).clamp(min=1e-6)
    x, x_test = ((part.double() - mean) / spread for part in (features, test_features))
    weight = torch.zeros(x.shape[1], int(labels.max()) + 1, dtype=torch.double, requires_grad=True)
    bias = torch.zeros(weight.shape[1], dtype=torch.double, requires_grad=True)
    optimizer = torch.optim.LBFGS([weight, bias], max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        """Return the loss in nats, with its gradient in the weights: what LBFGS calls."""
        optimizer.zero_grad()
        value = F.cross_entropy(x @ weight + bias, labels) + L2 * weight.square().sum()
        value.backward()
        return value

    optimizer.step(loss)
    right = ((x_test @ weight + bias).argmax(-1) == test_labels).double()
    recalls = [right[test_labels == c].mean().item() for c in range(weight.shape[1])]
    return right.mean().item(), recalls
