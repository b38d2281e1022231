"""Dense: a product with a matrix, a bias, an activation."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.linear_algebra import tensordot
from stillflow.graph import dtypes
from stillflow.graph.shape import TensorShape
from stillflow.layers.core import activations, constraints, initializers, regularizers
from stillflow.layers.core.input_spec import InputSpec
from stillflow.layers.core.layer import Layer
from stillflow.layers.core.serialization import serialize
from stillflow.layers.core.settings import floatx
from stillflow.names import public
from stillflow.ops.sparse_tensor import SparseTensor


@public("keras.layers.Dense")
class Dense(Layer):
    """activation(inputs * kernel + bias), along the last dimension.

    Args:
      units: the size of the outputs' last dimension.
      activation: a function or a name; None for none.
      use_bias: whether there is a bias.
      kernel_initializer, bias_initializer: callables or names.
      kernel_regularizer, bias_regularizer, activity_regularizer: functions to a loss, of variables and outputs.
      kernel_constraint, bias_constraint: functions from the value after an update to the value to keep.
    """

    def __init__(
        self, units, activation=None, use_bias=True, kernel_initializer="glorot_uniform", bias_initializer="zeros",
        kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
        bias_constraint=None, **kwargs,
    ):  # fmt: skip
        if "input_shape" not in kwargs and "input_dim" in kwargs:
            kwargs["input_shape"] = (kwargs.pop("input_dim"),)
        super().__init__(activity_regularizer=regularizers.get(activity_regularizer), **kwargs)
        self.units = int(units)
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.bias_constraint = constraints.get(bias_constraint)
        self.supports_masking = True
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape):
        dtype = dtypes.as_dtype(self.dtype or floatx())
        if not (dtype.is_floating or dtype.is_complex):
            raise TypeError(f"Unable to build `Dense` layer with non-floating point dtype {dtype}")
        width = TensorShape(input_shape).as_list()[-1]
        if width is None:
            raise ValueError("The last dimension of the inputs to `Dense` should be defined. Found `None`.")
        self.input_spec = InputSpec(min_ndim=2, axes={-1: width})
        self.kernel = self.add_weight(
            "kernel", shape=[width, self.units], initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer, constraint=self.kernel_constraint, dtype=self.dtype, trainable=True,
        )  # fmt: skip
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias", shape=[self.units], initializer=self.bias_initializer, regularizer=self.bias_regularizer,
                constraint=self.bias_constraint, dtype=self.dtype, trainable=True,
            )  # fmt: skip
        self.built = True

    def call(self, inputs):
        rank = inputs.shape.rank
        if rank > 2:
            outputs = tensordot(inputs, self.kernel, [[rank - 1], [0]])
            outputs.set_shape([*inputs.shape.as_list()[:-1], self.units])
        else:
            inputs = ops.cast(inputs, self._compute_dtype)
            if isinstance(inputs, SparseTensor):
                outputs = ops.sparse_tensor_dense_matmul(inputs, self.kernel)
            else:
                outputs = ops.matmul(inputs, self.kernel)
        if self.use_bias:
            outputs = ops.bias_add(outputs, self.bias)
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_shape(self, input_shape):
        """The inputs' shape with `units` for the last size. Raises ValueError unless that is known."""
        input_shape = TensorShape(input_shape).with_rank_at_least(2)
        if input_shape.as_list()[-1] is None:
            raise ValueError(f"The innermost dimension of input_shape must be defined, but saw: {input_shape}")
        return input_shape[:-1].concatenate(self.units)

    def get_config(self):
        return {
            **super().get_config(),
            "units": self.units,
            "activation": serialize(self.activation),
            "use_bias": self.use_bias,
            "kernel_initializer": serialize(self.kernel_initializer),
            "bias_initializer": serialize(self.bias_initializer),
            "kernel_regularizer": serialize(self.kernel_regularizer),
            "bias_regularizer": serialize(self.bias_regularizer),
            "activity_regularizer": serialize(self.activity_regularizer),
            "kernel_constraint": serialize(self.kernel_constraint),
            "bias_constraint": serialize(self.bias_constraint),
        }
