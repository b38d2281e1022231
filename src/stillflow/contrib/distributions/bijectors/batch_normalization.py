"""BatchNormalization: a bijector whose inverse is batch normalization, for normalizing flows."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.normalization import moments
from stillflow.contrib.distributions.bijectors.base import Bijector
from stillflow.graph.name_scope import name_scope
from stillflow.layers.normalization import BatchNormalization as BatchNormalizationLayer
from stillflow.names import public


def _positive(x):
    return ops.relu(x) + 1e-6


@public("contrib.distributions.bijectors.BatchNormalization")
class BatchNormalization(Bijector):
    """x = (y - mean) / deviation: `inverse` normalizes a batch, `forward` undoes it with the moving averages.

    Dinh et al., "Density Estimation using Real NVP", 2017.

    Args:
      batchnorm_layer: a `tf.layers.BatchNormalization`; by default one whose gamma stays positive.
      training: whether `inverse` takes the moments of the batch, and updates the moving averages.
      validate_args, name: see Bijector.

    Raises ValueError for a layer of another class, with `renorm` or with a virtual batch size.
    """

    def __init__(self, batchnorm_layer=None, training=True, validate_args=False, name="batch_normalization"):
        layer = batchnorm_layer or BatchNormalizationLayer(gamma_constraint=_positive)
        if not isinstance(layer, BatchNormalizationLayer):
            raise ValueError("batchnorm_layer must be an instance of BatchNormalization layer.")
        if layer.renorm:
            raise ValueError("BatchNorm Bijector does not support renormalization.")
        if layer.virtual_batch_size:
            raise ValueError("BatchNorm Bijector does not support virtual batch sizes.")
        self.batchnorm = layer
        self._training = training
        rank = 1 if isinstance(layer.axis, int) else len(layer.axis)
        super().__init__(forward_min_event_ndims=rank, validate_args=validate_args, name=name)

    def _axes(self):
        return [self.batchnorm.axis] if isinstance(self.batchnorm.axis, int) else list(self.batchnorm.axis)

    def _built_for(self, shape):
        if not shape.is_fully_defined():
            raise ValueError("Input must have shape known at graph construction.")
        if not self.batchnorm.built:
            self.batchnorm.build(shape)

    def _forward(self, x):
        self._built_for(x.shape)
        layer, rank = self.batchnorm, x.shape.ndims
        axes = [axis % rank for axis in self._axes()]
        shape = [1] * rank
        shape[axes[0]] = x.shape.as_list()[axes[0]]
        is_last = axes == [rank - 1]

        def along_axis(value):
            return value if is_last or len(value.shape) == rank else ops.reshape(value, shape)

        mean, variance = along_axis(layer.moving_mean), along_axis(layer.moving_variance)
        beta = along_axis(layer.beta) if layer.center else None
        gamma = along_axis(layer.gamma) if layer.scale else None
        with name_scope("undo_batchnorm", values=[x, mean, variance, gamma, beta]):
            deviation = ops.sqrt(variance + layer.epsilon)
            if gamma is not None:
                deviation /= gamma
            scaled = x * deviation
            return scaled + (mean if beta is None else mean - beta * deviation)

    def _inverse(self, y):
        return self.batchnorm.apply(y, training=self._training)

    def _forward_log_det_jacobian(self, x):
        return -self._determinant(x, uses_averages=True)

    def _inverse_log_det_jacobian(self, y):
        return self._determinant(y, uses_averages=not self._training)

    def _determinant(self, y, uses_averages):
        self._built_for(y.shape)
        rank = y.shape.ndims
        if uses_averages:
            variance = self.batchnorm.moving_variance
        else:
            own = [axis % rank for axis in self._axes()]
            others = [axis for axis in range(rank) if axis not in own]
            _, variance = moments(y, axes=others, keepdims=True)
        logarithm = ops.log(variance + self.batchnorm.epsilon)
        of_gamma = ops.reduce_sum(ops.log(self.batchnorm.gamma)) if self.batchnorm.scale else 0.0
        return of_gamma - 0.5 * ops.reduce_sum(logarithm)
