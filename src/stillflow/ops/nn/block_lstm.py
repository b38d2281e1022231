"""BlockLSTM: an LSTM layer along a sequence as one node, with its gradient."""

from __future__ import annotations

from stillflow.graph.shape_inference import ShapeError
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

_IN = "seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T"
_OUT = "i: T, cs: T, f: T, o: T, ci: T, co: T, h: T"
_GRAD_IN = f"{_IN}, {_OUT}, cs_grad: T, h_grad: T"
_GRAD_OUT = "x_grad: T, cs_prev_grad: T, h_prev_grad: T, w_grad: T, wci_grad: T, wcf_grad: T, wco_grad: T, b_grad: T"
_INPUTS = "seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b"
_GRAD_INPUTS = f"{_INPUTS}, i, cs, f, o, ci, co, h, cs_grad, h_grad"
_FLOATS = "T: {float16, float32}"

block_lstm = define_op(
    f"BlockLSTM({_IN}) -> ({_OUT})",
    f"forget_bias: float = 1.0; cell_clip: float = 3.0; use_peephole: bool = false; {_FLOATS}",
    kernel=f"block_lstm({_INPUTS} | forget_bias, cell_clip, use_peephole, false)",
    public="python.ops.gen_rnn_ops.block_lstm",
    doc="""The steps of LSTMBlockCell along a sequence.

Args:
  seq_len_max: int64, how many steps are computed; the others are 0.
  x: [time, batch, input].
  cs_prev, h_prev: [batch, cell], the first state.
  w, wci, wcf, wco, b, forget_bias, cell_clip, use_peephole: see lstm_block_cell.

Returns (i, cs, f, o, ci, co, h), all [time, batch, cell].

Raises InvalidArgumentError, when it is run, for sizes that do not fit.""",
)
block_lstm_v2 = define_op(
    f"BlockLSTMV2({_IN}) -> ({_OUT})",
    f"cell_clip: float = 0.0; use_peephole: bool = false; {_FLOATS}",
    kernel=f"block_lstm({_INPUTS} | 0, cell_clip, use_peephole, true)",
    public="python.ops.gen_rnn_ops.block_lstmv2",
    doc="As block_lstm, but w and b have the order i, f, c, o, and nothing is added to f.",
)
block_lstm_grad = define_op(
    f"BlockLSTMGrad({_GRAD_IN}) -> ({_GRAD_OUT})",
    f"use_peephole: bool; {_FLOATS}",
    kernel=f"block_lstm_grad({_GRAD_INPUTS} | use_peephole, false)",
    differentiable=None,
)
block_lstm_grad_v2 = define_op(
    f"BlockLSTMGradV2({_GRAD_IN}) -> ({_GRAD_OUT})",
    f"use_peephole: bool; {_FLOATS}",
    kernel=f"block_lstm_grad({_GRAD_INPUTS} | use_peephole, true)",
    differentiable=None,
)


@block_lstm.shape_rule
@block_lstm_v2.shape_rule
def _(context):
    steps, batch, _ = plain.with_rank(context.shapes[1], 3)
    (width,) = plain.with_rank(context.shapes[8], 1)
    if width is not None and width % 4:
        raise ShapeError(f"Dimension size must be evenly divisible by 4 but is {width}")
    return [(steps, batch, None if width is None else width // 4)] * 7


@block_lstm_grad.shape_rule
@block_lstm_grad_v2.shape_rule
def _(context):
    ranks = 3, 2, 2, 2, 1, 1, 1, 1
    return [plain.with_rank(shape, rank) for shape, rank in zip(context.shapes[1:9], ranks, strict=True)]


@block_lstm.gradient
def _(op, *grads):
    return _gradients(block_lstm_grad, op, grads)


@block_lstm_v2.gradient
def _(op, *grads):
    """TensorFlow 1.15 takes the gradient of the first version here, whose gates are in another order."""
    return _gradients(block_lstm_grad, op, grads)


def _gradients(grad_op, op, grads):
    """What reaches i, f, o, ci and co from elsewhere is not counted, as in TensorFlow."""
    found = grad_op(*op.inputs, *op.outputs, grads[1], grads[6], use_peephole=op.get_attr("use_peephole"))
    return (None, *found)
