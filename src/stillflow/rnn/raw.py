"""raw_rnn: a loop of a cell whose inputs, states and end a function decides about."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes, nest
from stillflow.graph.shape import TensorShape, dimension_at_index, dimension_value
from stillflow.names import public
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.ops.control_flow.while_loop import while_loop
from stillflow.ops.convert import convert_to_tensor
from stillflow.rnn.dynamic import as_known_shape
from stillflow.rnn.states import assert_like_rnncell, joined_sizes
from stillflow.rnn.step import cache_variables, select
from stillflow.variables.scope import variable_scope


@public("nn.raw_rnn")
def raw_rnn(cell, loop_fn, parallel_iterations=None, swap_memory=False, scope=None):
    """Runs a cell in a loop; before each step a function says what it gets, and whether it is done.

    Args:
      cell: an RNNCell.
      loop_fn: a function of (time, the cell's output, its state, loop state) that returns (finished, bool [batch];
        the next input; the next state; what to emit, or None; the next loop state, or None for the same). It is
        called with time 0 and None for the others before the first step: what it then returns to emit are examples,
        zeros of the shapes and types, without the batch; None for the cell's output.
      parallel_iterations, swap_memory: kept on the loop's nodes.
      scope: the variable scope, or its name; "rnn" by default.

    Returns (TensorArrays of what was emitted, final state, final loop state).

    Raises:
      TypeError: if `cell` is none, or `loop_fn` cannot be called.
      ValueError: if `loop_fn` or the cell returns structures other than before.
    """
    assert_like_rnncell("cell", cell)
    if not callable(loop_fn):
        raise TypeError("loop_fn must be a callable")
    with variable_scope(scope or "rnn") as entered:
        cache_variables(entered)
        time = ops.constant(0, dtype=dtypes.int32)
        finished, next_input, state, emitted, init_loop_state = loop_fn(time, None, None, None)
        loop_state = ops.constant(0, dtype=dtypes.int32) if init_loop_state is None else init_loop_state
        size = _known_batch(nest.flatten(next_input))
        batch_size = ops.shape(nest.flatten(next_input)[0])[0] if size is None else size
        nest.assert_same_structure(state, cell.state_size)
        state = nest.map_structure(convert_to_tensor, state)
        emitted = _Emitted(cell, emitted, state)
        arrays = emitted.arrays(size)
        loop = _Loop(cell, loop_fn, emitted.zeros(batch_size))
        *_, arrays, state, loop_state = while_loop(
            lambda time, finished, *_: ops.logical_not(ops.reduce_all(finished)), loop.step,
            [time, finished, next_input, arrays, state, loop_state],
            parallel_iterations=parallel_iterations or 32, swap_memory=swap_memory,
        )  # fmt: skip
        return arrays, state, None if init_loop_state is None else loop_state


def _known_batch(tensors):
    """The batch of inputs, None if it is not known."""
    batch = dimension_at_index(tensors[0].shape, 0)
    for tensor in tensors:
        batch.merge_with(dimension_at_index(tensor.shape, 0))
    return dimension_value(batch)


class _Emitted:
    """What is emitted in each step: sizes without the batch, and types."""

    def __init__(self, cell, examples, state):
        if examples is None:
            self._structure = cell.output_size
            self._sizes = nest.flatten(self._structure)
            self._dtypes = [nest.flatten(state)[0].dtype] * len(self._sizes)
        else:
            self._structure = examples
            flat = nest.flatten(examples)
            self._sizes = [each.shape if each.shape.is_fully_defined() else ops.shape(each) for each in flat]
            self._dtypes = [each.dtype for each in flat]

    def arrays(self, known_batch):
        arrays = [
            TensorArray(
                dtype,
                size=0,
                dynamic_size=True,
                name=f"rnn_output_{i}",
                element_shape=TensorShape([known_batch]).concatenate(as_known_shape(size)),
            )
            for i, (dtype, size) in enumerate(zip(self._dtypes, self._sizes, strict=True))
        ]
        return nest.pack_sequence_as(self._structure, arrays)

    def zeros(self, batch_size):
        flat = [
            ops.zeros(joined_sizes(batch_size, size), dtype)
            for size, dtype in zip(self._sizes, self._dtypes, strict=True)
        ]
        return nest.pack_sequence_as(self._structure, flat)


class _Loop:
    """The body of the loop."""

    def __init__(self, cell, loop_fn, zero_emit):
        self._cell = cell
        self._loop_fn = loop_fn
        self._zero_emit = zero_emit

    def step(self, time, finished, current_input, arrays, state, loop_state):
        output, cell_state = self._cell(current_input, state)
        nest.assert_same_structure(state, cell_state)
        nest.assert_same_structure(self._cell.output_size, output)
        next_time = time + 1
        is_finished, next_input, next_state, emitted, next_loop_state = self._loop_fn(
            next_time, output, cell_state, loop_state
        )
        nest.assert_same_structure(state, next_state)
        nest.assert_same_structure(current_input, next_input)
        nest.assert_same_structure(arrays, emitted)

        def kept(old, new):
            return nest.map_structure(lambda a, b: select(finished, a, b), old, new)

        emitted = kept(self._zero_emit, emitted)
        next_state = kept(state, next_state)
        arrays = nest.map_structure(lambda array, value: array.write(time, value), arrays, emitted)
        finished = ops.logical_or(finished, is_finished)
        return (
            next_time, finished, next_input, arrays, next_state,
            loop_state if next_loop_state is None else next_loop_state,
        )  # fmt: skip
