"""LSTMBlockCell: one step of an LSTM layer as one node, with its gradient."""

from __future__ import annotations

from stillflow import ops
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

_IN = "x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T"
_INPUTS = "x, cs_prev, h_prev, w, wci, wcf, wco, b"
_FLOATS = "T: {float16, float32}"

lstm_block_cell = define_op(
    f"LSTMBlockCell({_IN}) -> (i: T, cs: T, f: T, o: T, ci: T, co: T, h: T)",
    f"forget_bias: float = 1.0; cell_clip: float = 3.0; use_peephole: bool = false; {_FLOATS}",
    kernel=f"lstm_block_cell({_INPUTS} | forget_bias, cell_clip, use_peephole)",
    public="python.ops.gen_rnn_ops.lstm_block_cell",
    doc="""One step of an LSTM layer: http://arxiv.org/abs/1409.2329.

With [i, c, f, o] = [x, h_prev] w + b, i = sigmoid(i + cs_prev wci), ci = tanh(c),
f = sigmoid(f + forget_bias + cs_prev wcf), cs = i ci + f cs_prev, o = sigmoid(o + cs wco), co = tanh(cs), h = o co.
A sum of a product goes over x, then over h_prev, by the rule of csrc/arithmetic/gemm/gemm.h.

Args:
  x: [batch, input].
  cs_prev, h_prev: [batch, cell], the state.
  w: [input + cell, 4 cell].
  wci, wcf, wco: [cell], the peepholes; they are read only if `use_peephole`.
  b: [4 cell].
  forget_bias: what is added to f.
  cell_clip: cs is cut off at plus and minus this value, if it is positive.
  use_peephole: whether there are peepholes.

Returns (i, cs, f, o, ci, co, h), all [batch, cell].

Raises InvalidArgumentError, when it is run, for sizes that do not fit.""",
)
lstm_block_cell_grad = define_op(
    f"LSTMBlockCellGrad({_IN}, i: T, cs: T, f: T, o: T, ci: T, co: T, cs_grad: T, h_grad: T)"
    " -> (cs_prev_grad: T, dicfo: T, wci_grad: T, wcf_grad: T, wco_grad: T)",
    f"use_peephole: bool; {_FLOATS}",
    kernel=f"lstm_block_cell_grad({_INPUTS}, i, cs, f, o, ci, co, cs_grad, h_grad | use_peephole)",
    differentiable=None,
)


@lstm_block_cell.shape_rule
def _(context):
    batch, cell = _batch_and_cell(context)
    return [(batch, cell)] * 7


@lstm_block_cell_grad.shape_rule
def _(context):
    batch, cell = _batch_and_cell(context)
    return [(batch, cell), (batch, None if cell is None else 4 * cell), (cell,), (cell,), (cell,)]


def _batch_and_cell(context):
    return plain.with_rank(context.shapes[0], 2)[0], plain.with_rank(context.shapes[1], 2)[1]


@lstm_block_cell.gradient
def _(op, *grads):
    """What reaches i, f, o, ci and co from elsewhere is not counted, as in TensorFlow."""
    x, cs_prev, h_prev, w, wci, wcf, wco, b = op.inputs
    batch, depth = x.shape.with_rank(2).as_list()
    cell = cs_prev.shape.with_rank(2).as_list()[1]
    if depth is None:
        raise ValueError("input_size from `x` should not be None.")
    if cell is None:
        raise ValueError("cell_size from `cs_prev` should not be None.")
    batch = -1 if batch is None else batch
    cs_prev_grad, gates_grad, *peephole_grads = lstm_block_cell_grad(
        *(x, cs_prev, h_prev, w, wci, wcf, wco, b), *op.outputs[:6], grads[1], grads[6],
        use_peephole=op.get_attr("use_peephole"),
    )  # fmt: skip
    both_grad = ops.matmul(gates_grad, w, transpose_b=True)
    x_grad = ops.slice(both_grad, (0, 0), (batch, depth))
    h_prev_grad = ops.slice(both_grad, (0, depth), (batch, cell))
    w_grad = ops.matmul(ops.concat([x, h_prev], 1), gates_grad, transpose_a=True)
    return x_grad, cs_prev_grad, h_prev_grad, w_grad, *peephole_grads, ops.bias_add_grad(gates_grad)
