"""One dataclass that describes every ALBERT and BERT of the paper, and small ones for a laptop.

BERT is not a second model: it is the corner where ``embedding_size == hidden_size`` (then there is no projection) and
``share="none"``. Notebook 03 walks along E, notebook 04 along the sharing.
"""

import dataclasses
import difflib
from dataclasses import dataclass
from typing import Literal

Sharing = Literal["all", "attention", "ffn", "none"]
Activation = Literal["gelu_tanh", "gelu_erf"]


@dataclass(frozen=True)
class AlbertConfig:
    """The shape of a model. Letters in brackets are those of the formulas, the code and the figures.

    Raises ValueError, naming the field and the nearest value that works, when the numbers do not fit together.
    """

    vocab_size: int = 30_000  # V, pieces of the tokenizer; the paper's English models have 30,000
    embedding_size: int = 128  # E, width of the embedding table (section 3.1)
    hidden_size: int = 768  # H, width of the layers
    num_layers: int = 12  # L, applications of a layer, however few layers there are to apply
    num_heads: int = 12  # A, attention heads, each D = H/A wide
    ffn_size: int | None = None  # F, inner width of the feed-forward block; None means the paper's 4H
    max_positions: int = 512  # longest sequence S
    num_segments: int = 2  # sentence A and sentence B
    share: Sharing = "all"  # what the layers have in common (Table 4)
    num_groups: int = 1  # G, sharing happens within G groups of consecutive layers (section 4.5)
    hidden_dropout: float = 0.0  # v1 trained with 0.1 up to xlarge, v2 with 0
    attention_dropout: float = 0.0
    activation: Activation = "gelu_tanh"  # the original's GELU is the tanh approximation
    layer_norm_eps: float = 1e-12
    init_std: float = 0.02  # of the truncated normal that matrices and tables start from
    pad_id: int = 0

    def __post_init__(self):
        if self.ffn_size is None:
            object.__setattr__(self, "ffn_size", 4 * self.hidden_size)
        for name in ("vocab_size", "embedding_size", "hidden_size", "num_layers", "num_heads", "ffn_size",
                     "max_positions", "num_segments", "num_groups"):  # fmt: skip
            if not isinstance(getattr(self, name), int) or getattr(self, name) < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, got {getattr(self, name)!r}.")
        if self.hidden_size % self.num_heads:
            width = self.hidden_size / self.num_heads
            below = self.hidden_size // self.num_heads * self.num_heads
            sizes = ", ".join(str(size) for size in (below, below + self.num_heads) if size)
            raise ValueError(
                f"hidden_size {self.hidden_size} cannot be split over {self.num_heads} heads "
                f"({self.hidden_size} / {self.num_heads} = {width:.2f}). Nearest sizes that can: {sizes}."
            )
        for name, allowed in (("share", Sharing), ("activation", Activation)):
            if getattr(self, name) not in allowed.__args__:
                raise ValueError(f"{name} must be one of {', '.join(allowed.__args__)}, got {getattr(self, name)!r}.")
        if self.num_groups > self.num_layers:
            raise ValueError(f"num_groups {self.num_groups} is more than the {self.num_layers} layers there are to group.")
        for name in ("hidden_dropout", "attention_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} is a probability below 1, got {getattr(self, name)}.")
        if not self.init_std > 0:
            raise ValueError(f"init_std must be above 0, got {self.init_std}.")
        if not 0 <= self.pad_id < self.vocab_size:
            raise ValueError(f"pad_id {self.pad_id} is not one of the {self.vocab_size} pieces.")

    @property
    def factorised(self) -> bool:
        """Whether there is a projection from E to H. The original has none when E == H; transformers always has one."""
        return self.embedding_size != self.hidden_size

    @classmethod
    def named(cls, name: str, **changes) -> "AlbertConfig":
        """The published or course size of that name, with fields changed.

        >>> AlbertConfig.named("albert-base-v2").hidden_size, AlbertConfig.named("albert-base-v2", num_layers=3).num_layers
        (768, 3)
        """
        if name not in PRESETS:
            near = difflib.get_close_matches(name, PRESETS, n=1, cutoff=0.3)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"there is no preset {name!r}.{hint} Presets: {', '.join(PRESETS)}.")
        return cls(**{**PRESETS[name], **changes})

    def replace(self, **changes) -> "AlbertConfig":
        """A copy with fields changed; F follows H unless it was set to something other than 4H."""
        if "hidden_size" in changes and self.ffn_size == 4 * self.hidden_size:
            changes.setdefault("ffn_size", None)
        return dataclasses.replace(self, **changes)


def _albert(hidden: int, layers: int, heads: int, dropout: float) -> dict:
    return dict(hidden_size=hidden, num_layers=layers, num_heads=heads, hidden_dropout=dropout, attention_dropout=dropout)


def _bert(hidden: int, layers: int, heads: int) -> dict:
    return dict(_albert(hidden, layers, heads, 0.1), embedding_size=hidden, share="none")


def _course(hidden: int, embedding: int, layers: int, **more) -> dict:
    return dict(vocab_size=4000, embedding_size=embedding, hidden_size=hidden, num_layers=layers, num_heads=hidden // 32,
                max_positions=128, init_std=round(0.02 * (768 / hidden) ** 0.5, 3), **more)  # fmt: skip


# The paper's Table 1, with the released configurations' heads (16 for xlarge, although section 3.1 says H/64) and dropout:
# v1 has 0.1 except in xxlarge, v2 has none. BERT-xlarge is in the early versions of the paper only.
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
    # Course sizes: a minute or a few on two cores. A narrow layer sums fewer terms, so its weights start larger: 0.02 at
    # H = 768 becomes 0.049 at 128, without which it sits on the unigram plateau for longer than a lesson lasts.
    "albert-tiny": _course(64, 32, 2),
    "albert-mini": _course(128, 64, 4),
    "albert-small": _course(128, 64, 12),
    "bert-tiny": _course(64, 64, 2, share="none"),
    "bert-mini": _course(128, 128, 4, share="none"),
    "bert-small": _course(128, 128, 12, share="none"),
}
