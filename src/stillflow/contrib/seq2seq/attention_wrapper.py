"""AttentionWrapper: a cell that attends to a memory."""

from __future__ import annotations

import collections

from stillflow import ops
from stillflow.composites.checks import assert_equal
from stillflow.contrib.framework.shapes import with_same_shape
from stillflow.contrib.seq2seq.attention_base import AttentionMechanism, known_or_found_size
from stillflow.contrib.seq2seq.keras_attention_base import KerasMechanism
from stillflow.graph import dtypes, nest
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape, dimension_value
from stillflow.layers.plain import Dense
from stillflow.names import public
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.rnn.cell import RNNCell
from stillflow.rnn.states import assert_like_rnncell, zero_states


@public("contrib.seq2seq.AttentionWrapperState")
class AttentionWrapperState(
    collections.namedtuple(
        "AttentionWrapperState",
        ("cell_state", "attention", "time", "alignments", "alignment_history", "attention_state"),
    )
):
    """The state of an AttentionWrapper.

    cell_state: the cell's. attention: the last mean of memory, [batch, size]. time: the number of the step, an int32
    scalar. alignments: the last weights. alignment_history: TensorArrays of all weights, or (). attention_state: the
    mechanisms'. The last three are tuples if there are several mechanisms.
    """

    def clone(self, **kwargs):
        """A state with other fields, which must have the same shapes. Raises ValueError if they do not."""
        return nest.map_structure(
            lambda old, new: (
                _of_same_shape(old, new) if isinstance(old, Tensor) and isinstance(new, Tensor) else new
            ),
            self,
            self._replace(**kwargs),
        )


@by_mode
def _of_same_shape(old, new):
    return with_same_shape(old, new)


@eager_version_of(_of_same_shape)
def _checked(old, new):
    if old.shape.as_list() != new.shape.as_list():
        raise ValueError(
            "The shape of the AttentionWrapperState is expected to be same as the one to clone. self.shape: "
            f"{old.shape}, input.shape: {new.shape}"
        )
    return new


@public("contrib.seq2seq.python.ops.attention_wrapper._compute_attention")
def compute_attention(attention_mechanism, cell_output, attention_state, attention_layer):
    """(attention, weights, next state of the mechanism): the mean of memory, through a layer if there is one."""
    if isinstance(attention_mechanism, KerasMechanism):
        alignments, next_state = attention_mechanism([cell_output, attention_state])
    else:
        alignments, next_state = attention_mechanism(cell_output, state=attention_state)
    mean = ops.squeeze(ops.matmul(ops.expand_dims(alignments, 1), attention_mechanism.values), [1])
    attention = mean if attention_layer is None else attention_layer(ops.concat([cell_output, mean], 1))
    return attention, alignments, next_state


def _as_tuple(value):
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def _check_count(what, kind, found, wanted):
    if found != wanted:
        raise ValueError(
            f"If provided, {what} must contain exactly one {kind} per attention_mechanism, saw: {found} vs {wanted}"
        )


_TILING = (
    "Are you using the BeamSearchDecoder?  You may need to tile your {} via the tf.contrib.seq2seq.tile_batch "
    "function with argument multiple=beam_width."
)


@public("contrib.seq2seq.AttentionWrapper")
class AttentionWrapper(RNNCell):
    """Gives a cell its input together with the last attention, and makes the next one of its output.

    Args:
      cell: an RNNCell.
      attention_mechanism: an AttentionMechanism, or a list of them.
      attention_layer_size: the size of what a linear layer makes of the cell's output and the mean of memory, or a
        list of sizes. Without it attention is the mean itself.
      alignment_history: whether the weights of all steps are kept.
      cell_input_fn: a function of (input, attention) that returns what the cell gets; by default both side by side.
      output_attention: whether the output is the attention, as in Luong et al.; else it is the cell's, as in Bahdanau
        et al.
      initial_cell_state: what `zero_state` returns for the cell.
      name, dtype: see tf.layers.Layer.
      attention_layer: a layer, or a list of layers, instead of `attention_layer_size`.
      attention_fn: a function like `_compute_attention`, which it replaces.

    Raises:
      TypeError: for arguments that are not what is asked for.
      ValueError: for other than one layer for each mechanism.
    """

    def __init__(
        self, cell, attention_mechanism, attention_layer_size=None, alignment_history=False, cell_input_fn=None,
        output_attention=True, initial_cell_state=None, name=None, attention_layer=None, attention_fn=None,
        dtype=None,
    ):  # fmt: skip
        super().__init__(name=name, dtype=dtype)
        assert_like_rnncell("cell", cell)
        self._is_multi = isinstance(attention_mechanism, (list, tuple))
        self._attention_mechanisms = _as_tuple(attention_mechanism)
        self._check_mechanisms()
        if cell_input_fn is not None and not callable(cell_input_fn):
            raise TypeError(f"cell_input_fn must be callable, saw type: {type(cell_input_fn).__name__}")
        self._cell = cell
        self._take_layers(attention_layer_size, attention_layer)
        self._attention_fn = attention_fn or compute_attention
        self._cell_input_fn = cell_input_fn or (lambda inputs, attention: ops.concat([inputs, attention], -1))
        self._output_attention = output_attention
        self._alignment_history = alignment_history
        with name_scope(name, "AttentionWrapperInit"):
            self._initial_cell_state = None
            if initial_cell_state is not None:
                self._initial_cell_state = self._checked_first(initial_cell_state)

    _attention_layers: tuple | None

    def _check_mechanisms(self):
        for mechanism in self._attention_mechanisms:
            if isinstance(mechanism, AttentionMechanism):
                continue
            if self._is_multi:
                raise TypeError(
                    "attention_mechanism must contain only instances of AttentionMechanism, saw type: "
                    f"{type(mechanism).__name__}"
                )
            raise TypeError(
                "attention_mechanism must be an AttentionMechanism or list of multiple AttentionMechanism instances, "
                f"saw type: {type(mechanism).__name__}"
            )

    def _take_layers(self, sizes, layers):
        mechanisms = self._attention_mechanisms
        if sizes is not None and layers is not None:
            raise ValueError("Only one of attention_layer_size and attention_layer should be set")
        if sizes is not None:
            sizes = _as_tuple(sizes)
            _check_count("attention_layer_size", "integer", len(sizes), len(mechanisms))
            self._attention_layers = tuple(
                Dense(size, name="attention_layer", use_bias=False, dtype=mechanism.dtype)
                for size, mechanism in zip(sizes, mechanisms, strict=True)
            )
            self._attention_layer_size = sum(sizes)
            return
        depths = [dimension_value(mechanism.values.shape[-1]) for mechanism in mechanisms]
        self._attention_layers = None
        if layers is not None:
            layers = self._attention_layers = _as_tuple(layers)
            _check_count("attention_layer", "layer", len(layers), len(mechanisms))
            self._attention_layer_size = sum(
                dimension_value(layer.compute_output_shape([None, self._cell.output_size + depth])[-1])
                for layer, depth in zip(layers, depths, strict=True)
            )
        else:
            self._attention_layer_size = sum(depths)

    def _checked_first(self, state):
        message = (
            f"When constructing AttentionWrapper {self._base_name}: Non-matching batch sizes between the memory "
            f"(encoder output) and initial_cell_state.  {_TILING.format('initial state')}"
        )
        size = known_or_found_size(nest.flatten(state)[-1], 0)
        with get_default_graph().control_dependencies(self._batch_size_checks(size, message)):
            return nest.map_structure(lambda part: ops.identity(part, name="check_initial_cell_state"), state)

    def _batch_size_checks(self, batch_size, message):
        return [
            assert_equal(batch_size, mechanism.batch_size, message=message)
            for mechanism in self._attention_mechanisms
        ]

    def _item_or_tuple(self, values):
        values = tuple(values)
        return values if self._is_multi else values[0]

    @property
    def output_size(self):
        return self._attention_layer_size if self._output_attention else self._cell.output_size

    @property
    def state_size(self):
        mechanisms = self._attention_mechanisms
        sizes = [each.alignments_size for each in mechanisms]
        return AttentionWrapperState(
            cell_state=self._cell.state_size,
            time=TensorShape([]),
            attention=self._attention_layer_size,
            alignments=self._item_or_tuple(sizes),
            attention_state=self._item_or_tuple(each.state_size for each in mechanisms),
            alignment_history=self._item_or_tuple(sizes if self._alignment_history else [()] * len(sizes)),
        )

    def zero_state(self, batch_size, dtype):
        """The first state: the cell's, or what was given for it, and what mechanisms begin with.

        With a BeamSearchDecoder the batch is that of the encoder times the width of the beam; use `clone` to set the
        cell's state.
        """
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            cell_state = self._initial_cell_state
            if cell_state is None:
                cell_state = self._cell.get_initial_state(batch_size=batch_size, dtype=dtype)
            message = (
                f"When calling zero_state of AttentionWrapper {self._base_name}: Non-matching batch sizes between "
                "the memory (encoder output) and the requested batch size.  Are you using the BeamSearchDecoder?  If "
                "so, make sure your encoder output has been tiled to beam_width via tf.contrib.seq2seq.tile_batch, "
                "and the batch_size= argument passed to zero_state is batch_size * beam_width."
            )
            with get_default_graph().control_dependencies(self._batch_size_checks(batch_size, message)):
                cell_state = nest.map_structure(
                    lambda part: ops.identity(part, name="checked_cell_state"), cell_state
                )
            mechanisms = self._attention_mechanisms
            alignments = [each.initial_alignments(batch_size, dtype) for each in mechanisms]
            return AttentionWrapperState(
                cell_state=cell_state,
                time=ops.zeros([], dtype=dtypes.int32),
                attention=zero_states(self._attention_layer_size, batch_size, dtype),
                alignments=self._item_or_tuple(alignments),
                attention_state=self._item_or_tuple(each.initial_state(batch_size, dtype) for each in mechanisms),
                alignment_history=self._item_or_tuple(self._history(each, dtype) for each in alignments),
            )

    def _history(self, alignments, dtype):
        if not self._alignment_history:
            return ()
        return TensorArray(dtype, size=0, dynamic_size=True, element_shape=alignments.shape)

    def call(self, inputs, state):
        """(attention or the cell's output, next AttentionWrapperState). Raises TypeError for another state."""
        if not isinstance(state, AttentionWrapperState):
            raise TypeError(
                f"Expected state to be instance of AttentionWrapperState. Received type {type(state)} instead."
            )
        output, cell_state = self._cell(self._cell_input_fn(inputs, state.attention), state.cell_state)
        size = known_or_found_size(output, 0)
        message = (
            f"When applying AttentionWrapper {self.name}: Non-matching batch sizes between the memory (encoder "
            f"output) and the query (decoder output).  {_TILING.format('memory input')}"
        )
        with get_default_graph().control_dependencies(self._batch_size_checks(size, message)):
            output = ops.identity(output, name="checked_cell_output")
        attentions, alignments, states, histories = self._attend(output, state)
        attention = ops.concat(attentions, 1)
        next_state = AttentionWrapperState(
            time=state.time + 1,
            cell_state=cell_state,
            attention=attention,
            attention_state=self._item_or_tuple(states),
            alignments=self._item_or_tuple(alignments),
            alignment_history=self._item_or_tuple(histories),
        )
        return attention if self._output_attention else output, next_state

    def _attend(self, output, state):
        """(attentions, weights, next states, histories), a list of each, with an item for each mechanism."""
        found = []
        for number, mechanism in enumerate(self._attention_mechanisms):
            own_state, history = state.attention_state, state.alignment_history
            if self._is_multi:
                own_state, history = own_state[number], history[number]
            layer = self._attention_layers[number] if self._attention_layers else None
            attention, alignments, next_state = self._attention_fn(mechanism, output, own_state, layer)
            history = history.write(state.time, alignments) if self._alignment_history else ()
            found.append((attention, alignments, next_state, history))
        return [list(each) for each in zip(*found, strict=True)]
