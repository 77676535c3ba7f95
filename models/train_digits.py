#!/usr/bin/env python3
"""Trains the handwritten-digit classifier of the demo and writes every file of it, beside this script.

The data are the 1,797 digits of 8x8 grey levels that ship inside scikit-learn. A convolutional network of 6,090 weights is trained in
plain NumPy (Adam, decaying step, weights averaged over the last epochs), written with onnx.helper and checked with ONNX Runtime.
The picture of the demo is a digit of the test part, so the network has never seen it. Every random choice comes from one seed.

usage: pip install numpy scikit-learn onnx onnxruntime && python3 train_digits.py
"""
import pathlib
import struct
import zlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

HERE = pathlib.Path(__file__).resolve().parent
SEED = 17
EPOCHS, AVERAGED, BATCH, STEP = 80, 20, 32, 2e-3
NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
SHOWN = 3  # the demo shows the first digit of the test part that is a 3


def pictures():
    """The digits as they would be read from a PNG: 8-bit grey levels, then divided by 255."""
    digits = load_digits()
    grey = np.rint(digits.images * (255 / 16)).astype(np.uint8)
    return train_test_split(grey, digits.target, test_size=0.25, random_state=SEED, stratify=digits.target)


def as_input(grey):
    return (grey.astype(np.float32) / np.float32(255))[:, None]


# --- The network: conv 3x3, relu, pool, conv 3x3, relu, pool, gemm, softmax; each step returns what its gradient needs -------------


def patches(x):
    """[N, C, H, W] -> [N, H, W, C * 9], zero padding of one pixel."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return windows.transpose(0, 2, 3, 1, 4, 5).reshape(*x.shape[:1], *x.shape[2:], -1)


def conv(x, w, b):
    p = patches(x)
    return (p @ w.reshape(len(w), -1).T + b).transpose(0, 3, 1, 2), p


def conv_gradient(dy, p, w):
    dy_last = dy.transpose(0, 2, 3, 1)
    dw = np.tensordot(dy_last, p, axes=((0, 1, 2), (0, 1, 2))).reshape(w.shape)
    turned = np.ascontiguousarray(w.transpose(1, 0, 2, 3)[:, :, ::-1, ::-1])
    return conv(dy, turned, 0)[0], dw, dy.sum((0, 2, 3))


def pool(x):
    n, c, h, w = x.shape
    blocks = x.reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, c, h // 2, w // 2, 4)
    return blocks.max(-1), blocks.argmax(-1)


def pool_gradient(dy, at):
    n, c, h, w = dy.shape
    blocks = np.zeros((n, c, h, w, 4), dy.dtype)
    np.put_along_axis(blocks, at[..., None], dy[..., None], -1)
    return blocks.reshape(n, c, h, w, 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, c, h * 2, w * 2)


def initial(rng):
    def normal(*shape):
        return (rng.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:]))).astype(np.float32)

    def zeros(n):
        return np.zeros(n, np.float32)

    return {"conv1.weight": normal(16, 1, 3, 3), "conv1.bias": zeros(16),
            "conv2.weight": normal(32, 16, 3, 3), "conv2.bias": zeros(32),
            "fc.weight": normal(10, 128), "fc.bias": zeros(10)}


def forward(w, x):
    a1, p1 = conv(x, w["conv1.weight"], w["conv1.bias"])
    m1, at1 = pool(np.maximum(a1, 0))
    a2, p2 = conv(m1, w["conv2.weight"], w["conv2.bias"])
    m2, at2 = pool(np.maximum(a2, 0))
    flat = m2.reshape(len(x), -1)
    logits = flat @ w["fc.weight"].T + w["fc.bias"]
    e = np.exp(logits - logits.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True), (a1, p1, at1, a2, p2, at2, m2.shape, flat)


def gradients(w, x, label):
    y, (a1, p1, at1, a2, p2, at2, m2_shape, flat) = forward(w, x)
    dlogits = (y - np.eye(10, dtype=np.float32)[label]) / len(x)
    dm2 = (dlogits @ w["fc.weight"]).reshape(m2_shape)
    dm1, dw2, db2 = conv_gradient(pool_gradient(dm2, at2) * (a2 > 0), p2, w["conv2.weight"])
    _, dw1, db1 = conv_gradient(pool_gradient(dm1, at1) * (a1 > 0), p1, w["conv1.weight"])
    return {"conv1.weight": dw1, "conv1.bias": db1, "conv2.weight": dw2, "conv2.bias": db2,
            "fc.weight": dlogits.T @ flat, "fc.bias": dlogits.sum(0)}


def train(x, label):
    rng = np.random.default_rng(SEED)
    w = initial(rng)
    mean = {k: np.zeros_like(v) for k, v in w.items()}
    square = {k: np.zeros_like(v) for k, v in w.items()}
    averaged = {k: np.zeros_like(v) for k, v in w.items()}
    step = 0
    for epoch in range(EPOCHS):
        order = rng.permutation(len(x))
        rate = STEP * 0.5 * (1 + np.cos(np.pi * epoch / EPOCHS))
        for batch in np.array_split(order, len(x) // BATCH):
            step += 1
            for k, g in gradients(w, x[batch], label[batch]).items():
                mean[k] = 0.9 * mean[k] + 0.1 * g
                square[k] = 0.999 * square[k] + 0.001 * g * g
                change = mean[k] / (1 - 0.9**step) / (np.sqrt(square[k] / (1 - 0.999**step)) + 1e-8)
                w[k] = (w[k] - rate * (change + 0.01 * w[k])).astype(np.float32)
        if epoch >= EPOCHS - AVERAGED:
            averaged = {k: averaged[k] + w[k] / np.float32(AVERAGED) for k in w}
    return averaged


# --- The files -------------------------------------------------------------------------------------------------------------------


def onnx_model(w):
    conv_attributes = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    pool_attributes = {"kernel_shape": [2, 2], "strides": [2, 2]}
    nodes = [
        helper.make_node("Conv", ["image", "conv1.weight", "conv1.bias"], ["conv1"], "/conv1", **conv_attributes),
        helper.make_node("Relu", ["conv1"], ["relu1"], "/relu1"),
        helper.make_node("MaxPool", ["relu1"], ["pool1"], "/pool1", **pool_attributes),
        helper.make_node("Conv", ["pool1", "conv2.weight", "conv2.bias"], ["conv2"], "/conv2", **conv_attributes),
        helper.make_node("Relu", ["conv2"], ["relu2"], "/relu2"),
        helper.make_node("MaxPool", ["relu2"], ["pool2"], "/pool2", **pool_attributes),
        helper.make_node("Flatten", ["pool2"], ["flat"], "/flatten", axis=1),
        helper.make_node("Gemm", ["flat", "fc.weight", "fc.bias"], ["logits"], "/fc", transB=1),
        helper.make_node("Softmax", ["logits"], ["probabilities"], "/softmax", axis=1),
    ]
    graph = helper.make_graph(
        nodes, "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 1, 8, 8])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [1, 10])],
        [numpy_helper.from_array(v, k) for k, v in w.items()],
        doc_string="a handwritten digit of 8x8 grey levels, ink 1 and paper 0, to the probabilities of 0..9")
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8,
                              producer_name="models/train_digits.py")
    onnx.checker.check_model(model, full_check=True)
    return model


def png(grey):
    """An 8-bit grey PNG: header, one zlib stream of rows without filter, end."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + row.tobytes() for row in grey)
    header = struct.pack(">IIBBBBB", grey.shape[1], grey.shape[0], 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


def pgm(grey):
    """The same pixels as text, which a terminal can show with no more than awk."""
    rows = "\n".join(" ".join(f"{v:3d}" for v in row) for row in grey)
    return f"P2\n{grey.shape[1]} {grey.shape[0]}\n255\n{rows}\n"


def main():
    train_grey, test_grey, train_label, test_label = pictures()
    weights = train(as_input(train_grey), train_label)
    onnx.save(onnx_model(weights), HERE / "digits.onnx")

    session = onnxruntime.InferenceSession(HERE / "digits.onnx", providers=["CPUExecutionProvider"])

    def classify(grey):
        return session.run(None, {"image": as_input(grey[None])})[0]

    right = sum(int(classify(g).argmax() == t) for g, t in zip(test_grey, test_label))
    count = sum(v.size for v in weights.values())
    size = (HERE / "digits.onnx").stat().st_size
    print(f"{count} weights, {size} bytes, {len(train_label)} digits to train, "
          f"{right} of {len(test_label)} test digits right: {100 * right / len(test_label):.2f}%")

    shown = test_grey[np.flatnonzero(test_label == SHOWN)[0]]
    answer = classify(shown)
    print(f"the digit shown is a {SHOWN}, classified as {answer.argmax()} with {answer.max():.4f}")
    (HERE / "digit.png").write_bytes(png(shown))
    (HERE / "digit.pgm").write_text(pgm(shown))
    (HERE / "digits_labels.txt").write_text("".join(f"{name}\n" for name in NAMES))
    golden = HERE / "digits_golden" / "test_data_set_0"
    golden.mkdir(parents=True, exist_ok=True)
    for name, file, value in (("image", "input_0.pb", as_input(shown[None])), ("probabilities", "output_0.pb", answer)):
        (golden / file).write_bytes(numpy_helper.from_array(value, name).SerializeToString())


if __name__ == "__main__":
    main()
