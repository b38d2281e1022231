"""dynamic_rnn and bidirectional_dynamic_rnn: cells in a loop along the time axis of a tensor."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.checks import assert_that
from stillflow.graph import dtypes, nest
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape, as_shape
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.ops.control_flow.while_loop import while_loop
from stillflow.ops.convert import convert_to_tensor
from stillflow.rnn.states import assert_like_rnncell, dtype_of_state, joined_sizes
from stillflow.rnn.states import initial_state as make_initial_state
from stillflow.rnn.step import Lengths, cache_variables, packs_state, rnn_step
from stillflow.variables.scope import variable_scope


@public(
    "contrib.rnn.transpose_batch_time", "python.ops.rnn._transpose_batch_time",
    "contrib.seq2seq.python.ops.decoder._transpose_batch_time",
)  # fmt: skip
def transpose_batch_time(x):
    """x with its first two axes exchanged; a vector or scalar as it is."""
    known = x.shape
    if known.rank is not None and known.rank < 2:
        return x
    result = ops.transpose(x, ops.concat(([1, 0], ops.range(2, ops.rank(x))), axis=0))
    result.set_shape(TensorShape([known.dims[1].value, known.dims[0].value]).concatenate(known[2:]))
    return result


@public("contrib.rnn.best_effort_input_batch_size", "python.ops.rnn._best_effort_input_batch_size")
def best_effort_input_batch_size(flat_input):
    """The batch of inputs [time, batch, ...] as an int if one of them tells, else as a tensor.

    Raises ValueError for an input of rank below 2.
    """
    for tensor in flat_input:
        shape = tensor.shape
        if shape.rank is None:
            continue
        if shape.rank < 2:
            raise ValueError(f"Expected input tensor {tensor} to have rank at least 2")
        size = shape.dims[1].value
        if size is not None:
            return size
    return ops.shape(flat_input[0])[1]


@public("nn.dynamic_rnn")
def dynamic_rnn(
    cell, inputs, sequence_length=None, initial_state=None, dtype=None, parallel_iterations=None, swap_memory=False,
    time_major=False, scope=None,
):  # fmt: skip
    """Runs a cell along sequences, in a loop: the number of steps need not be known.

    Args:
      cell: an RNNCell.
      inputs: [batch, time, ...], or a structure of such tensors.
      sequence_length: int32 or int64 [batch]: from there on outputs are 0, and states do not change.
      initial_state: the first state; by default the cell's zero state.
      dtype: the type of that; required without `initial_state`.
      parallel_iterations, swap_memory: kept on the loop's nodes.
      time_major: whether inputs and outputs are [time, batch, ...].
      scope: the variable scope, or its name; "rnn" by default.

    Returns (outputs [batch, time, output_size], final state), in the structures of the cell's sizes.

    Raises:
      TypeError: if `cell` is none.
      ValueError: for inputs of unknown depth, or different batches or lengths; for lengths that are no vector;
        without a type for the first state.
      InvalidArgumentError: when it is run, for other than one length for each sequence.
    """
    assert_like_rnncell("cell", cell)
    with variable_scope(scope or "rnn") as entered:
        cache_variables(entered)
        tensors = nest.flatten(inputs)
        if not time_major:
            tensors = [transpose_batch_time(tensor) for tensor in [convert_to_tensor(each) for each in tensors]]
        if sequence_length is not None:
            sequence_length = ops.cast(sequence_length, dtypes.int32)
            if sequence_length.shape.rank not in (None, 1):
                raise ValueError(
                    f"sequence_length must be a vector of length batch_size, but saw shape: {sequence_length.shape}"
                )
            sequence_length = ops.identity(sequence_length, name="sequence_length")
        batch_size = best_effort_input_batch_size(tensors)
        if initial_state is not None:
            state = initial_state
        elif not dtype:
            raise ValueError("If there is no initial_state, you must give a dtype.")
        else:
            state = make_initial_state(cell, batch_size, dtype)
        if sequence_length is not None:
            sequence_length = _checked_lengths(sequence_length, batch_size)
        loop = _Loop(cell, nest.pack_sequence_as(inputs, tensors), state, dtype, sequence_length)
        outputs, state = loop.run(parallel_iterations or 32, swap_memory)
        if not time_major:
            outputs = nest.map_structure(transpose_batch_time, outputs)
        return outputs, state


@by_mode
def _checked_lengths(lengths, batch_size):
    """The lengths, if there are as many as sequences."""
    found, wanted = ops.shape(lengths), ops.stack([batch_size])
    is_right = ops.reduce_all(ops.equal(found, wanted))
    message = [f"Expected shape for Tensor {lengths.name} is ", wanted, " but saw shape: ", found]
    with get_default_graph().control_dependencies([assert_that(is_right, message)]):
        return ops.identity(lengths, name="CheckSeqLen")


@eager_version_of(_checked_lengths)
def _given_lengths(lengths, batch_size):
    """The lengths as they are: an operation will say if they do not match."""
    return lengths


class _Loop:
    """A cell and what it runs along: inputs [time, batch, ...]."""

    def __init__(self, cell, inputs, state, dtype, sequence_length):
        self._cell = cell
        self._inputs = inputs
        self._state = state
        self._dtype = dtype
        self._tensors = nest.flatten(inputs)
        self._output_sizes = nest.flatten(cell.output_size)
        self._steps = ops.shape(self._tensors[0])[0]
        batch_size = best_effort_input_batch_size(self._tensors)
        self._known = _known_sizes(self._tensors)
        zeros = [self._zeros(batch_size, size) for size in self._output_sizes]
        self._zero_output = nest.pack_sequence_as(cell.output_size, zeros)
        self._lengths = None if sequence_length is None else Lengths(sequence_length)
        self._packs_state = packs_state(cell)

    def _zeros(self, batch_size, size):
        shape = ops.stack(joined_sizes(batch_size, size))
        return ops.zeros(shape, dtype_of_state(self._dtype, self._state))

    def run(self, parallel_iterations, swap_memory):
        """(outputs [time, batch, ...], final state)."""
        time = ops.constant(0, dtype=dtypes.int32, name="time")
        with name_scope("dynamic_rnn") as prefix:
            pass
        arrays = self._output_arrays(prefix)
        self._make_input_arrays(prefix)
        longest = self._steps if self._lengths is None else self._lengths.longest
        bound = ops.minimum(self._steps, ops.maximum(1, longest))
        _, arrays, state = while_loop(
            lambda time, *_: time < bound, self._step, (time, arrays, self._state),
            parallel_iterations=parallel_iterations, maximum_iterations=self._steps, swap_memory=swap_memory,
        )  # fmt: skip
        outputs = tuple(array.stack() for array in arrays)
        for output, size in zip(outputs, self._output_sizes, strict=True):
            output.set_shape(joined_sizes(self._known, size, static=True))
        return nest.pack_sequence_as(self._cell.output_size, outputs), state

    def _array(self, name, element_shape, dtype):
        return TensorArray(dtype, size=self._steps, element_shape=element_shape, tensor_array_name=name)

    def _output_arrays(self, prefix):
        dtype = dtype_of_state(self._dtype, self._state)
        return tuple(
            self._array(f"{prefix}output_{i}", TensorShape([self._known[1]]).concatenate(as_known_shape(size)), dtype)
            for i, size in enumerate(self._output_sizes)
        )

    def _make_input_arrays(self, prefix):
        arrays = [
            self._array(f"{prefix}input_{i}", tensor.shape[1:], tensor.dtype)
            for i, tensor in enumerate(self._tensors)
        ]
        self._input_arrays = [array.unstack(tensor) for array, tensor in zip(arrays, self._tensors, strict=True)]

    def _step(self, time, arrays, state):
        values = [array.read(time) for array in self._input_arrays]
        for value, tensor in zip(values, self._tensors, strict=True):
            value.set_shape(tensor.shape.with_rank_at_least(3)[1:])
        values = nest.pack_sequence_as(self._inputs, values)
        if self._packs_state and not nest.is_nested(state):
            state = [state]
        output, new_state = self._call_cell(time, values, state)
        if self._packs_state and len(new_state) == 1:
            new_state = new_state[0]
        written = [array.write(time, part) for array, part in zip(arrays, nest.flatten(output), strict=True)]
        return time + 1, tuple(written), new_state

    def _call_cell(self, time, values, state):
        lengths = self._lengths
        if lengths is None:
            return self._cell(values, state)
        return rnn_step(
            time, lengths.each, lengths.shortest, lengths.longest, self._zero_output, state,
            lambda: self._cell(values, state), self._cell.state_size, skip_conditionals=True,
        )  # fmt: skip


def _known_sizes(tensors):
    """[time, batch] of inputs, None for what is not known. Raises ValueError for inputs that do not fit together."""
    shapes = [tensor.shape.with_rank_at_least(3) for tensor in tensors]
    known = shapes[0].as_list()[:2]
    for shape in shapes:
        if not shape[2:].is_fully_defined():
            raise ValueError(
                "Input size (depth of inputs) must be accessible via shape inference, but saw value None."
            )
        if known[0] != shape.dims[0].value:
            raise ValueError("Time steps is not the same for all the elements in the input in a batch.")
        if known[1] != shape.dims[1].value:
            raise ValueError("Batch_size is not the same for all the elements in the input.")
    return known


@public("python.ops.rnn._maybe_tensor_shape_from_tensor")
def as_known_shape(size):
    """The shape that a tensor holds, as far as it is known while the graph is built; any other size as it is."""
    return as_shape(constant_value(size)) if isinstance(size, Tensor) else size


@public("nn.bidirectional_dynamic_rnn")
def bidirectional_dynamic_rnn(
    cell_fw, cell_bw, inputs, sequence_length=None, initial_state_fw=None, initial_state_bw=None, dtype=None,
    parallel_iterations=None, swap_memory=False, time_major=False, scope=None,
):  # fmt: skip
    """dynamic_rnn of one cell along sequences, and of another one along them from their ends.

    Args:
      cell_fw, cell_bw: the cells for the two directions.
      inputs, sequence_length, dtype, parallel_iterations, swap_memory, time_major: as for dynamic_rnn.
      initial_state_fw, initial_state_bw: their first states.
      scope: the variable scope, or its name; "bidirectional_rnn" by default.

    Returns ((forward outputs, backward outputs), (final forward state, final backward state)).

    Raises TypeError and ValueError as dynamic_rnn does.
    """
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    time_axis, batch_axis = (0, 1) if time_major else (1, 0)

    def reverse(tensor):
        if sequence_length is None:
            return ops.reverse_v2(tensor, axis=[time_axis])
        return ops.reverse_sequence(tensor, sequence_length, seq_axis=time_axis, batch_axis=batch_axis)

    def run(cell, values, state, entered):
        return dynamic_rnn(
            cell, values, sequence_length, state, dtype, parallel_iterations, swap_memory, time_major, entered
        )

    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as entered:
            output_fw, state_fw = run(cell_fw, inputs, initial_state_fw, entered)
        with variable_scope("bw") as entered:
            output_bw, state_bw = run(cell_bw, nest.map_structure(reverse, inputs), initial_state_bw, entered)
    return (output_fw, reverse(output_bw)), (state_fw, state_bw)
