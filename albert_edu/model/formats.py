"""The fields of a model's config as ``transformers`` has them, and as they are here.

Nothing that comes from a file is trusted. ``weights`` does the same for the weights;
``interchange`` opens the folders.
"""

from albert_edu.config import AlbertConfig, check_one_of, check_whole
from albert_edu.errors import CourseError, errors_about

FIELDS = {  # our field -> transformers' field
    "vocab_size": "vocab_size",
    "hidden_size": "hidden_size",
    "num_layers": "num_hidden_layers",
    "num_heads": "num_attention_heads",
    "ffn_size": "intermediate_size",
    "max_positions": "max_position_embeddings",
    "num_segments": "type_vocab_size",
    "embedding_size": "embedding_size",
    "num_groups": "num_hidden_groups",
    "pad_id": "pad_token_id",
    "layer_norm_eps": "layer_norm_eps",
    "init_std": "initializer_range",
    "hidden_dropout": "hidden_dropout_prob",
    "attention_dropout": "attention_probs_dropout_prob",
}
SIZES = (  # fields that a config.json must have
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
)
DEFAULTS = {  # what transformers assumes, and we do not, when a config.json leaves a field out
    "albert": {"hidden_act": "gelu_new", "embedding_size": 128, "num_hidden_groups": 1},
    "bert": {"hidden_act": "gelu", "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1},
}
ACTIVATIONS = {"gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh", "gelu": "gelu_erf"}
SUPPORTED: dict[str, tuple] = {  # fields that change what a model computes, and the values of ours
    "model_type": ("albert", "bert"),
    "inner_group_num": (1, None),
    "position_embedding_type": ("absolute", None),
    "tie_word_embeddings": (True, None),
    "pruned_heads": ({}, None),
    "is_decoder": (False, None),
    "is_encoder_decoder": (False, None),
    "add_cross_attention": (False, None),
    "quantization_config": (None,),
    "auto_map": (None,),
}


class InterchangeError(CourseError, ValueError):
    """The model cannot be written in that format, or the folder cannot be read; it says why."""


def to_transformers(config: AlbertConfig) -> dict:
    """Return the ``config.json`` of transformers for this shape, without ``architectures``.

    Its ``model_type`` is "bert" for the corner without factorisation and without sharing. Raises
    InterchangeError where ``transformers`` has no such model.
    """
    if config.share in ("attention", "ffn"):
        raise InterchangeError(f"transformers shares whole layers, not {config.share} alone.")
    settings = {theirs: getattr(config, ours) for ours, theirs in FIELDS.items()}
    settings["hidden_act"] = {"gelu_tanh": "gelu_new", "gelu_erf": "gelu"}[config.activation]
    if not config.has_projection and config.share == "none":
        del settings["embedding_size"]
        del settings["num_hidden_groups"]
        return {"model_type": "bert", **settings}
    L = config.num_layers
    G = L if config.share == "none" else config.num_groups
    our_groups = [i * G // L for i in range(L)]
    their_groups = [int(i / (L / G)) for i in range(L)]
    if our_groups != their_groups:
        raise InterchangeError(
            f"transformers, with floats, cuts {L} layers into {G} other groups than we do. It cuts "
            f"alike where the number of groups divides {L}."
        )
    settings["num_hidden_groups"] = G
    return {"model_type": "albert", **settings}


def from_transformers(settings: dict) -> AlbertConfig:
    """Return our config for the fields of a ``config.json``.

    Fields that are left out take transformers' defaults. Raises InterchangeError for another kind
    of model, for sizes that cannot be, and for what our layers do not compute: relative positions,
    decoders, other activations, layers that repeat as a unit.
    """
    with errors_about("config.json", InterchangeError, "It must describe an ALBERT or a BERT."):
        for field, values in SUPPORTED.items():
            check_one_of(field, settings.get(field), values)
        for size in SIZES:
            check_whole(size, settings.get(size), 1, 10_000_000)
        return _our_config(settings)


def _our_config(settings: dict) -> AlbertConfig:
    """Return our config for fields that have been checked to be those of an ALBERT or a BERT."""
    kind = settings["model_type"]
    said = DEFAULTS[kind] | settings
    fields = {ours: said[theirs] for ours, theirs in FIELDS.items() if theirs in said}
    activation = said["hidden_act"]
    fields["activation"] = ACTIVATIONS.get(str(activation), activation)
    fields["pad_id"] = fields.get("pad_id") or 0  # it may be null
    if kind == "bert":
        fields["embedding_size"] = fields["hidden_size"]
        fields["share"] = "none"
    config = AlbertConfig(**fields)
    # Where E == H, an unshared ALBERT stays "all" in L groups: "none" would make it a BERT, whose
    # tensors have other names.
    if config.has_projection and 1 < config.num_groups == config.num_layers:
        return config.replace(share="none")
    return config
