"""BatchNormalization of Keras, and LayerNormalization."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.normalization import batch_normalization, moments
from stillflow.graph.shape import TensorShape
from stillflow.keras.backend.phases import learning_phase
from stillflow.layers.core import batch_norm, constraints, initializers, regularizers
from stillflow.layers.core.layer import Layer
from stillflow.layers.core.serialization import serialize
from stillflow.names import public


@public("keras.layers.BatchNormalization", "python.keras.layers.normalization.BatchNormalizationV1")
class BatchNormalization(batch_norm.BatchNormalization):
    """Inputs shifted and scaled to mean 0 and variance 1, then scaled by `gamma` and shifted by `beta`.

    In training mean and variance are those of the batch, and moving averages of them are kept; otherwise they are the
    averages. Arguments are those of tf.layers.BatchNormalization.
    """

    def call(self, inputs, training=None):
        return super().call(inputs, training=learning_phase() if training is None else training)


_MADE = (
    "beta_initializer", "gamma_initializer", "beta_regularizer", "gamma_regularizer", "beta_constraint",
    "gamma_constraint",
)  # fmt: skip


@public("keras.layers.LayerNormalization")
class LayerNormalization(Layer):
    """Each sample shifted and scaled to mean 0 and variance 1 along axes: Ba et al. 2016, arXiv:1607.06450.

    Args:
      axis: the axis, or several.
      epsilon: what is added to the variance.
      center, scale: whether results are shifted by `beta`, and scaled by `gamma`.
      beta_initializer, gamma_initializer: callables or names.
      beta_regularizer, gamma_regularizer: functions from a variable to a loss.
      beta_constraint, gamma_constraint: functions from the value after an update to the value to keep.

    Raises:
      ValueError: for an axis that is no integer; when built, for one that inputs do not have, or that comes twice.
    """

    def __init__(
        self, axis=-1, epsilon=1e-3, center=True, scale=True, beta_initializer="zeros", gamma_initializer="ones",
        beta_regularizer=None, gamma_regularizer=None, beta_constraint=None, gamma_constraint=None, trainable=True,
        name=None, **kwargs,
    ):  # fmt: skip
        super().__init__(name=name, trainable=trainable, **kwargs)
        if not isinstance(axis, (int, list, tuple)):
            raise ValueError(
                f"Expected an int or a list/tuple of ints for the argument 'axis', but received instead: {axis}"
            )
        self.axis = axis if isinstance(axis, int) else axis[:]
        self.epsilon = epsilon
        self.center = center
        self.scale = scale
        self.beta_initializer = initializers.get(beta_initializer)
        self.gamma_initializer = initializers.get(gamma_initializer)
        self.beta_regularizer = regularizers.get(beta_regularizer)
        self.gamma_regularizer = regularizers.get(gamma_regularizer)
        self.beta_constraint = constraints.get(beta_constraint)
        self.gamma_constraint = constraints.get(gamma_constraint)
        self.supports_masking = True

    def build(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        axes = [self.axis] if isinstance(self.axis, int) else list(self.axis)
        axes = [axis + len(sizes) if axis < 0 else axis for axis in axes]
        for axis in axes:
            if not 0 <= axis < len(sizes):
                raise ValueError(f"Invalid axis: {axis}")
        if len(axes) != len(set(axes)):
            raise ValueError(f"Duplicate axis: {tuple(axes)}")
        self.axis = axes
        shape = [sizes[axis] for axis in axes]
        self.gamma = self._weight("gamma", shape) if self.scale else None
        self.beta = self._weight("beta", shape) if self.center else None
        self.built = True

    def _weight(self, name, shape):
        options = {key: getattr(self, f"{name}_{key}") for key in ("initializer", "regularizer", "constraint")}
        return self.add_weight(name=name, shape=shape, trainable=True, experimental_autocast=False, **options)

    def call(self, inputs):
        shape = inputs.shape
        axes = list(self.axis)  # type: ignore[arg-type]
        mean, variance = moments(inputs, axes, keep_dims=True)
        outer = [size if axis in axes else 1 for axis, size in enumerate(shape.as_list())]

        def broadcast(weight):
            if weight is None or len(weight.shape) == len(shape) or axes == [len(shape) - 1]:
                return weight
            return ops.reshape(weight, outer)

        scale, offset = broadcast(self.gamma), broadcast(self.beta)
        outputs = batch_normalization(inputs, mean, variance, offset, scale, self.epsilon)
        outputs.set_shape(shape)
        return outputs

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        plain = {key: getattr(self, key) for key in ("epsilon", "center", "scale")}
        axis = self.axis if isinstance(self.axis, int) else list(self.axis)
        made = {key: serialize(getattr(self, key)) for key in _MADE}
        return {**super().get_config(), "axis": axis, **plain, **made}
