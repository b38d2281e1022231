"""static_rnn and its kin: cells that are called once for each element of a list."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes, nest
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.shape import TensorShape, dimension_value, unknown_shape
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.rnn.states import assert_like_rnncell, dtype_of_state, joined_sizes
from stillflow.rnn.states import initial_state as make_initial_state
from stillflow.rnn.step import Lengths, cache_variables, packs_state, rnn_step
from stillflow.variables.scope import variable_scope


@public(
    "nn.static_rnn", "nn.rnn", "python.ops.rnn.rnn", "contrib.rnn.static_rnn",
    "contrib.rnn.python.ops.core_rnn.static_rnn",
)  # fmt: skip
def static_rnn(cell, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
    """Calls a cell for each input of a list: nodes are made for every step.

    Args:
      cell: an RNNCell.
      inputs: a list of tensors [batch, depth], or of structures of them.
      initial_state: the first state; by default the cell's zero state.
      dtype: the type of that; required without `initial_state`.
      sequence_length: int32 or int64 [batch]: from there on outputs are 0, and states do not change.
      scope: the variable scope, or its name; "rnn" by default.

    Returns (list of outputs, final state).

    Raises:
      TypeError: if `cell` is none, or `inputs` is no sequence.
      ValueError: without inputs, for inputs of unknown depth, and without a type for the first state.
    """
    assert_like_rnncell("cell", cell)
    _check_inputs(inputs)
    with variable_scope(scope or "rnn") as entered:
        cache_variables(entered)
        size = _batch_size(inputs)
        batch_size = size or ops.shape(_first(inputs))[0]
        if initial_state is not None:
            state = initial_state
        elif not dtype:
            raise ValueError("If no initial_state is provided, dtype must be specified")
        else:
            state = make_initial_state(cell, batch_size, dtype)
        step = _Step(cell, batch_size, size, dtype, state, sequence_length)
        if step.packs_state and not nest.is_nested(state):
            state = [state]
        outputs = []
        for time, values in enumerate(inputs):
            if time > 0:
                entered.reuse_variables()
            output, state = step(time, values, state)
            outputs.append(output)
        if step.packs_state and len(state) == 1:
            state = state[0]
        return outputs, state


def _check_inputs(inputs):
    if not nest.is_nested(inputs):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")


def _first(inputs):
    while nest.is_nested(inputs):
        inputs = inputs[0]
    return inputs


def _batch_size(inputs):
    """The first size of inputs, None if it is not known. Raises ValueError if other sizes are not."""
    first = _first(inputs).shape
    if first.rank == 1:  # a vector of ids, of which an EmbeddingWrapper makes vectors
        return dimension_value(first[0])
    batch = first.with_rank_at_least(2).dims[0]
    for tensor in nest.flatten(inputs):
        size, *others = tensor.shape.with_rank_at_least(2).dims
        batch.merge_with(size)
        for axis, each in enumerate(others):
            if dimension_value(each) is None:
                raise ValueError(
                    f"Input size (dimension {axis} of inputs) must be accessible via shape inference, but saw value "
                    "None."
                )
    return dimension_value(batch)


class _Step:
    """Calls a cell; with lengths, sequences end where they say."""

    def __init__(self, cell, batch_size, known_size, dtype, state, sequence_length):
        self._cell = cell
        self.packs_state = packs_state(cell)
        self._lengths = None
        if sequence_length is None:
            return
        lengths = convert_to_tensor(sequence_length, name="sequence_length")
        if lengths.shape.rank not in (None, 1):
            raise ValueError("sequence_length must be a vector of length batch_size")

        def zeros(size):
            shape = ops.stack(joined_sizes(batch_size, size))
            output = ops.zeros(shape, dtype_of_state(dtype, state))
            output.set_shape(TensorShape(joined_sizes(known_size, size, static=True)))
            return output

        sizes = cell.output_size
        self._zero_output = nest.pack_sequence_as(sizes, [zeros(size) for size in nest.flatten(sizes)])
        self._lengths = Lengths(ops.cast(lengths, dtypes.int32))

    def __call__(self, time, values, state):
        if self._lengths is None:
            return self._cell(values, state)
        lengths = self._lengths
        return rnn_step(
            time, lengths.each, lengths.shortest, lengths.longest, self._zero_output, state,
            lambda: self._cell(values, state), self._cell.state_size,
        )  # fmt: skip


@public(
    "nn.static_state_saving_rnn", "nn.state_saving_rnn", "contrib.rnn.static_state_saving_rnn",
    "contrib.rnn.python.ops.core_rnn.static_state_saving_rnn", "python.ops.rnn.state_saving_rnn",
)  # fmt: skip
def static_state_saving_rnn(cell, inputs, state_saver, state_name, sequence_length=None, scope=None):
    """static_rnn that takes its first state from a state saver and gives it the last one: long sequences in parts.

    Args:
      cell, inputs, sequence_length, scope: as for static_rnn.
      state_saver: an object with methods `state(name)`, which returns a tensor, and `save_state(name, tensor)`, which
        returns an operation.
      state_name: the name for both, or a tuple of names for the tensors of a state.

    Returns (list of outputs, final state). Evaluating the last output, or the state, saves the state.

    Raises ValueError for other than one name for each tensor of the state.
    """
    sizes = cell.state_size
    if nest.is_nested(sizes) != nest.is_nested(state_name):
        raise ValueError(
            f"state_name should be the same type as cell.state_size.  state_name: {state_name}, "
            f"cell.state_size: {sizes}"
        )
    names, count = nest.flatten(state_name), len(nest.flatten(sizes))
    if len(names) != count:
        raise ValueError(f"#elems(state_name) != #elems(state_size): {len(names)} vs. {count}")
    first = nest.pack_sequence_as(sizes, [state_saver.state(name) for name in names])
    outputs, state = static_rnn(cell, inputs, initial_state=first, sequence_length=sequence_length, scope=scope)
    saves = [state_saver.save_state(name, part) for name, part in zip(names, nest.flatten(state), strict=True)]
    with get_default_graph().control_dependencies(saves):
        outputs[-1] = nest.map_structure(ops.identity, outputs[-1])
        return outputs, nest.map_structure(ops.identity, state)


@public(
    "nn.static_bidirectional_rnn", "nn.bidirectional_rnn", "contrib.rnn.static_bidirectional_rnn",
    "contrib.rnn.python.ops.core_rnn.static_bidirectional_rnn", "python.ops.rnn.bidirectional_rnn",
)  # fmt: skip
def static_bidirectional_rnn(
    cell_fw, cell_bw, inputs, initial_state_fw=None, initial_state_bw=None, dtype=None, sequence_length=None,
    scope=None,
):  # fmt: skip
    """static_rnn of one cell along the inputs, and of another one along them from their end, side by side.

    Args:
      cell_fw, cell_bw: the cells for the two directions.
      inputs, dtype, sequence_length: as for static_rnn.
      initial_state_fw, initial_state_bw: their first states.
      scope: the variable scope, or its name; "bidirectional_rnn" by default.

    Returns (list of outputs, [forward, backward] side by side; final forward state; final backward state).

    Raises TypeError and ValueError as static_rnn does.
    """
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    _check_inputs(inputs)
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as entered:
            forward, state_fw = static_rnn(cell_fw, inputs, initial_state_fw, dtype, sequence_length, scope=entered)
        with variable_scope("bw") as entered:
            turned = reversed_list(inputs, sequence_length)
            backward, state_bw = static_rnn(cell_bw, turned, initial_state_bw, dtype, sequence_length, scope=entered)
    backward = reversed_list(backward, sequence_length)
    pairs = zip(nest.flatten(forward), nest.flatten(backward), strict=True)
    return nest.pack_sequence_as(forward, [ops.concat(pair, 1) for pair in pairs]), state_fw, state_bw


@public("python.ops.rnn._reverse_seq")
def reversed_list(input_seq, lengths):
    """A list of inputs from its end; if lengths are given, each sequence from its own end."""
    if lengths is None:
        return list(reversed(input_seq))
    flat = zip(*(nest.flatten(values) for values in input_seq), strict=True)
    turned = zip(*(_reversed(tensors, lengths) for tensors in flat), strict=True)
    return [nest.pack_sequence_as(values, each) for values, each in zip(input_seq, turned, strict=True)]


def _reversed(tensors, lengths):
    shape = unknown_shape(rank=tensors[0].shape.rank)
    for tensor in tensors:
        shape.merge_with(tensor.shape)
        tensor.set_shape(shape)
    results = ops.unstack(ops.reverse_sequence(ops.stack(tensors), lengths, 0, 1))
    for result in results:
        result.set_shape(shape)
    return results
