"""rnn: a function applied to one step of sequences after the other, with states passed on."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes, nest
from stillflow.graph.operation import Tensor
from stillflow.keras.backend.shaping import expand_dims, reverse
from stillflow.names import public
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.ops.control_flow.while_loop import while_loop


@public("keras.backend.rnn")
def rnn(
    step_function, inputs, initial_states, go_backwards=False, mask=None, constants=None, unroll=False,
    input_length=None, time_major=False, zero_output_for_mask=False,
):  # fmt: skip
    """Applies a function to one step of sequences after the other.

    Args:
      step_function: a function from the inputs [batch, ...] of a step and a tuple of states and constants to the
        step's output and the next states.
      inputs: a tensor [batch, time, ...], or a structure of such.
      initial_states: the states before the first step.
      go_backwards: whether to begin at the end; outputs come in the order of steps.
      mask: bools [batch, time]: at steps that are False output and states stay as they are.
      constants: further tensors that are passed to each step.
      unroll: whether each step has nodes of its own, rather than a loop.
      input_length: the greatest number of steps of the loop.
      time_major: whether inputs and outputs are [time, batch, ...].
      zero_output_for_mask: whether outputs of masked steps are 0, rather than that of the step before.

    Returns:
      (the last output, all outputs [batch, time, ...], the last states).

    Raises:
      ValueError: for inputs of less than three dimensions; with `unroll`, if the number of steps is not known; with
        a mask, without states.
    """
    if not time_major:
        inputs = nest.map_structure(_exchanged, inputs)
    flat = nest.flatten(inputs)
    steps, batch = flat[0].shape[0], flat[0].shape[1]
    step_count = ops.shape(flat[0])[0]
    for each in flat:
        each.shape.with_rank_at_least(3)
    if mask is not None:
        if mask.dtype != dtypes.bool_:
            mask = ops.cast(mask, dtypes.bool_)
        if mask.shape.ndims == 2:
            mask = expand_dims(mask)
        if not time_major:
            mask = _exchanged(mask)
    step = _Step(step_function, tuple(constants or ()), zero_output_for_mask)
    if unroll:
        if not getattr(steps, "value", steps):
            raise ValueError("Unrolling requires a fixed number of timesteps.")
        last, outputs, states = _unrolled(step, inputs, initial_states, mask, go_backwards)
    else:
        loop = _Loop(step, inputs, initial_states, mask, go_backwards, step_count)
        last, outputs, states = loop.run(input_length)
    for output in nest.flatten(outputs):
        output.set_shape([steps, batch, *output.shape.as_list()[2:]])
    if not time_major:
        outputs = nest.map_structure(_exchanged, outputs)
    return last, outputs, states


def _exchanged(x):
    """x with its first two axes exchanged."""
    return ops.transpose(x, [1, 0, *range(2, x.shape.ndims)])


def _as_wide(mask, like, fixed=1):
    """A mask of the shape of a tensor, whose first `fixed` axes it has; ops.where wants it so."""
    for _ in range(like.shape.ndims - mask.shape.ndims):
        mask = ops.expand_dims(mask, -1)
    return ops.tile(mask, [1] * fixed + like.shape.as_list()[fixed:])


def _where(mask, tensor, other):
    return ops.where(_as_wide(mask, tensor), tensor, other)


class _Step:
    def __init__(self, function, constants, zeros_where_masked):
        self._function = function
        self._constants = constants
        self.zeros_where_masked = zeros_where_masked

    def __call__(self, inputs, states):
        return self._function(inputs, tuple(states) + self._constants)


# ---- Unrolled -----------------------------------------------------------------------------------------------


def _steps_of(tensor, go_backwards):
    steps = ops.unstack(tensor)
    return steps[::-1] if go_backwards else steps


def _unrolled(step, inputs, initial_states, mask, go_backwards):
    steps = [_steps_of(tensor, go_backwards) for tensor in nest.flatten(inputs)]
    masks = None if mask is None else _steps_of(mask, go_backwards)
    states = tuple(initial_states)
    outputs: list = []
    for i, values in enumerate(zip(*steps, strict=True)):
        output, new_states = step(nest.pack_sequence_as(inputs, list(values)), states)
        if masks is not None:
            wide = _as_wide(masks[i], output)
            output = ops.where(wide, output, outputs[-1] if outputs else ops.zeros_like(output))
            pairs = zip(states, new_states, strict=False)
            new_states = [_where(masks[i], new, old) for old, new in pairs]
        states = new_states
        outputs.append(output)
    last, together = outputs[-1], ops.stack(outputs)
    if masks is not None and step.zeros_where_masked:
        last = ops.where(_as_wide(masks[-1], last), last, ops.zeros_like(last))
        together = ops.where(_as_wide(mask, together, fixed=2), together, ops.zeros_like(together))
    return last, together, states


# ---- In a loop ----------------------------------------------------------------------------------------------


class _Loop:
    """Steps in a while loop, between arrays of the inputs' and the outputs' steps."""

    def __init__(self, step, inputs, initial_states, mask, go_backwards, step_count):
        self._step = step
        self._inputs = inputs
        self._states = tuple(initial_states)
        self._initial_states = initial_states
        self._count = step_count
        flat = nest.flatten(inputs)
        arrays = [self._array(f"input_ta_{i}", each.dtype) for i, each in enumerate(flat)]
        self._arrays = [
            array.unstack(reverse(each, 0) if go_backwards else each)
            for array, each in zip(arrays, flat, strict=True)
        ]
        # Its output tells the types and shapes of outputs; nothing else uses it.
        self._first, _ = step(nest.pack_sequence_as(inputs, [each[0] for each in flat]), tuple(initial_states))
        self._output_arrays = tuple(
            self._array(f"output_ta_{i}", each.dtype, each.shape) for i, each in enumerate(nest.flatten(self._first))
        )
        self._mask = mask
        self._go_backwards = go_backwards

    def _array(self, name, dtype, element_shape=None):
        return TensorArray(dtype, size=self._count, element_shape=element_shape, tensor_array_name=name)

    def run(self, input_length):
        time = ops.constant(0, dtype="int32", name="time")
        variables, body = (time, self._output_arrays, *self._states), self._plain_body
        if self._mask is not None:
            if not self._states:
                raise ValueError(
                    "No initial states provided! When using masking in an RNN, you should provide initial states "
                    "(and your step function should return as its first state at time `t` the output at time `t-1`)."
                )
            self._prepare_mask()
            variables, body = (time, self._output_arrays, self._zeros, *self._states), self._masked_body
        final = while_loop(
            cond=lambda time, *_: time < self._count, body=body, loop_vars=variables,
            maximum_iterations=input_length, parallel_iterations=32, swap_memory=True,
        )  # fmt: skip
        outputs = [array.stack() for array in final[1]]
        last = [output[-1] for output in outputs]
        states = final[2 if self._mask is None else 3 :]
        return nest.pack_sequence_as(self._first, last), nest.pack_sequence_as(self._first, outputs), states

    def _prepare_mask(self):
        mask = reverse(self._mask, 0) if self._go_backwards else self._mask
        self._mask_array = self._array("mask_ta", dtypes.bool_).unstack(mask)
        self._zeros = tuple(ops.zeros_like(each) for each in nest.flatten(self._first))

    def _inputs_at(self, time):
        return nest.pack_sequence_as(self._inputs, [array.read(time) for array in self._arrays])

    def _stepped(self, inputs, states):
        output, new_states = self._step(inputs, states)
        for state, new in zip(nest.flatten(states), nest.flatten(new_states), strict=False):
            if isinstance(new, Tensor):
                new.set_shape(state.shape)
        return output, new_states

    def _plain_body(self, time, arrays, *states):
        output, new_states = self._stepped(self._inputs_at(time), states)
        flat = zip(arrays, nest.flatten(output), strict=True)
        arrays = tuple(array.write(time, each) for array, each in flat)
        return (time + 1, arrays, *nest.pack_sequence_as(self._initial_states, nest.flatten(new_states)))

    def _masked_body(self, time, arrays, before, *states):
        inputs = self._inputs_at(time)
        mask = self._mask_array.read(time)
        output, new_states = self._step(inputs, states)
        others = self._zeros if self._step.zeros_where_masked else nest.flatten(before)
        outputs = _all_where(mask, nest.flatten(output), others)
        old, new = nest.flatten(states), nest.flatten(new_states)
        for state, each in zip(old, new, strict=False):
            if isinstance(each, Tensor):
                each.set_shape(state.shape)
        kept = nest.pack_sequence_as(new_states, _all_where(mask, new, old, like=old))
        arrays = tuple(array.write(time, each) for array, each in zip(arrays, outputs, strict=True))
        return (time + 1, arrays, tuple(outputs), *kept)


def _all_where(mask, tensors, others, like=None):
    masks = [_as_wide(mask, tensor) for tensor in like or tensors]
    return [ops.where(m, tensor, other) for m, tensor, other in zip(masks, tensors, others, strict=True)]
