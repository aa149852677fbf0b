"""A linear probe finds what is linear in the features and nothing else."""

import torch

from albert_edu.analysis.probes import linear_probe


def test_a_probe_finds_a_linear_signal_whatever_its_scale_and_offset():
    x = torch.randn(600, 6)
    labels = (x[:, 2] > 0.1).long()
    features = x * torch.tensor([1.0, 1e3, 1e-4, 1, 1, 1]) + 50
    accuracy, _ = linear_probe(features[:400], labels[:400], features[400:], labels[400:])
    assert accuracy > 0.97


def test_a_probe_cannot_see_an_exclusive_or_unless_the_features_hold_it():
    x = torch.randn(2000, 2)
    labels = (x[:, 0] * x[:, 1] > 0).long()
    bent = torch.cat([x, x.prod(1, keepdim=True)], dim=1)
    for features, low, high in ((x, 0.35, 0.65), (bent, 0.97, 1)):
        accuracy, _ = linear_probe(features[:1000], labels[:1000], features[1000:], labels[1000:])
        assert low < accuracy <= high


def test_a_constant_answer_has_recall_one_and_zero():
    nothing, labels = torch.zeros(4, 1), torch.tensor([0, 0, 0, 1])
    assert linear_probe(nothing, labels, nothing, labels) == (0.75, [1.0, 0.0])
