"""The ONNX graph of all-MiniLM-L6-v2, built from its safetensors without torch.

It computes what the published model computes (token, position and type embeddings, six BERT layers, mean pooling, unit
length) in fewer passes over memory. A batch holds texts of one length only, so that there is no padding to mask and
attention takes its fast path. Layer normalisation is written as instance normalisation over (1, tokens, hidden), which
ONNX Runtime computes about ten times as fast on a processor.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

_FUSED = "com.microsoft"  # ONNX Runtime's own operators


class _Graph:
    """Nodes and weights as they are laid down; each operator's name for its output is made up."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.weights: list[Any] = []

    def constant(self, value: Any) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def integers(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name


def build(folder: Path) -> bytes:
    """The serialised graph. folder holds model.safetensors and config.json.

    Input `input_ids`: int64 (texts, tokens), no padding. Output `embedding`: float32 (texts, hidden), unit length.
    """
    weights = load_file(str(folder / "model.safetensors"))
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    hidden, heads, epsilon = int(config["hidden_size"]), int(config["num_attention_heads"]), float(config["layer_norm_eps"])
    graph = _Graph()
    add, constant = graph.add, graph.constant

    def product(x: str, name: str) -> str:
        return add("MatMul", x, constant(weights[f"{name}.weight"].T))

    def bias(name: str) -> str:
        return constant(weights[f"{name}.bias"])

    tokens = add("Slice", add("Shape", "input_ids"), graph.integers(1), graph.integers(2))
    # Every text is of one segment, so the type embedding is a constant of every position.
    places = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
    place = add("Slice", constant(places), graph.integers(0), tokens, graph.integers(0))
    words = add("Gather", constant(weights["embeddings.word_embeddings.weight"]), "input_ids")
    shaped = add("Add", words, place)
    shape = add("Shape", shaped)
    flat_shape = graph.integers(1, -1, hidden)
    flat = add("Reshape", shaped, flat_shape)
    count = add("Slice", add("Shape", flat), graph.integers(1), graph.integers(2))
    ones = add("ConstantOfShape", count, value=numpy_helper.from_array(np.ones(1, np.float32)))
    zeros = add("ConstantOfShape", count, value=numpy_helper.from_array(np.zeros(1, np.float32)))

    def normalised(x: str, name: str) -> str:
        unscaled = add("InstanceNormalization", x, ones, zeros, epsilon=epsilon)
        return add("Add", add("Mul", unscaled, constant(weights[f"{name}.weight"])), bias(name))

    x = normalised(flat, "embeddings.LayerNorm")
    for layer in range(int(config["num_hidden_layers"])):
        at = f"encoder.layer.{layer}"
        parts = [f"{at}.attention.self.{part}" for part in ("query", "key", "value")]
        projected = [add("Reshape", product(x, part), shape) for part in parts]
        biases = constant(np.concatenate([weights[f"{part}.bias"] for part in parts]))
        attended = add("MultiHeadAttention", *projected, biases, domain=_FUSED, num_heads=heads)
        output = product(add("Reshape", attended, flat_shape), f"{at}.attention.output.dense")
        x = normalised(add("Add", add("Add", output, bias(f"{at}.attention.output.dense")), x), f"{at}.attention.output.LayerNorm")
        inner = add("BiasGelu", product(x, f"{at}.intermediate.dense"), bias(f"{at}.intermediate.dense"), domain=_FUSED)
        output = product(inner, f"{at}.output.dense")
        x = normalised(add("Add", add("Add", output, bias(f"{at}.output.dense")), x), f"{at}.output.LayerNorm")
    pooled = add("ReduceMean", add("Reshape", x, shape), axes=[1], keepdims=0)
    graph.nodes.append(helper.make_node("LpNormalization", [pooled], ["embedding"], axis=1, p=2))
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "all-MiniLM-L6-v2",
            [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["texts", "tokens"])],
            [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["texts", hidden])],
            graph.weights,
        ),
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(_FUSED, 1)],
        ir_version=9,
    )
    return bytes(model.SerializeToString())
