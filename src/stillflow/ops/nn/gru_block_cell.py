"""GRUBlockCell: one step of a GRU layer as one node, with its gradient."""

from __future__ import annotations

from stillflow import ops
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

_IN = "x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T"
_INPUTS = "x, h_prev, w_ru, w_c, b_ru, b_c"

gru_block_cell = define_op(
    f"GRUBlockCell({_IN}) -> (r: T, u: T, c: T, h: T)",
    "T: {float32}",
    kernel=f"gru_block_cell({_INPUTS})",
    public="python.ops.gen_rnn_ops.gru_block_cell",
    doc="""One step of a GRU layer: http://arxiv.org/abs/1406.1078.

[r, u] = sigmoid([x, h_prev] w_ru + b_ru), c = tanh([x, h_prev r] w_c + b_c), h = u (h_prev - c) + c.
A sum of a product goes over x, then over h_prev, by the rule of csrc/arithmetic/gemm/gemm.h.

Args:
  x: [batch, input].
  h_prev: [batch, cell].
  w_ru, w_c: [input + cell, 2 cell] and [input + cell, cell].
  b_ru, b_c: [2 cell] and [cell].

Returns (r, u, c, h), all [batch, cell].

Raises InvalidArgumentError, when it is run, for sizes that do not fit.""",
)
gru_block_cell_grad = define_op(
    f"GRUBlockCellGrad({_IN}, r: T, u: T, c: T, d_h: T) -> (d_x: T, d_h_prev: T, d_c_bar: T, d_r_bar_u_bar: T)",
    "T: {float32}",
    kernel=f"gru_block_cell_grad({_INPUTS}, r, u, c, d_h)",
    differentiable=None,
)


def _state(context):
    return plain.with_rank(context.shapes[0], 2)[0], plain.with_rank(context.shapes[1], 2)[1]


@gru_block_cell.shape_rule
def _(context):
    return [_state(context)] * 4


@gru_block_cell_grad.shape_rule
def _(context):
    state = _state(context)
    width = plain.with_rank(context.shapes[2], 2)[1]
    return [plain.with_rank(context.shapes[0], 2), state, state, (state[0], width)]


@gru_block_cell.gradient
def _(op, *grads):
    """What reaches r, u and c from elsewhere is not counted, as in TensorFlow."""
    x, h_prev, w_ru, w_c, b_ru, b_c = op.inputs
    r, u, c, _ = op.outputs
    x_grad, h_prev_grad, c_grad, gates_grad = gru_block_cell_grad(x, h_prev, w_ru, w_c, b_ru, b_c, r, u, c, grads[3])
    w_ru_grad = ops.matmul(ops.concat([x, h_prev], 1), gates_grad, transpose_a=True)
    b_ru_grad = ops.bias_add_grad(gates_grad)
    w_c_grad = ops.matmul(ops.concat([x, h_prev * r], 1), c_grad, transpose_a=True)
    return x_grad, h_prev_grad, w_ru_grad, w_c_grad, b_ru_grad, ops.bias_add_grad(c_grad)
