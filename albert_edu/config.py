"""One dataclass that describes every ALBERT and BERT of the paper, and small ones for a laptop.

BERT is not a second model: it is the corner where ``embedding_size == hidden_size`` (then there is
no projection) and ``share="none"``. Notebook 03 varies E, notebook 04 varies the sharing.
"""

import dataclasses
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Literal

from albert_edu.errors import InputError

Sharing = Literal["all", "attention", "ffn", "none"]
Activation = Literal["gelu_tanh", "gelu_erf"]


def check_numbers(settings: object, low: int | float, high: int | float, *names: str) -> None:
    """Raise ValueError unless each named field is a number from ``low`` to ``high``.

    ``settings`` has fields, or is a dict such as the ``locals()`` of a function, whose arguments
    are then checked. Only whole numbers are allowed if ``low`` is an int. NaN, True, None and
    text are no numbers. The error names the field, its value and the allowed range.
    """
    kind, word = (Integral, "whole number") if isinstance(low, int) else (Real, "number")
    limits = f"{low:,} to {high:,}" if kind is Integral else f"{low:g} to {high:g}"
    for name in names:
        value = settings[name] if isinstance(settings, dict) else getattr(settings, name)
        if isinstance(value, bool) or not isinstance(value, kind) or not low <= value <= high:
            raise InputError(f"{name} must be a {word} from {limits}, got {value!r}.")


def check_choices(settings: object, **allowed: tuple) -> None:
    """Raise ValueError unless each field, or argument, holds one of the values allowed for it."""
    for name, values in allowed.items():
        value = settings[name] if isinstance(settings, dict) else getattr(settings, name)
        if value not in values:
            raise InputError(f"{name} must be one of {', '.join(map(str, values))}, got {value!r}.")


@dataclass(frozen=True)
class AlbertConfig:
    """The shape of a model. Letters are those of the formulas, the code and the figures.

    Raises ValueError, naming the field and the values that work, when the numbers do not fit
    together.
    """

    vocab_size: int = 30_000  # V, tokens of the vocabulary; the paper's English models have 30,000
    embedding_size: int = 128  # E, width of the embedding table (section 3.1)
    hidden_size: int = 768  # H, width of the layers
    num_layers: int = 12  # L, applications of a layer, however few layers there are to apply
    num_heads: int = 12  # A, attention heads, each D = H/A wide
    ffn_size: int | None = None  # F, inner width of the feed-forward block; None means 4H
    max_positions: int = 512  # longest sequence S
    num_segments: int = 2  # sentence A and sentence B
    share: Sharing = "all"  # what the layers have in common (Table 4)
    num_groups: int = 1  # G groups of consecutive layers share within (section 4.5); 1 for "none"
    hidden_dropout: int | float = 0.0  # v1 trained with 0.1 up to xlarge, v2 with 0
    attention_dropout: int | float = 0.0
    activation: Activation = "gelu_tanh"  # the authors' GELU is the tanh approximation
    layer_norm_eps: int | float = 1e-12
    init_std: int | float = 0.02  # of the truncated normal that matrices and tables start from
    pad_id: int = 0

    def __post_init__(self):
        if self.ffn_size is None and isinstance(self.hidden_size, int):
            object.__setattr__(self, "ffn_size", 4 * self.hidden_size)
        if self.share == "none":  # groups would change nothing, and a saved folder could not tell
            object.__setattr__(self, "num_groups", 1)
        check_numbers(self, 1, 10_000_000, "vocab_size", "max_positions")
        check_numbers(self, 1, 1_000_000, "embedding_size", "hidden_size", "ffn_size")
        check_numbers(self, 1, 10_000, "num_layers", "num_heads", "num_segments")
        check_numbers(self, 1, self.num_layers, "num_groups")
        check_numbers(self, 0.0, 0.99, "hidden_dropout", "attention_dropout")
        check_numbers(self, 0.0, 1.0, "layer_norm_eps")
        check_numbers(self, 1e-9, 10.0, "init_std")
        check_numbers(self, 0, self.vocab_size - 1, "pad_id")
        check_choices(self, share=Sharing.__args__, activation=Activation.__args__)
        H, A = self.hidden_size, self.num_heads
        if H % A:
            raise InputError(f"hidden_size must be a multiple of num_heads, got {H} for {A} heads.")

    @property
    def has_projection(self) -> bool:
        """Whether there is a projection from E to H. The authors' code has none when E == H."""
        return self.embedding_size != self.hidden_size

    @classmethod
    def named(cls, name: str, **changes) -> "AlbertConfig":
        """Return the published or course size of that name, with fields changed by ``replace``.

        >>> config = AlbertConfig.named("albert-base-v2", num_layers=3)
        >>> config.hidden_size, config.num_layers
        (768, 3)
        """
        check_choices({"preset": name}, preset=tuple(PRESETS))
        return cls(**PRESETS[name]).replace(**changes)

    def replace(self, **changes) -> "AlbertConfig":
        """Return a copy with fields changed.

        A new H takes F along where F was 4H, and E where E was H, so that a BERT stays a BERT.
        """
        if "hidden_size" in changes:
            if self.ffn_size == 4 * self.hidden_size:
                changes.setdefault("ffn_size", None)
            if self.embedding_size == self.hidden_size:
                changes.setdefault("embedding_size", changes["hidden_size"])
        return dataclasses.replace(self, **changes)


def _albert(hidden: int, layers: int, heads: int, dropout: float) -> dict:
    sizes = dict(hidden_size=hidden, num_layers=layers, num_heads=heads)
    return dict(sizes, hidden_dropout=dropout, attention_dropout=dropout)


def _bert(hidden: int, layers: int, heads: int) -> dict:
    return dict(_albert(hidden, layers, heads, 0.1), embedding_size=hidden, share="none")


def _course(hidden: int, embedding: int, layers: int) -> dict:
    std, sizes = round(0.02 * (768 / hidden) ** 0.5, 3), _albert(hidden, layers, hidden // 32, 0.0)
    return sizes | dict(vocab_size=4000, embedding_size=embedding, max_positions=128, init_std=std)


# The paper's Table 1, with the heads (16 for xlarge, although section 3.1 says H/64) and dropout of
# the released configurations: v1 has 0.1 except in xxlarge, v2 has none. BERT-xlarge is only in the
# early versions of the paper.
PRESETS = {
    "albert-base-v1": _albert(768, 12, 12, 0.1),
    "albert-large-v1": _albert(1024, 24, 16, 0.1),
    "albert-xlarge-v1": _albert(2048, 24, 16, 0.1),
    "albert-xxlarge-v1": _albert(4096, 12, 64, 0.0),
    "albert-base-v2": _albert(768, 12, 12, 0.0),
    "albert-large-v2": _albert(1024, 24, 16, 0.0),
    "albert-xlarge-v2": _albert(2048, 24, 16, 0.0),
    "albert-xxlarge-v2": _albert(4096, 12, 64, 0.0),
    "bert-base": _bert(768, 12, 12),
    "bert-large": _bert(1024, 24, 16),
    "bert-xlarge": _bert(2048, 24, 16),
    # Course sizes train for a few minutes on two cores. A narrow layer sums fewer terms, so its
    # weights start larger (0.02 at H = 768 becomes 0.049 at 128); with 0.02 the loss stays at the
    # unigram baseline for longer than a lesson lasts.
    "albert-tiny": _course(64, 32, 2),
    "albert-mini": _course(128, 64, 4),
    "albert-small": _course(128, 64, 12),
    "bert-tiny": _course(64, 64, 2) | {"share": "none"},
    "bert-mini": _course(128, 128, 4) | {"share": "none"},
    "bert-small": _course(128, 128, 12) | {"share": "none"},
}
