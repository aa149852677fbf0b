"""One dataclass that describes every ALBERT and BERT of the paper, and small ones for a laptop.

BERT is not a second model: it is the corner where ``embedding_size == hidden_size`` (then there is
no projection) and ``share="none"``. Notebook 03 varies E, notebook 04 varies the sharing.
"""

import dataclasses
import os
from collections.abc import Collection
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, get_args

from albert_edu.errors import CourseError, InputError

Sharing = Literal["all", "attention", "ffn", "none"]
Activation = Literal["gelu_tanh", "gelu_erf"]


def check_whole(name: str, value: Any, low: int, high: int) -> None:
    """Raise InputError unless a value is a whole number from ``low`` to ``high``.

    True, None and text are no numbers. The error has the name, the value and the allowed range.
    """
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or not low <= value <= high:
        raise InputError(f"{name} must be a whole number from {low:,} to {high:,}, got {value!r}.")


def whole_from_environment(name: str, usual: int, kind: type[CourseError] = InputError) -> int:
    """Return the whole number that an environment variable holds, or the usual one without it.

    Raises ``kind`` for what is no whole number.
    """
    value = os.environ.get(name) or str(usual)
    if not value.isdecimal():
        raise kind(
            f"the environment has {name}={value}, which is no whole number of 0 or more: unset it."
        )
    return int(value)


def check_between(name: str, value: Any, low: float, high: float) -> None:
    """Raise InputError unless a value is a number from ``low`` to ``high``, whole or not.

    NaN, True, None and text are no numbers.
    """
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not low <= value <= high:
        raise InputError(f"{name} must be a number from {low:g} to {high:g}, got {value!r}.")


def check_one_of(name: str, value: object, allowed: Collection[object]) -> None:
    """Raise InputError unless a value is one of those that are allowed; the error has them all."""
    if value not in tuple(allowed):
        raise InputError(f"{name} must be one of {', '.join(map(str, allowed))}, got {value!r}.")


def make_plain(settings: Any) -> None:
    """Turn numbers that JSON does not know, such as ``np.int64(4)``, into Python's own."""
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        if isinstance(value, bool | int | float):
            continue
        if isinstance(value, Integral):
            object.__setattr__(settings, field.name, int(value))
        elif isinstance(value, Real):
            object.__setattr__(settings, field.name, float(value))


@dataclass(frozen=True)
class AlbertConfig:
    """The shape of a model. Letters are those of the formulas, the code and the figures.

    Raises InputError, naming the field and the values that work, when the numbers do not fit
    together.
    """

    vocab_size: int = 30_000  # V, tokens of the vocabulary; the paper's English models have 30,000
    embedding_size: int = 128  # E, width of the embedding table (section 3.1)
    hidden_size: int = 768  # H, width of the layers
    num_layers: int = 12  # L, applications of a layer, however few layers there are to apply
    num_heads: int = 12  # A, attention heads, each D = H/A wide
    ffn_size: int = 0  # F, inner width of the feed-forward block; 0 stands for 4H
    max_positions: int = 512  # longest sequence S
    num_segments: int = 2  # sentence A and sentence B
    # Which block the layers share (Table 4): "attention", "ffn" (the feed-forward block), "all" for
    # both, or "none". Each layer has its own of a block that is not shared.
    share: Sharing = "all"
    num_groups: int = 1  # G groups of consecutive layers share within (section 4.5); 1 for "none"
    hidden_dropout: int | float = 0.0  # v1 trained with 0.1 up to xlarge, v2 with 0
    attention_dropout: int | float = 0.0
    activation: Activation = "gelu_tanh"  # the authors' GELU is the tanh approximation
    layer_norm_eps: int | float = 1e-12
    init_std: int | float = 0.02  # of the truncated normal that matrices and tables start from
    pad_id: int = 0  # for config.json alone: the attention mask says what is padding

    def __post_init__(self) -> None:
        check_whole("vocab_size", self.vocab_size, 1, 10_000_000)
        check_whole("max_positions", self.max_positions, 1, 10_000_000)
        check_whole("embedding_size", self.embedding_size, 1, 1_000_000)
        check_whole("hidden_size", self.hidden_size, 1, 1_000_000)
        if self.ffn_size == 0:
            object.__setattr__(self, "ffn_size", 4 * self.hidden_size)
        check_whole("ffn_size", self.ffn_size, 1, 4_000_000)
        check_whole("num_layers", self.num_layers, 1, 10_000)
        check_whole("num_heads", self.num_heads, 1, 10_000)
        check_whole("num_segments", self.num_segments, 1, 10_000)
        check_one_of("share", self.share, get_args(Sharing))
        if self.share == "none":  # groups would change nothing, and a saved folder could not tell
            object.__setattr__(self, "num_groups", 1)
        check_whole("num_groups", self.num_groups, 1, self.num_layers)
        check_between("hidden_dropout", self.hidden_dropout, 0.0, 0.99)
        check_between("attention_dropout", self.attention_dropout, 0.0, 0.99)
        check_one_of("activation", self.activation, get_args(Activation))
        check_between("layer_norm_eps", self.layer_norm_eps, 0.0, 1.0)
        check_between("init_std", self.init_std, 1e-9, 10.0)
        check_whole("pad_id", self.pad_id, 0, self.vocab_size - 1)
        if self.hidden_size % self.num_heads != 0:
            raise InputError(
                f"hidden_size must be a multiple of num_heads, got {self.hidden_size} for "
                f"{self.num_heads} heads."
            )
        make_plain(self)

    @property
    def has_projection(self) -> bool:
        """Whether there is a projection from E to H. The authors' code has none when E == H."""
        return self.embedding_size != self.hidden_size

    @classmethod
    def named(cls, name: str, **changes: Any) -> "AlbertConfig":
        """Return the published or course size of that name, with fields changed by ``replace``.

        >>> config = AlbertConfig.named("albert-base-v2", num_layers=3)
        >>> config.hidden_size, config.num_layers
        (768, 3)
        """
        check_one_of("preset", name, PRESETS)
        return cls(**PRESETS[name]).replace(**changes)

    def replace(self, **changes: Any) -> "AlbertConfig":
        """Return a copy with fields changed.

        A new H takes F along where F was 4H, and E where E was H, so that a BERT stays a BERT.
        """
        if "hidden_size" in changes:
            if self.ffn_size == 4 * self.hidden_size:
                changes.setdefault("ffn_size", 0)
            if self.embedding_size == self.hidden_size:
                changes.setdefault("embedding_size", changes["hidden_size"])
        return dataclasses.replace(self, **changes)


def _albert(hidden: int, layers: int, heads: int, dropout: float) -> dict[str, Any]:
    """The fields of an ALBERT of the paper, whose embedding is 128 wide."""
    return {
        "hidden_size": hidden,
        "num_layers": layers,
        "num_heads": heads,
        "hidden_dropout": dropout,
        "attention_dropout": dropout,
    }


def _bert(hidden: int, layers: int, heads: int) -> dict[str, Any]:
    """The fields of a BERT: an embedding as wide as the layers, and nothing shared."""
    fields = _albert(hidden, layers, heads, dropout=0.1)
    fields["embedding_size"] = hidden
    fields["share"] = "none"
    return fields


def _course(hidden: int, embedding: int, layers: int, share: Sharing = "all") -> dict[str, Any]:
    """The fields of a model that trains on two cores, with heads that are 32 wide.

    A narrow layer sums fewer terms, so its weights start larger (0.02 at H = 768 becomes 0.049 at
    128); with 0.02 the loss stays at the unigram baseline for longer than a lesson lasts.
    """
    fields = _albert(hidden, layers, heads=hidden // 32, dropout=0.0)
    fields["vocab_size"] = 4000
    fields["embedding_size"] = embedding
    fields["max_positions"] = 128
    fields["init_std"] = round(0.02 * (768 / hidden) ** 0.5, 3)
    fields["share"] = share
    return fields


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
    # Of the course: a few minutes of training each.
    "albert-tiny": _course(64, 32, 2),
    "albert-mini": _course(128, 64, 4),
    "albert-small": _course(128, 64, 12),
    "bert-tiny": _course(64, 64, 2, share="none"),
    "bert-mini": _course(128, 128, 4, share="none"),
    "bert-small": _course(128, 128, 12, share="none"),
}
