"""tf.layers.BatchNormalization and its function."""

from __future__ import annotations

from stillflow.layers import base
from stillflow.layers.core import batch_norm
from stillflow.names import public
from stillflow.variables.initializers import Ones, Zeros

_ZEROS, _ONES = Zeros(), Ones()


@public("layers.BatchNormalization", "python.layers.normalization.BatchNorm")
class BatchNormalization(batch_norm.BatchNormalization, base.Layer):
    """Inputs shifted and scaled to mean 0 and variance 1, then scaled by `gamma` and shifted by `beta`.

    In training mean and variance are those of the batch, and moving averages of them are kept by the operations that
    the layer puts into GraphKeys.UPDATE_OPS; otherwise they are the averages.
    Ioffe and Szegedy, "Batch Normalization", 2015; renorm: Ioffe, "Batch Renormalization", 2017.

    Args:
      axis: an axis, or a list of axes, that keep their own statistics.
      momentum: of the moving averages.
      epsilon: added to variances.
      center, scale: whether there are beta and gamma.
      beta_initializer, gamma_initializer, moving_mean_initializer, moving_variance_initializer: callables.
      beta_regularizer, gamma_regularizer, beta_constraint, gamma_constraint: as of other variables.
      renorm: whether training corrects for the difference between a batch and the averages.
      renorm_clipping: bounds of the correction, {"rmax": , "rmin": , "dmax": }.
      renorm_momentum: of the averages for that.
      fused: whether one operation does it all; None where that can be done.
      trainable: whether the variables go into GraphKeys.TRAINABLE_VARIABLES.
      virtual_batch_size: the size of parts of the batch that are normalized on their own.
      adjustment: a function from the shape of the inputs to a scale and a shift, which are applied in training.
      name: the layer's name, and the scope's.
    """

    def __init__(
        self, axis=-1, momentum=0.99, epsilon=1e-3, center=True, scale=True, beta_initializer=_ZEROS,
        gamma_initializer=_ONES, moving_mean_initializer=_ZEROS, moving_variance_initializer=_ONES,
        beta_regularizer=None, gamma_regularizer=None, beta_constraint=None, gamma_constraint=None, renorm=False,
        renorm_clipping=None, renorm_momentum=0.99, fused=None, trainable=True, virtual_batch_size=None,
        adjustment=None, name=None, **kwargs,
    ):  # fmt: skip
        super().__init__(
            axis=axis, momentum=momentum, epsilon=epsilon, center=center, scale=scale,
            beta_initializer=beta_initializer, gamma_initializer=gamma_initializer,
            moving_mean_initializer=moving_mean_initializer,
            moving_variance_initializer=moving_variance_initializer, beta_regularizer=beta_regularizer,
            gamma_regularizer=gamma_regularizer, beta_constraint=beta_constraint, gamma_constraint=gamma_constraint,
            renorm=renorm, renorm_clipping=renorm_clipping, renorm_momentum=renorm_momentum, fused=fused,
            trainable=trainable, virtual_batch_size=virtual_batch_size, adjustment=adjustment, name=name, **kwargs,
        )  # fmt: skip

    def call(self, inputs, training=False):
        return super().call(inputs, training=training)


@public("layers.batch_normalization", "python.layers.normalization.batch_norm")
def batch_normalization(
    inputs, axis=-1, momentum=0.99, epsilon=1e-3, center=True, scale=True, beta_initializer=_ZEROS,
    gamma_initializer=_ONES, moving_mean_initializer=_ZEROS, moving_variance_initializer=_ONES,
    beta_regularizer=None, gamma_regularizer=None, beta_constraint=None, gamma_constraint=None, training=False,
    trainable=True, name=None, reuse=None, renorm=False, renorm_clipping=None, renorm_momentum=0.99, fused=None,
    virtual_batch_size=None, adjustment=None,
):  # fmt: skip
    """Inputs shifted and scaled to mean 0 and variance 1, then scaled by `gamma` and shifted by `beta`.

    The averages are only kept if the operations in GraphKeys.UPDATE_OPS run, beside those that train.

    Args:
      inputs: a tensor of floats.
      training: a bool, or a bool tensor: whether mean and variance are those of the batch.
      reuse: whether the variables of the layer of that name are to be used again.
      The rest: see `BatchNormalization`.
    """
    layer = BatchNormalization(
        axis, momentum, epsilon, center, scale, beta_initializer, gamma_initializer, moving_mean_initializer,
        moving_variance_initializer, beta_regularizer, gamma_regularizer, beta_constraint, gamma_constraint, renorm,
        renorm_clipping, renorm_momentum, fused, trainable, virtual_batch_size, adjustment, name, _reuse=reuse,
        _scope=name,
    )  # fmt: skip
    return layer.apply(inputs, training=training)
