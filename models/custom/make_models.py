#!/usr/bin/env python3
"""Writes the two models of this folder with golden data, which NumPy computes: models/custom/make_models.py"""
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = pathlib.Path(__file__).parent


def write(name, model, inputs, outputs):
    onnx.save(model, HERE / f"{name}.onnx")
    folder = HERE / f"{name}_golden" / "test_data_set_0"
    folder.mkdir(parents=True, exist_ok=True)
    for kind, arrays in (("input", inputs), ("output", outputs)):
        for i, array in enumerate(arrays):
            (folder / f"{kind}_{i}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())


def model_of(graph, opsets):
    imports = [helper.make_opsetid(domain, version) for domain, version in opsets]
    return helper.make_model(graph, opset_imports=imports, ir_version=8, producer_name="")


def requant_shift():
    """Relu(RequantShift(x * 3)), whose integers are exact in f32."""
    random = np.random.default_rng(7)
    x = random.integers(-400, 400, (2, 5, 6, 7)).astype(np.float32)
    mul = random.integers(1, 60, (5, 1, 1)).astype(np.float32)
    add = random.integers(-500, 500, (5, 1, 1)).astype(np.float32)
    three = np.float32(3)
    node = helper.make_node("RequantShift", ["scaled", "mul", "add"], ["shifted"], name="requant")
    for name, value in (("div", np.float32(256)), ("n_levels_out", np.float32([256])), ("signed", np.float32([1]))):
        node.attribute.append(helper.make_attribute(name, numpy_helper.from_array(value)))
    nodes = [helper.make_node("Mul", ["x", "three"], ["scaled"], name="scale"), node,
             helper.make_node("Relu", ["shifted"], ["y"], name="rectify")]
    constants = [numpy_helper.from_array(a, n) for n, a in (("three", three), ("mul", mul), ("add", add))]
    graph = helper.make_graph(nodes, "requant_shift",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 5, 6, 7])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 5, 6, 7])], constants)
    y = np.clip(np.floor((x * 3 * mul + add) / 256 + 0.5), -128, 127)
    write("requant_shift", model_of(graph, [("", 10)]), [x], [np.maximum(y, 0)])


def window_stats():
    """WindowStats twice: with weights and both outputs, and with neither."""
    random = np.random.default_rng(11)
    x = random.integers(-50, 50, (6, 40)).astype(np.float32)
    weights = np.float32([1, 2, 4, 1])
    stats = dict(domain="example", window=4, stride=3)
    nodes = [helper.make_node("WindowStats", ["x", "weights"], ["mean", "place"], name="weighted", **stats),
             helper.make_node("WindowStats", ["x"], ["plain"], name="plain", domain="example", window=4, stride=3)]
    graph = helper.make_graph(nodes, "window_stats",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", "length"])],
                              [helper.make_tensor_value_info("mean", TensorProto.FLOAT, None),
                               helper.make_tensor_value_info("place", TensorProto.INT64, None),
                               helper.make_tensor_value_info("plain", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(weights, "weights")])
    windows = np.lib.stride_tricks.sliding_window_view(x, 4, axis=1)[:, ::3]
    place = windows.argmax(-1) + 3 * np.arange(windows.shape[1])
    write("window_stats", model_of(graph, [("", 17), ("example", 1)]), [x],
          [(windows * weights).sum(-1, dtype=np.float32) / np.float32(4), place.astype(np.int64),
           windows.sum(-1, dtype=np.float32) / np.float32(4)])


requant_shift()
window_stats()
