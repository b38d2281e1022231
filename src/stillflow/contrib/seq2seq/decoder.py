"""Decoder and dynamic_decode: steps that are repeated until all sequences have ended."""

from __future__ import annotations

import abc
import contextlib

from stillflow import ops
from stillflow.graph import dtypes, nest
from stillflow.graph.shape import TensorShape
from stillflow.graph.shape_inference import constant_value
from stillflow.layers.core.layer import Layer
from stillflow.names import public
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.ops.control_flow.while_loop import while_loop
from stillflow.ops.convert import convert_to_tensor
from stillflow.rnn.dynamic import transpose_batch_time
from stillflow.rnn.states import zero_states
from stillflow.rnn.step import cache_variables
from stillflow.variables.scope import variable_scope


class _Steps:
    """What decoders say of themselves."""

    @property
    def batch_size(self):
        """The number of sequences, an int32 scalar."""
        raise NotImplementedError

    @property
    def output_size(self):
        """The sizes of outputs, without the batch: ints, TensorShapes, or a structure of these."""
        raise NotImplementedError

    @property
    def output_dtype(self):
        """The types of outputs, in the structure of `output_size`."""
        raise NotImplementedError

    def finalize(self, outputs, final_state, sequence_lengths):
        """(outputs, final state) after the last step, for decoders that have to go back: beam search does."""
        raise NotImplementedError

    @property
    def tracks_own_finished(self):
        """Whether `step` says for each sequence whether it has ended, even if it has ended before.

        Otherwise a sequence that has ended stays so. Beam search, whose beams change places, does this itself.
        """
        return False


@public("contrib.seq2seq.Decoder")
class Decoder(_Steps, metaclass=abc.ABCMeta):
    """Steps from inputs and states to outputs, next states and next inputs."""

    @abc.abstractmethod
    def initialize(self, name=None):
        """(finished, bool [batch]; first inputs; first state)."""
        raise NotImplementedError

    @abc.abstractmethod
    def step(self, time, inputs, state, name=None):
        """(outputs, next state, next inputs, finished) of one step; `time` is its number, an int32 scalar."""
        raise NotImplementedError


@public("contrib.seq2seq.python.ops.decoder.BaseDecoder")
class BaseDecoder(_Steps, Layer):
    """A decoder that is a Keras layer: a call decodes, and returns what tf.contrib.seq2seq.dynamic_decode returns.

    Args:
      output_time_major, impute_finished, maximum_iterations, parallel_iterations, swap_memory: see dynamic_decode.
      kwargs: see tf.keras.layers.Layer.
    """

    def __init__(
        self, output_time_major=False, impute_finished=False, maximum_iterations=None, parallel_iterations=32,
        swap_memory=False, **kwargs,
    ):  # fmt: skip
        self.output_time_major = output_time_major
        self.impute_finished = impute_finished
        self.maximum_iterations = maximum_iterations
        self.parallel_iterations = parallel_iterations
        self.swap_memory = swap_memory
        super().__init__(**kwargs)

    def call(self, inputs, initial_state=None, **kwargs):
        """(outputs, final state, lengths); all arguments are passed to `initialize`."""
        return dynamic_decode(
            self, self.output_time_major, self.impute_finished, self.maximum_iterations, self.parallel_iterations,
            self.swap_memory, decoder_init_input=inputs,
            decoder_init_kwargs={**kwargs, "initial_state": initial_state},
        )  # fmt: skip

    def initialize(self, inputs, initial_state=None, **kwargs):
        """(finished, bool [batch]; first inputs; first state), of what the layer was called with."""
        raise NotImplementedError

    def step(self, time, inputs, state):
        """(outputs, next state, next inputs, finished) of one step; `time` is its number, an int32 scalar."""
        raise NotImplementedError


@public("contrib.seq2seq.dynamic_decode")
def dynamic_decode(
    decoder, output_time_major=False, impute_finished=False, maximum_iterations=None, parallel_iterations=32,
    swap_memory=False, scope=None, **kwargs,
):  # fmt: skip
    """Runs a decoder until all sequences have ended.

    Args:
      decoder: a Decoder, or a BaseDecoder.
      output_time_major: whether outputs are [time, batch, ...] instead of [batch, time, ...].
      impute_finished: whether, once a sequence has ended, its state stays the same and its outputs are 0; then the
        gradients are right that go through final states.
      maximum_iterations: an int32 scalar: no more steps than that.
      parallel_iterations, swap_memory: kept on the loop's nodes.
      scope: the variable scope, or its name; "decoder" by default.
      kwargs: what a BaseDecoder's `initialize` takes: its first argument, `decoder_init_input`, and the others in
        a dictionary, `decoder_init_kwargs`.

    Returns (outputs, final state, lengths of the sequences, int32 [batch]).

    Raises:
      TypeError: if `decoder` is none.
      ValueError: if `maximum_iterations` is no scalar.
    """
    if not isinstance(decoder, (Decoder, BaseDecoder)):
        raise TypeError(f"Expected decoder to be type Decoder, but saw: {type(decoder)}")
    with variable_scope(scope, "decoder") as entered:
        cache_variables(entered)
        if maximum_iterations is not None:
            maximum_iterations = convert_to_tensor(maximum_iterations, dtype=dtypes.int32, name="maximum_iterations")
            if maximum_iterations.shape.ndims != 0:
                raise ValueError("maximum_iterations must be a scalar")
        if isinstance(decoder, Decoder):
            first = decoder.initialize()
        else:
            first = decoder.initialize(kwargs.get("decoder_init_input"), **kwargs.get("decoder_init_kwargs", {}))
        finished, inputs, state = first
        loop = _Loop(decoder, impute_finished)
        if maximum_iterations is not None:
            finished = ops.logical_or(finished, maximum_iterations <= 0)
        lengths = ops.zeros_like(finished, dtype=dtypes.int32)
        time = ops.constant(0, dtype=dtypes.int32)
        _, arrays, state, _, _, lengths = while_loop(
            lambda *variables: ops.logical_not(ops.reduce_all(variables[4])), loop.step,
            (time, loop.arrays(), state, inputs, finished, lengths), parallel_iterations=parallel_iterations,
            maximum_iterations=maximum_iterations, swap_memory=swap_memory,
        )  # fmt: skip
        outputs = nest.map_structure(lambda array: array.stack(), arrays)
        with contextlib.suppress(NotImplementedError):  # most decoders have nothing to go back for
            outputs, state = decoder.finalize(outputs, state, lengths)
        if not output_time_major:
            outputs = nest.map_structure(transpose_batch_time, outputs)
    return outputs, state, lengths


class _Loop:
    """The steps of a decoder as the body of a loop."""

    def __init__(self, decoder, impute_finished):
        self._decoder = decoder
        self._imputes = impute_finished
        self._zeros = nest.map_structure(
            lambda size, dtype: zero_states(size, decoder.batch_size, dtype),
            decoder.output_size, decoder.output_dtype,
        )  # fmt: skip

    def arrays(self):
        """Where the outputs of all steps go."""

        def array(size, dtype):
            return TensorArray(dtype, size=0, dynamic_size=True, element_shape=self._element_shape(size))

        return nest.map_structure(array, self._decoder.output_size, self._decoder.output_dtype)

    def _element_shape(self, size):
        if not isinstance(size, TensorShape) or size.ndims == 0:
            return None
        batch_size = constant_value(convert_to_tensor(self._decoder.batch_size, name="batch_size"))
        return TensorShape([batch_size]).concatenate(size)

    def step(self, time, arrays, state, inputs, finished, lengths):
        outputs, next_state, next_inputs, is_finished = self._decoder.step(time, inputs, state)
        if not self._decoder.tracks_own_finished:
            is_finished = ops.logical_or(is_finished, finished)
        goes_on = ops.logical_not(finished)
        lengths = ops.where(goes_on, ops.fill(ops.shape(lengths), time + 1), lengths)
        nest.assert_same_structure(state, next_state)
        nest.assert_same_structure(arrays, outputs)
        nest.assert_same_structure(inputs, next_inputs)
        if self._imputes:
            outputs = nest.map_structure(lambda output, zero: ops.where(finished, zero, output), outputs, self._zeros)
            next_state = nest.map_structure(lambda new, old: _kept(finished, new, old), next_state, state)
        arrays = nest.map_structure(lambda array, output: array.write(time, output), arrays, outputs)
        return time + 1, arrays, next_state, next_inputs, is_finished, lengths


def _kept(finished, new, old):
    """The rows of `old` where sequences have ended, else those of `new`."""
    if isinstance(old, TensorArray):
        return new
    new.set_shape(old.shape)
    return new if new.shape.ndims == 0 else ops.where(finished, old, new)
