"""Bijectors whose functions are networks: MaskedAutoregressiveFlow and RealNVP."""

from __future__ import annotations

from typing import Any

import numpy as np

from stillflow import ops
from stillflow.composites.clip import clip_by_value
from stillflow.contrib.distributions.bijectors.base import Bijector
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import dimension_value
from stillflow.layers.plain import Dense, dense
from stillflow.names import public
from stillflow.ops.control_flow.while_loop import while_loop
from stillflow.variables.initializers import GlorotNormal
from stillflow.variables.scope import get_variable_scope, variable_scope
from stillflow.variables.template import make_template


def _scaled(x, shift, log_scale):
    if log_scale is not None:
        x *= ops.exp(log_scale)
    return x if shift is None else x + shift


def _unscaled(y, shift, log_scale):
    if shift is not None:
        y -= shift
    return y if log_scale is None else y * ops.exp(-log_scale)


def _known_depth(x):
    depth = dimension_value(x.shape.with_rank_at_least(1)[-1])
    if depth is None:
        raise NotImplementedError("Rightmost dimension must be known prior to graph execution.")
    return depth


@public("contrib.distributions.bijectors.MaskedAutoregressiveFlow")
class MaskedAutoregressiveFlow(Bijector):
    """y_i = x_i exp(log_scale_i) + shift_i, where both depend on y_0, ..., y_(i - 1).

    Papamakarios et al., "Masked Autoregressive Flow for Density Estimation", 2017.

    Args:
      shift_and_log_scale_fn: a function of y that gives shift and log_scale; either may be None.
      is_constant_jacobian, validate_args, name: see Bijector.
      unroll_loop: whether `forward` has as many copies of the function as there are coordinates, and no loop.

    Raises ValueError if the loop is to be unrolled and the number of coordinates is not known.
    """

    def __init__(
        self, shift_and_log_scale_fn, is_constant_jacobian=False, validate_args=False, unroll_loop=False, name=None
    ):
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        self._unroll_loop = unroll_loop
        super().__init__(
            forward_min_event_ndims=1,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name or "masked_autoregressive_flow",
        )

    def _forward(self, x):
        size = dimension_value(x.shape.with_rank_at_least(1)[-1])
        if self._unroll_loop:
            if size is None:
                raise ValueError(
                    "The final dimension of `x` must be known at graph construction time if `unroll_loop=True`. "
                    f"`x.shape: {x.shape!r}`"
                )
            y = ops.zeros_like(x, name="y0")
            for _ in range(size):
                y = _scaled(x, *self._shift_and_log_scale_fn(y))
            return y
        count = ops.shape(x)[-1]
        first = ops.zeros_like(x, name="y0")
        self._shift_and_log_scale_fn(first)  # makes the variables, outside of the loop

        def step(index, y):
            with variable_scope(get_variable_scope()) as scope:
                if scope.caching_device is None:
                    scope.set_caching_device(lambda op: op.device)
                shift, log_scale = self._shift_and_log_scale_fn(y)
            y = _scaled(x, shift, log_scale)
            return index + 1, y

        _, y = while_loop(
            cond=lambda index, _: index < count, body=step, loop_vars=(0, first), maximum_iterations=size
        )
        return y

    def _inverse(self, y):
        return _unscaled(y, *self._shift_and_log_scale_fn(y))

    def _inverse_log_det_jacobian(self, y):
        _, log_scale = self._shift_and_log_scale_fn(y)
        if log_scale is None:
            return ops.constant(0.0, dtype=y.dtype, name="ildj")
        return -ops.reduce_sum(log_scale, axis=-1)


def _mask(blocks, inputs, outputs, exclusive):
    """[inputs, outputs]: 1 where a block of outputs may depend on one of inputs: on those before it, or also its own.

    Germain et al., "MADE: Masked Autoencoder for Distribution Estimation", 2015.
    """
    mask = np.zeros([outputs, inputs], np.float32)
    wide, high = inputs // blocks, outputs // blocks
    for i in range(blocks):
        mask[high * (i + exclusive) :, wide * i : wide * (i + 1)] = 1
    return mask.T


@public("contrib.distributions.bijectors.masked_dense")
def masked_dense(
    inputs, units, num_blocks=None, exclusive=False, kernel_initializer=None, reuse=None, name=None, *args, **kwargs
):
    """A dense layer in which a block of units depends on the blocks of inputs before it only.

    Args:
      inputs: a tensor whose last dimension is known.
      units: how many outputs.
      num_blocks: into how many blocks inputs and outputs are parted.
      exclusive: whether the block of the same number does not count as before it.
      kernel_initializer: of the weights; Glorot's normal one by default.
      reuse, name: see tf.layers.dense.
      *args, **kwargs: of tf.layers.Dense.

    Raises NotImplementedError if the last dimension is not known.
    """
    mask = _mask(num_blocks, _known_depth(inputs), units, bool(exclusive))
    initializer = kernel_initializer or GlorotNormal()

    def masked_initializer(shape, dtype=None, partition_info=None):
        return mask * initializer(shape, dtype, partition_info)

    with name_scope(name, "masked_dense", [inputs, units, num_blocks]):
        options: dict[str, Any] = {
            "kernel_initializer": masked_initializer,
            "kernel_constraint": lambda x: mask * x,
            "name": name,
            "dtype": inputs.dtype.base_dtype,
            "_scope": name,
            "_reuse": reuse,
        }
        make: Any = Dense  # whose arguments may be positional, too
        layer = make(units, *args, **options, **kwargs)
        return layer.apply(inputs)


@public("contrib.distributions.bijectors.masked_autoregressive_default_template")
def masked_autoregressive_default_template(
    hidden_layers,
    shift_only=False,
    activation=ops.relu,
    log_scale_min_clip=-5.0,
    log_scale_max_clip=3.0,
    log_scale_clip_gradient=False,
    name=None,
    *args,
    **kwargs,
):
    """A network of masked layers for MaskedAutoregressiveFlow, whose variables are made once.

    Args:
      hidden_layers: how many units each hidden layer has.
      shift_only: whether there is no log_scale.
      activation: of the hidden layers.
      log_scale_min_clip, log_scale_max_clip: the bounds of log_scale.
      log_scale_clip_gradient: whether its gradient is 0 outside of them.
      name: a name of the variables' scope.
      *args, **kwargs: of masked_dense.
    """
    name = name or "masked_autoregressive_default_template"
    with name_scope(name, values=[log_scale_min_clip, log_scale_max_clip]):

        def network(x):
            depth = _known_depth(x)
            shape = np.int32(x.shape.as_list()) if x.shape.is_fully_defined() else ops.shape(x)
            for i, units in enumerate(hidden_layers):
                x = masked_dense(
                    *args,
                    inputs=x,
                    units=units,
                    num_blocks=depth,
                    exclusive=i == 0,
                    activation=activation,
                    **kwargs,
                )
            outputs = depth if shift_only else 2 * depth
            x = masked_dense(*args, inputs=x, units=outputs, num_blocks=depth, activation=None, **kwargs)
            if shift_only:
                return ops.reshape(x, shape=shape), None
            x = ops.reshape(x, shape=ops.concat([shape, [2]], axis=0))
            shift, log_scale = ops.unstack(x, num=2, axis=-1)
            clip = clip_by_value if log_scale_clip_gradient else _clipped_with_gradient
            return shift, clip(log_scale, log_scale_min_clip, log_scale_max_clip)

        return make_template(name, network)


def _clipped_with_gradient(x, least, most):
    with name_scope(None, "clip_by_value_preserve_grad", [x, least, most]):
        return x + ops.stop_gradient(clip_by_value(x, least, most) - x)


@public("contrib.distributions.bijectors.RealNVP")
class RealNVP(Bijector):
    """The first coordinates as they are, the others scaled and shifted by a function of those.

    Dinh et al., "Density Estimation using Real NVP", 2017.

    Args:
      num_masked: how many coordinates stay.
      shift_and_log_scale_fn: a function of these and of the number of others that gives shift and log_scale; either
        may be None.
      is_constant_jacobian, validate_args, name: see Bijector.

    Raises ValueError unless the number is above 0 and below that of all, NotImplementedError if that is not known.
    """

    def __init__(
        self, num_masked, shift_and_log_scale_fn, is_constant_jacobian=False, validate_args=False, name=None
    ):
        if num_masked <= 0:
            raise ValueError("num_masked must be a positive integer.")
        self._num_masked = num_masked
        self._depth: Any = None
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        super().__init__(
            forward_min_event_ndims=1,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name or "real_nvp",
        )

    def _moves(self, kept):
        """shift and log_scale of the coordinates that do not stay."""
        return self._shift_and_log_scale_fn(kept, self._depth - self._num_masked)

    def _first(self, x):
        """The coordinates that stay."""
        if self._depth is None:
            self._depth = _known_depth(x)
            if self._num_masked >= self._depth:
                raise ValueError("Number of masked units must be smaller than the event size.")
        return x[:, : self._num_masked]

    def _forward(self, x):
        kept, others = self._first(x), x[:, self._num_masked :]
        shift, log_scale = self._moves(kept)
        return ops.concat([kept, _scaled(others, shift, log_scale)], axis=-1)

    def _inverse(self, y):
        kept, others = self._first(y), y[:, self._num_masked :]
        shift, log_scale = self._moves(kept)
        return ops.concat([kept, _unscaled(others, shift, log_scale)], axis=-1)

    def _inverse_log_det_jacobian(self, y):
        _, log_scale = self._moves(self._first(y))
        if log_scale is None:
            return ops.constant(0.0, dtype=y.dtype, name="ildj")
        return -ops.reduce_sum(log_scale, axis=-1)

    def _forward_log_det_jacobian(self, x):
        _, log_scale = self._moves(self._first(x))
        if log_scale is None:
            return ops.constant(0.0, dtype=x.dtype, name="fldj")
        return ops.reduce_sum(log_scale, axis=-1)


@public("contrib.distributions.bijectors.real_nvp_default_template")
def real_nvp_default_template(hidden_layers, shift_only=False, activation=ops.relu, name=None, *args, **kwargs):
    """A network of dense layers for RealNVP, whose variables are made once.

    Args:
      hidden_layers: how many units each hidden layer has.
      shift_only: whether there is no log_scale.
      activation: of the hidden layers.
      name: a name scope.
      *args, **kwargs: of tf.layers.dense.
    """
    with name_scope(name, "real_nvp_default_template"):

        def network(x, output_units):
            for units in hidden_layers:
                x = dense(*args, inputs=x, units=units, activation=activation, **kwargs)
            outputs = output_units if shift_only else 2 * output_units
            x = dense(*args, inputs=x, units=outputs, activation=None, **kwargs)
            return (x, None) if shift_only else tuple(ops.split(x, 2, axis=-1))

        return make_template("real_nvp_default_template", network)
