"""Gradients of cells of recurrent nets that are one op."""

from __future__ import annotations

import numpy as np

from stillflow.onnx_export.ops.recurrent import in_order, times_of
from stillflow.onnx_export.scan import scan
from stillflow.onnx_export.translation import END, Call, converts


def _times(call, *factors):
    found = factors[0]
    for factor in factors[1:]:
        found = call.add("Mul", found, factor)
    return found


def _through_sigmoid(call, grad, y):
    return _times(call, grad, y, call.add("Sub", call.like(1, 1), y))


def _through_tanh(call, grad, y):
    return _times(call, grad, call.add("Sub", call.like(1, 1), _times(call, y, y)))


def _plus(call, value, *others):
    for other in others:
        value = call.add("Add", value, other)
    return value


def _lstm_step(call, cs_prev, peepholes, activations, cs_grad, h_grad):
    """(the gradient of cs_prev, those of the gates [i, c, f, o]) of one step."""
    wci, wcf, wco = peepholes
    i, _, f, o, ci, co = activations
    has_peepholes = call.attr("use_peephole")
    do = _through_sigmoid(call, _times(call, h_grad, co), o)
    dcs = _plus(call, cs_grad, _through_tanh(call, _times(call, h_grad, o), co))
    if has_peepholes:
        dcs = _plus(call, dcs, _times(call, do, wco))
    dc = _through_tanh(call, _times(call, dcs, i), ci)
    df = _through_sigmoid(call, _times(call, dcs, cs_prev), f)
    di = _through_sigmoid(call, _times(call, dcs, ci), i)
    before = _times(call, dcs, f)
    if has_peepholes:
        before = _plus(call, before, _times(call, di, wci), _times(call, df, wcf))
    return before, [di, dc, df, do]


def _of_peepholes(call, gates, cs_prev, cs, like, axes):
    """The gradients of wci, wcf and wco: zeros without peepholes."""
    if not call.attr("use_peephole"):
        return [call.add("Sub", like, like)] * 3
    di, _, df, do = gates
    parts = [_times(call, *pair) for pair in ((di, cs_prev), (df, cs_prev), (do, cs))]
    return [call.add("ReduceSum", part, call.ints(*axes), keepdims=0) for part in parts]


@converts("LSTMBlockCellGrad")
def lstm_block_cell_gradient(call: Call):
    cs_prev, peepholes = call.inputs[1], call.inputs[4:7]
    activations, (cs_grad, h_grad) = call.inputs[8:14], call.inputs[14:]
    before, gates = _lstm_step(call, cs_prev, peepholes, activations, cs_grad, h_grad)
    of_weights = _of_peepholes(call, gates, cs_prev, activations[1], peepholes[0], [0])
    return [before, call.add("Concat", *gates, axis=1), *of_weights]


@converts("BlockLSTMGrad", "BlockLSTMGradV2")
def block_lstm_gradient(call):
    length, x, cs_first, h_first, w = call.inputs[:5]
    peepholes, (i, cs, f, o, ci, co, h) = call.inputs[5:8], call.inputs[9:16]
    cs_before, h_before = _before(call, cs, cs_first), _before(call, h, h_first)
    inputs = call.add("Shape", x, start=2)
    of_state = call.add("Slice", w, inputs, call.ints(END), call.ints(0))
    kind = (call.dtype(1).as_numpy_dtype, 2)
    zero = call.like(0, 1)

    def step(call, states, elements):
        (cs_later, h_later), (*activations, cs_prev, cs_grad, h_grad, time) = states, elements
        cs_grad, h_grad = _plus(call, cs_grad, cs_later), _plus(call, h_grad, h_later)
        before, gates = _lstm_step(call, cs_prev, peepholes, activations, cs_grad, h_grad)
        is_step = call.add("Less", time, length)
        before, *gates = (call.add("Where", is_step, value, zero) for value in (before, *gates))
        blocks = call.add("Concat", *in_order(call, gates), axis=1)
        h_grad = call.add("MatMul", blocks, call.add("Transpose", of_state, perm=[1, 0]))
        return [before, h_grad], [blocks, *gates]

    nothing = call.add("Expand", zero, call.add("Shape", cs_first))
    sequences = [i, cs, f, o, ci, co, cs_before, *call.inputs[16:]]
    elements = [*((name, *kind) for name in sequences), (times_of(call, x), np.int64, 0)]
    states = [(nothing, *kind), (nothing, *kind)]
    firsts, (blocks, *gates) = scan(call, step, states, elements, [kind] * 5, is_backwards=True)
    of_x = call.add("Slice", w, call.ints(0), inputs, call.ints(0))
    x_grad = call.add("MatMul", blocks, call.add("Transpose", of_x, perm=[1, 0]))
    joined = call.add("Concat", x, h_before, axis=2)
    w_grad = call.add("Einsum", joined, blocks, equation="tbi,tbg->ig")
    b_grad = call.add("ReduceSum", blocks, call.ints(0, 1), keepdims=0)
    of_peepholes = _of_peepholes(call, gates, cs_before, cs, peepholes[0], [0, 1])
    return [x_grad, *firsts, w_grad, *of_peepholes, b_grad]


def _before(call, states, first):
    """The states [time, batch, cell] before each step."""
    earlier = call.add("Slice", states, call.ints(0), call.ints(-1), call.ints(0))
    return call.add("Concat", call.add("Unsqueeze", first, call.ints(0)), earlier, axis=0)


@converts("GRUBlockCellGrad")
def gru_block_cell_gradient(call):
    x, h_prev, w_ru, w_c, _, _, r, u, c, d_h = call.inputs
    rest = call.add("Sub", call.like(1), u)
    d_c = _through_tanh(call, _times(call, d_h, rest), c)
    d_u = _times(call, d_h, call.add("Sub", h_prev, c), u, rest)
    x_of_c, kept = _multiplied_back(call, d_c, w_c, x)
    d_r = _through_sigmoid(call, _times(call, kept, h_prev), r)
    gates = call.add("Concat", d_r, d_u, axis=1)
    x_of_gates, h_of_gates = _multiplied_back(call, gates, w_ru, x)
    d_h_prev = _plus(call, h_of_gates, _times(call, kept, r), _times(call, d_h, u))
    return [_plus(call, x_of_c, x_of_gates), d_h_prev, d_c, gates]


def _multiplied_back(call, grads, weights, x):
    """The gradients of [x, state] that weights were multiplied with, apart."""
    both = call.add("MatMul", grads, call.add("Transpose", weights, perm=[1, 0]))
    size, end = call.add("Shape", x, start=1), call.ints(END)
    return [call.add("Slice", both, *ends, call.ints(1)) for ends in ((call.ints(0), size), (size, end))]
