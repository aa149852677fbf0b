"""Read and write model folders in the format of ``transformers``, for ALBERT and BERT, with both heads and the tokenizer.

A folder holds ``config.json``, ``model.safetensors`` and the tokenizer's files. What that format cannot say (sharing only
one half of the layers) is refused, or written in a format of our own when asked for.
"""

import dataclasses
import json
import warnings
from importlib.resources import files
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from albert_edu.config import AlbertConfig
from albert_edu.model.albert import AlbertForPretraining
from albert_edu.text.tokenizer import AlbertTokenizer

OURS = "albert_edu"  # model_type of the format of our own
ACTIVATIONS = {"gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh", "gelu": "gelu_erf"}
SHIPPED = {"laptop": "laptop/albert", "laptop-unshared": "laptop/unshared"}  # in albert_edu/pretrained
HEADS = ("masked_token_head.", "sentence_order_head.", "albert.pooler.")


class InterchangeError(ValueError):
    """The model cannot be written in, or the folder cannot be read from, that format; the message says why."""


def save_pretrained(
    model: AlbertForPretraining, tokenizer: AlbertTokenizer | None, folder: str | Path, native: bool = False
) -> None:
    """Write a folder that ``transformers`` loads as AlbertForPreTraining, or BertForPreTraining for BERT's corner.

    ``native=True`` falls back to our own layout (same files, our tensor names) where transformers has no such model.
    """
    folder, config = Path(folder), model.config
    reason = why_not_expressible(config)
    if reason and not native:
        raise InterchangeError(f"transformers cannot express this model: {reason} Save it with native=True instead.")
    folder.mkdir(parents=True, exist_ok=True)
    if reason:
        settings, names = {"model_type": OURS, **dataclasses.asdict(config)}, {name: name for name in own_names(model)}
    else:
        settings, names = to_transformers(config), tensor_names(config)
    state = model.state_dict()
    tensors = {theirs: state[ours].detach().cpu().contiguous() for ours, theirs in names.items()}
    if not reason and not is_bert(config) and not config.factorised:
        # transformers always projects from E to H; where we do not, the identity says the same.
        tensors["albert.encoder.embedding_hidden_mapping_in.weight"] = torch.eye(config.hidden_size)
        tensors["albert.encoder.embedding_hidden_mapping_in.bias"] = torch.zeros(config.hidden_size)
    (folder / "config.json").write_text(json.dumps(settings, indent=2) + "\n")
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    if tokenizer is not None:
        tokenizer.save(folder)


def model_folder(name: str | Path) -> Path:
    """Return the folder of a model: a folder as it is, or a shipped model by its name ("laptop", "laptop-unshared")."""
    if str(name) in SHIPPED and not Path(name).exists():
        return Path(str(files("albert_edu"))) / "pretrained" / SHIPPED[str(name)]
    return Path(name)


def load_pretrained(folder: str | Path) -> tuple[AlbertForPretraining, AlbertTokenizer | None]:
    """Read a shipped model by name, or a folder written by us, by transformers, or copied from the Hub.

    The tokenizer is None where the folder has none.

    Heads the folder lacks (the Hub's ALBERTs have no sentence-order head) start anew, with a warning that names them.
    """
    folder = model_folder(folder)
    for file in ("config.json", "model.safetensors"):
        if not (folder / file).exists():
            found = ", ".join(sorted(path.name for path in folder.iterdir())) if folder.is_dir() else "no such folder"
            raise InterchangeError(f"{folder} has no {file} (found: {found}). Pickled or sharded weights are not read.")
    try:
        settings = json.loads((folder / "config.json").read_text())
        tensors = load_file(folder / "model.safetensors")
    except (ValueError, SafetensorError) as error:
        file = "config.json" if isinstance(error, ValueError) else "model.safetensors"
        raise InterchangeError(f"{folder / file} is damaged, perhaps a copy that broke off: {error}") from error
    config = from_transformers(settings)
    model = AlbertForPretraining(config)
    names = {name: name for name in own_names(model)} if settings["model_type"] == OURS else tensor_names(config)
    tensors = _with_prefix(tensors, settings["model_type"])
    _check_identity_projection(config, tensors)
    _check_tied_decoder(tensors)
    state = {ours: tensors[theirs] for ours, theirs in names.items() if theirs in tensors}
    missing = [ours for ours in names if ours not in state]
    if lost := [names[name] for name in missing if not name.startswith(HEADS)]:
        raise InterchangeError(f"{folder} lacks tensors of the encoder, for example {lost[0]}. Is it another kind of model?")
    if missing:
        warnings.warn(f"{folder} has no {', '.join(missing)}: these start untrained.", stacklevel=2)
    for ours, tensor in state.items():
        wanted = model.get_parameter(ours).shape
        if tensor.shape != wanted:
            raise InterchangeError(f"{names[ours]} has shape {tuple(tensor.shape)}, config.json implies {tuple(wanted)}.")
    model.load_state_dict(state, strict=False)
    if (folder / "spiece.model").exists():
        return model, AlbertTokenizer.load(folder)
    if (folder / "tokenizer.json").exists():
        warnings.warn(f"{folder} has a tokenizer.json and no spiece.model: the tokenizer is not read.", stacklevel=2)
    return model, None


def is_bert(config: AlbertConfig) -> bool:
    """BERT is the corner without factorisation and without sharing."""
    return not config.factorised and config.share == "none"


def why_not_expressible(config: AlbertConfig) -> str | None:
    """Why ``transformers`` has no such model, or None."""
    if config.share in ("attention", "ffn"):
        return f"its ALBERT shares whole layers, here only the {config.share} blocks are shared."
    L, G = config.num_layers, _groups(config)
    return _float_mismatch(L, G)


def _float_mismatch(L: int, G: int) -> str | None:
    if [int(i / (L / G)) for i in range(L)] != [i * G // L for i in range(L)]:
        return f"for {L} layers in {G} groups its float arithmetic puts some layers in another group than integers do."
    return None


def own_names(model: AlbertForPretraining) -> list[str]:
    """Every tensor once: the decoder's weight is the embedding table."""
    return [name for name, _ in model.named_parameters()]


def _groups(config: AlbertConfig) -> int:
    return config.num_layers if config.share == "none" else config.num_groups


def to_transformers(config: AlbertConfig) -> dict:
    """The ``config.json`` of transformers for this shape."""
    settings = {
        "vocab_size": config.vocab_size, "hidden_size": config.hidden_size, "num_hidden_layers": config.num_layers,
        "num_attention_heads": config.num_heads, "intermediate_size": config.ffn_size,
        "max_position_embeddings": config.max_positions, "type_vocab_size": config.num_segments,
        "hidden_dropout_prob": config.hidden_dropout, "attention_probs_dropout_prob": config.attention_dropout,
        "hidden_act": {"gelu_tanh": "gelu_new", "gelu_erf": "gelu"}[config.activation],
        "layer_norm_eps": config.layer_norm_eps, "pad_token_id": config.pad_id, "initializer_range": config.init_std,
    }  # fmt: skip
    if is_bert(config):
        return {"architectures": ["BertForPreTraining"], "model_type": "bert", **settings}
    settings |= {"embedding_size": config.embedding_size, "num_hidden_groups": _groups(config), "inner_group_num": 1,
                 "bos_token_id": 2, "eos_token_id": 3}  # fmt: skip
    return {"architectures": ["AlbertForPreTraining"], "model_type": "albert", **settings}


def from_transformers(settings: dict) -> AlbertConfig:
    """Our config for a ``config.json``; missing keys take transformers' defaults where these matter."""
    kind = settings.get("model_type")
    if kind == OURS:
        return AlbertConfig(**{key: value for key, value in settings.items() if key != "model_type"})
    if kind not in ("albert", "bert"):
        raise InterchangeError(f"model_type {kind!r} is neither albert nor bert.")
    sizes = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    if lacking := [name for name in sizes if name not in settings]:
        raise InterchangeError(f"config.json lacks {', '.join(lacking)}.")
    if settings.get("inner_group_num", 1) != 1:
        raise InterchangeError("inner_group_num above 1 (different layers repeated as a unit) has no counterpart here.")
    activation = settings.get("hidden_act", "gelu_new" if kind == "albert" else "gelu")
    if activation not in ACTIVATIONS:
        raise InterchangeError(f"hidden_act {activation!r} is not one of {', '.join(ACTIVATIONS)}.")
    L = settings["num_hidden_layers"]
    groups = settings.get("num_hidden_groups", 1) if kind == "albert" else L
    if reason := _float_mismatch(L, groups):
        raise InterchangeError(f"this is another model in transformers than here: {reason}")
    # Where E == H, an unshared ALBERT stays "all" in L groups: "none" would make it a BERT, whose tensors have other names.
    width = settings.get("embedding_size", 128) if kind == "albert" else None
    unshared = groups == L and not (kind == "albert" and (L == 1 or width == settings["hidden_size"]))
    return AlbertConfig(
        vocab_size=settings["vocab_size"], hidden_size=settings["hidden_size"], num_layers=L,
        embedding_size=settings.get("embedding_size", 128) if kind == "albert" else settings["hidden_size"],
        num_heads=settings["num_attention_heads"], ffn_size=settings["intermediate_size"],
        max_positions=settings.get("max_position_embeddings", 512), num_segments=settings.get("type_vocab_size", 2),
        share="none" if unshared else "all", num_groups=1 if unshared else groups,
        hidden_dropout=float(settings.get("hidden_dropout_prob", 0.0 if kind == "albert" else 0.1)),
        attention_dropout=float(settings.get("attention_probs_dropout_prob", 0.0 if kind == "albert" else 0.1)),
        activation=ACTIVATIONS[activation], layer_norm_eps=settings.get("layer_norm_eps", 1e-12),
        init_std=settings.get("initializer_range", 0.02),
        pad_id=settings.get("pad_token_id") or 0,
    )  # fmt: skip


def tensor_names(config: AlbertConfig) -> dict[str, str]:
    """Our tensor name -> transformers' name, for every tensor of the model."""
    bert = is_bert(config)
    root = "bert" if bert else "albert"
    modules = {f"albert.embeddings.{ours}": f"{root}.embeddings.{theirs}" for ours, theirs in (
        ("word", "word_embeddings"), ("position", "position_embeddings"), ("segment", "token_type_embeddings"),
        ("norm", "LayerNorm"),
    )}  # fmt: skip
    for i in range(config.num_layers if config.share == "none" else config.num_groups):
        block = f"bert.encoder.layer.{i}." if bert else f"albert.encoder.albert_layer_groups.{i}.albert_layers.0."
        inner = "attention.self." if bert else "attention."
        modules |= {f"albert.encoder.attention.{i}.{name}": f"{block}{inner}{name}" for name in ("query", "key", "value")}
        outer = ("attention.output.dense", "attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm")
        if not bert:
            outer = ("attention.dense", "attention.LayerNorm", "ffn", "ffn_output", "full_layer_layer_norm")
        halves = (f"attention.{i}.output", f"attention.{i}.norm", f"ffn.{i}.up", f"ffn.{i}.down", f"ffn.{i}.norm")
        modules |= {f"albert.encoder.{ours}": block + theirs for ours, theirs in zip(halves, outer, strict=True)}
    if config.factorised:
        modules["albert.embeddings.project"] = "albert.encoder.embedding_hidden_mapping_in"
    modules |= {
        "albert.pooler": "bert.pooler.dense" if bert else "albert.pooler",
        "masked_token_head.dense": "cls.predictions.transform.dense" if bert else "predictions.dense",
        "masked_token_head.norm": "cls.predictions.transform.LayerNorm" if bert else "predictions.LayerNorm",
        "sentence_order_head": "cls.seq_relationship" if bert else "sop_classifier.classifier",
    }
    tables = ("word", "position", "segment")  # embeddings have a weight and no bias
    names = {f"{ours}.{kind}": f"{theirs}.{kind}" for ours, theirs in modules.items() for kind in ("weight", "bias")
             if kind == "weight" or ours.rsplit(".", 1)[-1] not in tables}  # fmt: skip
    return names | {"masked_token_head.decoder.bias": "cls.predictions.bias" if bert else "predictions.bias"}


def _with_prefix(tensors: dict[str, Tensor], root: str) -> dict[str, Tensor]:
    """Folders of a bare AlbertModel or BertModel leave the first part of the names out."""
    for old, new in (("LayerNorm.gamma", "LayerNorm.weight"), ("LayerNorm.beta", "LayerNorm.bias")):
        tensors = {name.replace(old, new): tensor for name, tensor in tensors.items()}
    bare = "embeddings.word_embeddings.weight" in tensors
    return {f"{root}.{name}": tensor for name, tensor in tensors.items()} if bare else tensors


def _check_identity_projection(config: AlbertConfig, tensors: dict[str, Tensor]) -> None:
    weight = tensors.get("albert.encoder.embedding_hidden_mapping_in.weight")
    if weight is None or config.factorised or is_bert(config):
        return
    bias = tensors["albert.encoder.embedding_hidden_mapping_in.bias"]
    if not torch.equal(weight, torch.eye(len(weight))) or bias.any():
        raise InterchangeError(
            "this ALBERT has E == H and a trained projection between them, which transformers adds and the original does not."
        )


def _check_tied_decoder(tensors: dict[str, Tensor]) -> None:
    for root, head in (("albert", "predictions"), ("bert", "cls.predictions")):
        table, decoder = (tensors.get(name) for name in (f"{root}.embeddings.word_embeddings.weight", f"{head}.decoder.weight"))
        if table is not None and decoder is not None and not torch.equal(table, decoder):
            raise InterchangeError(f"{head}.decoder.weight is not the embedding table; here the two are one (tied).")
