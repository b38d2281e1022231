"""BatchNormalization of TensorFlow 2."""

from __future__ import annotations

from stillflow import ops
from stillflow.keras.backend.phases import learning_phase
from stillflow.layers.core import batch_norm
from stillflow.names import public


@public("compat.v2.keras.layers.BatchNormalization", "python.keras.layers.normalization_v2.BatchNormalization")
class BatchNormalizationV2(batch_norm.BatchNormalization):
    """Inputs shifted and scaled to mean 0 and variance 1, then scaled by `gamma` and shifted by `beta`.

    In training mean and variance are those of the batch, and moving averages of them are kept; otherwise they are the
    averages. A layer that is not trainable does not train. Arguments are those of tf.layers.BatchNormalization.
    """

    _decides_fused_by_rank = True

    def call(self, inputs, training=None):
        """The outputs; `training`: a bool or a tensor, by default the learning phase of tf.keras."""
        if training is None:
            training = learning_phase()
        if isinstance(training, int):
            training = bool(training)
        return super().call(inputs, training=ops.logical_and(training, self.trainable))


# Configurations name it so.
BatchNormalizationV2.__name__ = BatchNormalizationV2.__qualname__ = "BatchNormalization"
