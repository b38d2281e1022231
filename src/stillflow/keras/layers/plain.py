"""Layers without variables, and Lambda: activations, other shapes, dropout."""

from __future__ import annotations

import math

from stillflow import ops
from stillflow.graph.shape import TensorShape
from stillflow.keras.backend.arithmetic import any_
from stillflow.keras.backend.phases import learning_phase
from stillflow.keras.backend.shaping import repeat
from stillflow.layers.core import activations, dropout, regularizers
from stillflow.layers.core.input_spec import InputSpec
from stillflow.layers.core.layer import Layer
from stillflow.layers.core.serialization import serialize
from stillflow.layers.core.settings import image_data_format
from stillflow.names import public


@public("keras.layers.Masking")
class Masking(Layer):
    """Masks steps in time at which all features have a value, and makes these 0.

    Args:
      mask_value: the value.
    """

    def __init__(self, mask_value=0.0, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.mask_value = mask_value
        self._compute_output_and_mask_jointly = True

    def compute_mask(self, inputs, mask=None):
        return any_(ops.not_equal(inputs, self.mask_value), axis=-1)

    def call(self, inputs):
        mask = any_(ops.not_equal(inputs, self.mask_value), axis=-1, keepdims=True)
        outputs = inputs * ops.cast(mask, inputs.dtype)
        outputs._keras_mask = ops.squeeze(mask, axis=-1)
        return outputs

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {**super().get_config(), "mask_value": self.mask_value}


@public("keras.layers.Dropout")
class Dropout(dropout.Dropout):
    """In training, a share `rate` of the inputs set to 0 and the others divided by 1 - rate.

    Args:
      rate: a number in [0, 1).
      noise_shape: the shape of what is decided at random, which is broadcast to that of the inputs; sizes that are
        None are the inputs'.
      seed: an integer, or None.
    """

    def call(self, inputs, training=None):
        return super().call(inputs, training=learning_phase() if training is None else training)


class _SpatialDropout(Dropout):
    """Dropout of whole channels."""

    _rank = 0

    def __init__(self, rate, data_format=None, **kwargs):
        super().__init__(rate, **kwargs)
        self.data_format = data_format or image_data_format()
        if self.data_format not in ("channels_last", "channels_first"):
            raise ValueError('data_format must be in {"channels_last", "channels_first"}')
        self.input_spec = InputSpec(ndim=self._rank)

    def _get_noise_shape(self, inputs):
        sizes = ops.shape(inputs)
        ones = (1,) * (self._rank - 2)
        if self.data_format == "channels_first":
            return (sizes[0], sizes[1], *ones)
        return (sizes[0], *ones, sizes[self._rank - 1])


@public("keras.layers.SpatialDropout1D")
class SpatialDropout1D(Dropout):
    """Dropout of whole features of sequences.

    Args:
      rate: a number in [0, 1).
    """

    def __init__(self, rate, **kwargs):
        super().__init__(rate, **kwargs)
        self.input_spec = InputSpec(ndim=3)

    def _get_noise_shape(self, inputs):
        sizes = ops.shape(inputs)
        return sizes[0], 1, sizes[2]


@public("keras.layers.SpatialDropout2D")
class SpatialDropout2D(_SpatialDropout):
    """Dropout of whole channels of images.

    Args:
      rate: a number in [0, 1).
      data_format: "channels_last" or "channels_first".

    Raises:
      ValueError: for another format.
    """

    _rank = 4


@public("keras.layers.SpatialDropout3D")
class SpatialDropout3D(_SpatialDropout):
    """Dropout of whole channels of volumes.

    Args:
      rate: a number in [0, 1).
      data_format: "channels_last" or "channels_first".

    Raises:
      ValueError: for another format.
    """

    _rank = 5


@public("keras.layers.Activation")
class Activation(Layer):
    """An activation.

    Args:
      activation: a function, or a name.
    """

    def __init__(self, activation, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.activation = activations.get(activation)

    def call(self, inputs):
        return self.activation(inputs)

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {**super().get_config(), "activation": serialize(self.activation)}


@public("keras.layers.Reshape")
class Reshape(Layer):
    """Another shape of each sample.

    Args:
      target_shape: the shape, without the batch; one size may be -1.
    """

    def __init__(self, target_shape, **kwargs):
        super().__init__(**kwargs)
        self.target_shape = tuple(target_shape)

    def compute_output_shape(self, input_shape):
        """The shape. Raises ValueError if there are not as many elements, or for a second -1."""
        batch, *sizes = TensorShape(input_shape).as_list()
        if None in sizes:
            return TensorShape([batch, *(None if size == -1 else size for size in self.target_shape)])
        return TensorShape([batch, *self._completed_shape(math.prod(sizes))])

    def _completed_shape(self, count):
        sizes = list(self.target_shape)
        unknown = [i for i, size in enumerate(sizes) if size < 0]
        if len(unknown) > 1:
            raise ValueError("Can only specify one unknown dimension.")
        known = math.prod(size for size in sizes if size >= 0)
        if (unknown and (known == 0 or count % known != 0)) or (not unknown and known != count):
            raise ValueError("total size of new array must be unchanged")
        for i in unknown:
            sizes[i] = count // known
        return sizes

    def call(self, inputs):
        return ops.reshape(inputs, (ops.shape(inputs)[0], *self.target_shape))

    def get_config(self):
        return {**super().get_config(), "target_shape": self.target_shape}


@public("keras.layers.Permute")
class Permute(Layer):
    """The dimensions of each sample in another order.

    Args:
      dims: the order: numbers from 1.

    Raises:
      ValueError: for anything else.
    """

    def __init__(self, dims, **kwargs):
        super().__init__(**kwargs)
        self.dims = tuple(dims)
        if sorted(dims) != list(range(1, len(dims) + 1)):
            raise ValueError(
                f"Invalid permutation `dims` for Permute Layer: {dims}. The set of indices in `dims` must be "
                "consecutive and start from 1."
            )
        self.input_spec = InputSpec(ndim=len(self.dims) + 1)

    def compute_output_shape(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        return TensorShape([sizes[0], *(sizes[i] for i in self.dims)])

    def call(self, inputs):
        return ops.transpose(inputs, perm=(0, *self.dims))

    def get_config(self):
        return {**super().get_config(), "dims": self.dims}


@public("keras.layers.RepeatVector")
class RepeatVector(Layer):
    """Each vector n times.

    Args:
      n: the number.
    """

    def __init__(self, n, **kwargs):
        super().__init__(**kwargs)
        self.n = n
        self.input_spec = InputSpec(ndim=2)

    def compute_output_shape(self, input_shape):
        batch, size = TensorShape(input_shape).as_list()
        return TensorShape([batch, self.n, size])

    def call(self, inputs):
        return repeat(inputs, self.n)

    def get_config(self):
        return {**super().get_config(), "n": self.n}


@public("keras.layers.ActivityRegularization")
class ActivityRegularization(Layer):
    """The inputs; a loss of their size is added.

    Args:
      l1, l2: what absolute values, and squares, cost.
    """

    def __init__(self, l1=0.0, l2=0.0, **kwargs):
        super().__init__(activity_regularizer=regularizers.L1L2(l1=l1, l2=l2), **kwargs)
        self.supports_masking = True
        self.l1 = l1
        self.l2 = l2

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {**super().get_config(), "l1": self.l1, "l2": self.l2}
