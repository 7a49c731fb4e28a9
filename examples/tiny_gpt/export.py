"""Write the model as a Hugging Face folder: Llama weights, a byte-level tokenizer, a chat template.

Plain JSON and safetensors, so that a training need not load transformers to export for it.
"""

from __future__ import annotations

import json
from pathlib import Path

from model import TinyGPT

SPECIAL = ("<|pad|>", "<|begin|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>", "<|turn|>", "<|spare|>")
PAD, BEGIN, END, TURN = (256 + SPECIAL.index(name) for name in ("<|pad|>", "<|begin|>", "<|end|>", "<|turn|>"))
CHAT_TEMPLATE = (
    "<|begin|>{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|turn|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def export(model: TinyGPT, folder: Path) -> None:
    """Make `folder` with everything `transformers serve` and vLLM need to serve the model."""
    from safetensors.torch import save_file

    folder.mkdir()
    weights = {name: tensor.contiguous() for name, tensor in model.state_dict().items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    write_json(folder / "config.json", config(model))
    write_json(folder / "generation_config.json", generation_config())
    write_json(folder / "tokenizer.json", tokenizer())
    write_json(folder / "tokenizer_config.json", tokenizer_config(model))
    (folder / "chat_template.jinja").write_text(CHAT_TEMPLATE, encoding="utf-8")


def config(model: TinyGPT) -> dict[str, object]:
    """config.json of a Llama of this shape."""
    shape = model.shape
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": shape.vocabulary,
        "hidden_size": shape.hidden,
        "intermediate_size": shape.inner,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.heads,
        "head_dim": shape.hidden // shape.heads,
        "max_position_embeddings": shape.longest,
        "rope_theta": shape.theta,
        "rope_parameters": {"rope_type": "default", "rope_theta": shape.theta},
        "rms_norm_eps": shape.epsilon,
        "hidden_act": "silu",
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": False,
        "dtype": "float32",
        "torch_dtype": "float32",
        "pad_token_id": PAD,
        "bos_token_id": BEGIN,
        "eos_token_id": [END, TURN],
    }


def generation_config() -> dict[str, object]:
    """generation_config.json: greedy until the end of a turn."""
    return {"pad_token_id": PAD, "bos_token_id": BEGIN, "eos_token_id": [END, TURN], "do_sample": False}


def tokenizer() -> dict[str, object]:
    """tokenizer.json: token i is byte i for i < 256, then the special ones; no merges."""
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [added_token(256 + index, name) for index, name in enumerate(SPECIAL)],
        "normalizer": None,
        "pre_tokenizer": byte_level,
        "post_processor": None,
        "decoder": byte_level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {letter: byte for byte, letter in enumerate(byte_letters())},
            "merges": [],
        },
    }


def tokenizer_config(model: TinyGPT) -> dict[str, object]:
    """tokenizer_config.json: read tokenizer.json as it is, and change nothing when decoding."""
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "pad_token": "<|pad|>",
        "bos_token": "<|begin|>",
        "eos_token": "<|end|>",
        "clean_up_tokenization_spaces": False,
        "model_max_length": model.shape.longest,
    }


def added_token(index: int, name: str) -> dict[str, object]:
    """One special token, never split and never normalised."""
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {"id": index, "content": name, "special": True, **plain}


def byte_letters() -> list[str]:
    """The visible letter byte-level BPE writes for each byte: itself where visible, else one above U+0100."""
    visible = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in visible]
    return [chr(byte) if byte in visible else chr(256 + hidden.index(byte)) for byte in range(256)]


def write_json(path: Path, content: object) -> None:
    """One JSON file, readable by people."""
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
