"""Cells of recurrent nets that are one op, taken apart."""

from __future__ import annotations

import numpy as np

from stillflow.onnx_export.scan import scan
from stillflow.onnx_export.translation import Call, converts


def _gates(call, x, h_prev, weights, bias, count):
    """`count` blocks of columns of [x, h_prev] w + b."""
    joined = call.add("Concat", x, h_prev, axis=1)
    total = call.add("Add", call.add("MatMul", joined, weights), bias)
    return call.add("Split", total, outputs=count, axis=1, num_outputs=count)


def lstm_step(call, x, cs_prev, h_prev, w, wci, wcf, wco, b):
    """(i, cs, f, o, ci, co, h) of one step of an LSTM layer."""
    has_peepholes, clip = call.attr("use_peephole"), call.attr("cell_clip")
    forget_bias = 0 if call.op.type == "BlockLSTMV2" else call.attr("forget_bias")

    def peeped(gate, cell, weights):
        return call.add("Add", gate, call.add("Mul", cell, weights)) if has_peepholes else gate

    i, ci, f, o = in_order(call, _gates(call, x, h_prev, w, b, 4))
    i = call.add("Sigmoid", peeped(i, cs_prev, wci))
    ci = call.add("Tanh", ci)
    biased = call.add("Add", f, call.like(forget_bias, 1)) if forget_bias else f
    f = call.add("Sigmoid", peeped(biased, cs_prev, wcf))
    cs = call.add("Add", call.add("Mul", i, ci), call.add("Mul", f, cs_prev))
    if clip > 0:
        cs = call.add("Clip", cs, call.like(-clip, 1), call.like(clip, 1))
    o = call.add("Sigmoid", peeped(o, cs, wco))
    co = call.add("Tanh", cs)
    return [i, cs, f, o, ci, co, call.add("Mul", o, co)]


def in_order(call, blocks):
    """Blocks of i, c, f and o in this order, which is that of the op or has to be changed to it, or from it."""
    if "V2" not in call.op.type:
        return blocks
    i, f, c, o = blocks
    return [i, c, f, o]


@converts("LSTMBlockCell")
def lstm_block_cell(call: Call):
    return lstm_step(call, *call.inputs)


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


@converts("BlockLSTM", "BlockLSTMV2")
def block_lstm(call):
    """ONNX's LSTM where the output alone is asked for, and a Scan otherwise, or of cells that are clipped."""
    weights, bias = call.value(4), call.value(8)
    is_asked_for = any(output.consumers() for output in call.op.outputs[:6])
    if is_asked_for or weights is None or bias is None or call.attr("cell_clip") > 0 or "V2" in call.op.type:
        return _scanned_lstm(call)
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
    batch = call.add("Shape", call.inputs[1], start=1, end=2)
    lengths = call.add("Expand", call.cast(call.inputs[0], np.int32), batch)
    states = [call.add("Unsqueeze", call.inputs[index], call.ints(0)) for index in (3, 2)]
    parts = [call.constant(np.ascontiguousarray(both[:, :, :depth])), call.constant(both[:, :, depth:].copy())]
    bias_name = call.constant(biases[np.newaxis].astype(bias.dtype))
    outputs = call.add(
        "LSTM", call.inputs[1], *parts, bias_name, lengths, *states, peepholes, outputs=3, hidden_size=units
    )
    return [None] * 6 + [call.add("Squeeze", outputs[0], call.ints(1))]


def times_of(call, value):
    """The numbers of the steps of [time, ...]."""
    return call.below(call.add("Squeeze", call.add("Shape", value, end=1), call.ints(0)))


def _scanned_lstm(call):
    length, x, cs_prev, h_prev, *weights = call.inputs
    kind = (call.dtype(1).as_numpy_dtype, 2)

    def step(call, states, elements):
        (cs_prev, h_prev), (x, time) = states, elements
        made = lstm_step(call, x, cs_prev, h_prev, *weights)
        is_step = call.add("Less", time, length)
        states = [call.add("Where", is_step, *pair) for pair in ((made[1], cs_prev), (made[6], h_prev))]
        return states, [call.add("Where", is_step, value, call.like(0, 1)) for value in made]

    states = [(cs_prev, *kind), (h_prev, *kind)]
    return scan(call, step, states, [(x, *kind), (times_of(call, x), np.int64, 0)], [kind] * 7)[1]
