"""Cells of recurrent nets that are one op, taken apart."""

from __future__ import annotations

import numpy as np

from stillflow.onnx_export.translation import Call, converts


def _gates(call, x, h_prev, weights, bias, count):
    """`count` blocks of columns of [x, h_prev] w + b."""
    joined = call.add("Concat", x, h_prev, axis=1)
    total = call.add("Add", call.add("MatMul", joined, weights), bias)
    return call.add("Split", total, outputs=count, axis=1, num_outputs=count)


@converts("LSTMBlockCell")
def lstm_block_cell(call: Call):
    x, cs_prev, h_prev, w, wci, wcf, wco, b = call.inputs
    has_peepholes, clip = call.attr("use_peephole"), call.attr("cell_clip")

    def peeped(gate, cell, weights):
        return call.add("Add", gate, call.add("Mul", cell, weights)) if has_peepholes else gate

    i, ci, f, o = _gates(call, x, h_prev, w, b, 4)
    i = call.add("Sigmoid", peeped(i, cs_prev, wci))
    ci = call.add("Tanh", ci)
    biased = call.add("Add", f, call.like(call.attr("forget_bias")))
    f = call.add("Sigmoid", peeped(biased, cs_prev, wcf))
    cs = call.add("Add", call.add("Mul", i, ci), call.add("Mul", f, cs_prev))
    if clip > 0:
        cs = call.add("Clip", cs, call.like(-clip), call.like(clip))
    o = call.add("Sigmoid", peeped(o, cs, wco))
    co = call.add("Tanh", cs)
    return [i, cs, f, o, ci, co, call.add("Mul", o, co)]


@converts("GRUBlockCell")
def gru_block_cell(call):
    x, h_prev, w_ru, w_c, b_ru, b_c = call.inputs
    r, u = (call.add("Sigmoid", gate) for gate in _gates(call, x, h_prev, w_ru, b_ru, 2))
    joined = call.add("Concat", x, call.add("Mul", r, h_prev), axis=1)
    c = call.add("Tanh", call.add("Add", call.add("MatMul", joined, w_c), b_c))
    rest = call.add("Sub", call.like(1), u)
    return [r, u, c, call.add("Add", call.add("Mul", u, h_prev), call.add("Mul", rest, c))]


def _onnx_order(blocks):
    """TensorFlow's gates are i, c, f, o; ONNX's i, o, f, c."""
    i, c, f, o = blocks
    return [i, o, f, c]


@converts("BlockLSTM")
def block_lstm(call):
    weights, bias = call.known(4, "weights"), call.known(8, "biases")
    if call.attr("cell_clip") > 0:
        raise call.error("clips its cells, which ONNX's LSTM does not")
    units = weights.shape[1] // 4
    columns = _onnx_order(np.split(weights, 4, axis=1))
    both = np.concatenate(columns, axis=1).T[np.newaxis]
    depth = weights.shape[0] - units
    i, c, f, o = np.split(bias, 4)
    biases = np.concatenate([*_onnx_order([i, c, f + call.attr("forget_bias"), o]), np.zeros(4 * units, bias.dtype)])
    peepholes = ""
    if call.attr("use_peephole"):
        wci, wcf, wco = (call.known(index, "peepholes") for index in (5, 6, 7))
        peepholes = call.constant(np.concatenate([wci, wco, wcf])[np.newaxis])
    batch = call.add("Slice", call.add("Shape", call.inputs[1]), *(call.constant([n], np.int64) for n in (1, 2)))
    lengths = call.add("Expand", call.cast(call.inputs[0], np.int32), batch)
    first = call.constant([0], np.int64)
    states = [call.add("Unsqueeze", call.inputs[index], first) for index in (3, 2)]
    parts = [call.constant(np.ascontiguousarray(both[:, :, :depth])), call.constant(both[:, :, depth:].copy())]
    bias_name = call.constant(biases[np.newaxis].astype(bias.dtype))
    outputs = call.add(
        "LSTM", call.inputs[1], *parts, bias_name, lengths, *states, peepholes, outputs=3, hidden_size=units
    )
    return [None] * 6 + [call.add("Squeeze", outputs[0], call.constant([1], np.int64))]
