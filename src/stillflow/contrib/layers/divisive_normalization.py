"""GDN: each channel divided by the root of a sum over the channels' squares."""

from __future__ import annotations

from stillflow import ops
from stillflow.autodiff.registry import RegisterGradient
from stillflow.composites.convolution import convolution
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape
from stillflow.layers import base
from stillflow.layers.core.input_spec import InputSpec
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor

_CHANNEL_AXES = {"channels_first": 1, "channels_last": -1}


def _lower_bound(inputs, bound):
    """The inputs, at least `bound`; gradients that would make them larger pass through where they are not."""
    with name_scope(None, "GDNLowerBound", [inputs, bound]) as scope:
        inputs = convert_to_tensor(inputs, name="inputs")
        bound = convert_to_tensor(bound, name="bound")
        with get_default_graph().gradient_override_map({"Maximum": "GDNLowerBound"}):
            return ops.maximum(inputs, bound, name=scope)


@RegisterGradient("GDNLowerBound")
def _lower_bound_gradient(op, grad):
    inputs, bound = op.inputs
    passes = ops.logical_or(inputs >= bound, grad < 0)
    return [ops.cast(passes, grad.dtype) * grad, None]


@public("contrib.layers.GDN")
class GDN(base.Layer):
    """inputs / sqrt(beta + sum over channels of gamma * inputs^2); with `inverse`, times that root.

    Balle et al., "Density Modeling of Images Using a Generalized Normalization Transformation", 2015.

    Args:
      inverse: whether to multiply.
      beta_min: what beta is at least.
      gamma_init: the initial value of the diagonal of gamma.
      reparam_offset: what keeps gradients of small values from vanishing.
      data_format: "channels_last" or "channels_first".
      activity_regularizer: a function from the outputs to a loss.
      trainable: whether the variables are to be trained.
      name: the layer's name.

    Raises:
      ValueError: for another format.
    """

    def __init__(
        self, inverse=False, beta_min=1e-6, gamma_init=0.1, reparam_offset=2**-18, data_format="channels_last",
        activity_regularizer=None, trainable=True, name=None, **kwargs,
    ):  # fmt: skip
        super().__init__(trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs)
        if data_format not in _CHANNEL_AXES:
            raise ValueError(f"Unsupported `data_format` for GDN layer: {data_format}.")
        self.inverse = inverse
        self._beta_min = beta_min
        self._gamma_init = gamma_init
        self._reparam_offset = reparam_offset
        self.data_format = data_format
        self.input_spec = InputSpec(min_ndim=3, max_ndim=5)

    def build(self, input_shape):
        input_shape = TensorShape(input_shape)
        axis = _CHANNEL_AXES[self.data_format]
        channels = input_shape.as_list()[axis]
        if channels is None:
            raise ValueError("The channel dimension of the inputs to `GDN` must be defined.")
        self._input_rank = input_shape.rank
        self.input_spec = InputSpec(ndim=input_shape.rank, axes={axis: channels})
        pedestal = self._pedestal()
        beta_bound = ops.constant((self._beta_min + self._reparam_offset**2) ** 0.5, dtype=self.dtype)
        gamma_bound = ops.constant(self._reparam_offset, dtype=self.dtype)

        def beta_initializer(shape, dtype=None, partition_info=None):
            pedestal = self._pedestal()
            return ops.sqrt(ops.ones(shape, dtype=dtype) + pedestal)

        def gamma_initializer(shape, dtype=None, partition_info=None):
            diagonal = ops.eye(shape[0], dtype=dtype)
            pedestal = self._pedestal()
            return ops.sqrt(self._gamma_init * diagonal + pedestal)

        beta = self.add_variable(
            "reparam_beta", shape=[channels], initializer=beta_initializer, dtype=self.dtype, trainable=True
        )
        self.beta = ops.square(_lower_bound(beta, beta_bound)) - pedestal
        gamma = self.add_variable(
            "reparam_gamma", shape=[channels, channels], initializer=gamma_initializer, dtype=self.dtype,
            trainable=True,
        )  # fmt: skip
        self.gamma = ops.square(_lower_bound(gamma, gamma_bound)) - pedestal
        self.built = True

    def _pedestal(self):
        return ops.constant(self._reparam_offset**2, dtype=self.dtype)

    def call(self, inputs):
        inputs = convert_to_tensor(inputs, dtype=self.dtype)
        rank = self._input_rank
        kernel = ops.reshape(self.gamma, [1] * (rank - 2) + self.gamma.shape.as_list())
        if self.data_format == "channels_first":
            sums = convolution(ops.square(inputs), kernel, "VALID", data_format=f"NC{'DHW'[2 - rank :]}")
            sums = self._with_beta(sums, rank)
        else:
            sums = convolution(ops.square(inputs), kernel, "VALID")
            sums = ops.bias_add(sums, self.beta, data_format="NHWC")
        roots = ops.sqrt(sums)
        outputs = inputs * roots if self.inverse else inputs / roots
        outputs.set_shape(inputs.shape)
        return outputs

    def _with_beta(self, sums, rank):
        """sums + beta, of channels that come first: biases are added to images."""
        if rank == 3:
            images = ops.bias_add(ops.expand_dims(sums, 2), self.beta, data_format="NCHW")
            return ops.squeeze(images, [2])
        if rank == 4:
            return ops.bias_add(sums, self.beta, data_format="NCHW")
        shape = ops.shape(sums)
        images = ops.reshape(sums, ops.concat([shape[:3], [-1]], 0))
        return ops.reshape(ops.bias_add(images, self.beta, data_format="NCHW"), shape)

    def compute_output_shape(self, input_shape):
        input_shape = TensorShape(input_shape)
        if not 3 <= input_shape.rank <= 5:
            raise ValueError("`input_shape` must be of rank 3 to 5, inclusive.")
        if input_shape.as_list()[_CHANNEL_AXES[self.data_format]] is None:
            raise ValueError("The channel dimension of `input_shape` must be defined.")
        return input_shape


@public("contrib.layers.gdn")
def gdn(
    inputs, inverse=False, beta_min=1e-6, gamma_init=0.1, reparam_offset=2**-18, data_format="channels_last",
    activity_regularizer=None, trainable=True, name=None, reuse=None,
):  # fmt: skip
    """inputs / sqrt(beta + sum over channels of gamma * inputs^2); see `GDN`."""
    layer = GDN(
        inverse, beta_min, gamma_init, reparam_offset, data_format, activity_regularizer, trainable, name,
        dtype=inputs.dtype.base_dtype, _scope=name, _reuse=reuse,
    )  # fmt: skip
    return layer.apply(inputs)
