"""Recurrent: a function of weights, state and input along the first axis of the inputs, with all states as result."""

from __future__ import annotations

from stillflow import ops
from stillflow.autodiff.custom_gradient import custom_gradient
from stillflow.graph import nest
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.ops.control_flow.while_loop import while_loop
from stillflow.ops.convert import convert_to_tensor


# Capitalized as TensorFlow has it.
@public("contrib.recurrent.Recurrent")
def Recurrent(  # noqa: N802
    theta, state0, inputs, cell_fn, cell_grad=None, extras=None, max_input_length=None, use_tpu=False,
    aligned_end=False,
):  # fmt: skip
    """Runs `state, extras = cell_fn(theta, state, inputs[t])` for all steps, in a loop.

    Args:
      theta: the weights, a structure of tensors.
      state0: the first state, a structure of tensors.
      inputs: a structure of tensors [time, ...].
      cell_fn: the function of a step, (theta, state, inputs of the step) -> (next state, extras).
      cell_grad: its gradient, (theta, state, inputs of the step, extras, gradient of the next state) ->
        (gradient of theta, of the state, of the inputs); None in it is zero. By default that of cell_fn's operations.
      extras: not used: what cell_fn gives to cell_grad is seen from cell_fn.
      max_input_length: int32: how many steps are computed; all by default.
      use_tpu: not used.
      aligned_end: whether it is the last steps that are computed, not the first.

    Returns:
      (all states [time, ...], zeros where no step was computed; the last state).
    """
    if cell_grad is None and _is_one_step(inputs, max_input_length):
        state, _ = cell_fn(theta, state0, nest.map_structure(lambda each: ops.squeeze(each, axis=[0]), inputs))
        return nest.map_structure(lambda each: ops.expand_dims(each, axis=0), state), state
    state0 = nest.map_structure(convert_to_tensor, state0)
    inputs = nest.map_structure(convert_to_tensor, inputs)
    step = _Step(cell_fn, cell_grad, theta, state0)
    steps = ops.shape(nest.flatten(inputs)[0])[0]
    count = steps if max_input_length is None else ops.cast(max_input_length, "int32")
    return _loop(step, state0, inputs, steps, count, steps - count if aligned_end else convert_to_tensor(0))


class _Step:
    """The next state as a list of tensors, with the gradient that the caller gives, if any."""

    def __init__(self, cell_fn, cell_grad, theta, state0):
        self._cell_fn, self._cell_grad = cell_fn, cell_grad
        self._theta = nest.map_structure(convert_to_tensor, theta)
        self._template = state0

    def __call__(self, state, inputs):
        parts = [self._theta, nest.pack_sequence_as(self._template, state), inputs]
        if self._cell_grad is None:
            return nest.flatten(self._cell_fn(*parts)[0])
        result = custom_gradient(lambda *flat: self._with_gradient(parts, flat))(*nest.flatten(parts))
        return list(result) if isinstance(result, list | tuple) else [result]

    def _with_gradient(self, parts, flat):
        theta, state, inputs = nest.pack_sequence_as(parts, list(flat))
        new_state, extras = self._cell_fn(theta, state, inputs)

        def gradient(*upstream):
            grads = self._cell_grad(theta, state, inputs, extras, nest.pack_sequence_as(new_state, list(upstream)))
            pairs = zip(flat, nest.flatten(list(grads)), strict=True)
            return [ops.zeros_like(tensor) if grad is None else grad for tensor, grad in pairs]

        return nest.flatten(new_state), gradient


def _loop(step, state0, inputs, steps, count, first):
    """(all states, last state): `count` steps from `first` on, of `steps`."""
    flat_state, flat_inputs = nest.flatten(state0), nest.flatten(inputs)
    sources = [TensorArray(each.dtype, size=steps).unstack(each) for each in flat_inputs]
    results = [TensorArray(each.dtype, size=count, element_shape=each.shape) for each in flat_state]

    def body(t, state, results):
        values = [source.read(first + t) for source in sources]
        for value, each in zip(values, flat_inputs, strict=True):
            value.set_shape(each.shape[1:])
        state = step(state, nest.pack_sequence_as(inputs, values))
        for new, old in zip(state, flat_state, strict=True):
            new.set_shape(old.shape)
        return t + 1, state, [each.write(t, new) for each, new in zip(results, state, strict=True)]

    _, state, results = while_loop(
        lambda t, *_: t < count, body, (convert_to_tensor(0), flat_state, results), name="recurrent"
    )
    known = flat_inputs[0].shape[:1]
    states = [_padded(each.stack(), first, steps - count - first) for each in results]
    for whole, each in zip(states, state, strict=True):
        whole.set_shape(TensorShape(known).concatenate(each.shape))
    return nest.pack_sequence_as(state0, states), nest.pack_sequence_as(state0, state)


def _padded(tensor, before, after):
    """`tensor` with rows of zeros before and after it."""
    others = ops.zeros([ops.rank(tensor) - 1, 2], dtype="int32")
    return ops.pad(tensor, ops.concat([[[before, after]], others], 0))


def _is_one_step(inputs, max_input_length):
    if not isinstance(max_input_length, Tensor):
        return max_input_length == 1
    return all(each.shape.rank is not None and each.shape.dims[0].value == 1 for each in nest.flatten(inputs))
