"""tf.layers.Dense, Dropout and Flatten, and their functions."""

from __future__ import annotations

from stillflow.layers import base
from stillflow.layers.core import dense as core_dense
from stillflow.layers.core import dropout as core_dropout
from stillflow.layers.core import flatten as core_flatten
from stillflow.names import public
from stillflow.variables.initializers import Zeros

_ZEROS = Zeros()


@public("layers.Dense", "python.layers.core.FullyConnected")
class Dense(core_dense.Dense, base.Layer):
    """activation(inputs * kernel + bias), along the last dimension.

    Args:
      units: the size of the outputs' last dimension.
      activation: a function; None for none.
      use_bias: whether there is a bias.
      kernel_initializer, bias_initializer: callables; None for the variable scope's.
      kernel_regularizer, bias_regularizer, activity_regularizer: functions to a loss, of variables and outputs.
      kernel_constraint, bias_constraint: functions from the value after an update to the value to keep.
      trainable: whether the variables go into GraphKeys.TRAINABLE_VARIABLES.
      name: the layer's name, and the scope's.
      _reuse: whether the variables exist.
    """

    def __init__(
        self, units, activation=None, use_bias=True, kernel_initializer=None, bias_initializer=_ZEROS,
        kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
        bias_constraint=None, trainable=True, name=None, **kwargs,
    ):  # fmt: skip
        super().__init__(
            units=units, activation=activation, use_bias=use_bias, kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer, kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer, activity_regularizer=activity_regularizer,
            kernel_constraint=kernel_constraint, bias_constraint=bias_constraint, trainable=trainable, name=name,
            **kwargs,
        )  # fmt: skip


@public("layers.dense", "python.layers.core.fully_connected")
def dense(
    inputs, units, activation=None, use_bias=True, kernel_initializer=None, bias_initializer=_ZEROS,
    kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
    bias_constraint=None, trainable=True, name=None, reuse=None,
):  # fmt: skip
    """activation(inputs * kernel + bias), along the last dimension.

    Args:
      inputs: a tensor of at least two dimensions, the last of known size; or a SparseTensor of two.
      reuse: whether the variables of the layer of that name are to be used again.
      The rest: see `Dense`.

    Returns:
      A tensor of the inputs' shape, except for `units` in the place of the last size.

    Raises:
      ValueError: for inputs of a lower rank, or whose last size is not known.
    """
    layer = Dense(
        units, activation, use_bias, kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
        activity_regularizer, kernel_constraint, bias_constraint, trainable, name, _scope=name, _reuse=reuse,
    )  # fmt: skip
    return layer.apply(inputs)


@public("layers.Dropout")
class Dropout(core_dropout.Dropout, base.Layer):
    """In training, a share `rate` of the inputs set to 0 and the others divided by 1 - rate.

    Args:
      rate: a number in [0, 1).
      noise_shape: the shape of what is decided at random, which is broadcast to that of the inputs.
      seed: an integer, or None.
      name: the layer's name.
    """

    def __init__(self, rate=0.5, noise_shape=None, seed=None, name=None, **kwargs):
        super().__init__(rate=rate, noise_shape=noise_shape, seed=seed, name=name, **kwargs)

    def call(self, inputs, training=False):
        return super().call(inputs, training=training)


@public("layers.dropout")
def dropout(inputs, rate=0.5, noise_shape=None, seed=None, training=False, name=None):
    """In training, a share `rate` of the inputs set to 0 and the others divided by 1 - rate.

    Args:
      inputs: a tensor of floats.
      rate, noise_shape, seed, name: see `Dropout`.
      training: a bool, or a bool tensor; otherwise the inputs are returned as they are.
    """
    return Dropout(rate, noise_shape=noise_shape, seed=seed, name=name).apply(inputs, training=training)


@public("layers.Flatten")
class Flatten(core_flatten.Flatten, base.Layer):
    """All dimensions but the first as one. Channels that come first are moved to the end before that.

    Args:
      data_format: "channels_last" or "channels_first".
    """


@public("layers.flatten")
def flatten(inputs, name=None, data_format="channels_last"):
    """All dimensions of a tensor but the first as one; see `Flatten`."""
    return Flatten(name=name, data_format=data_format).apply(inputs)
