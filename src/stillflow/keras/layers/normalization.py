"""BatchNormalization of Keras."""

from __future__ import annotations

from stillflow.keras.backend.phases import learning_phase
from stillflow.layers.core import batch_norm
from stillflow.names import public


@public("keras.layers.BatchNormalization")
class BatchNormalization(batch_norm.BatchNormalization):
    """Inputs shifted and scaled to mean 0 and variance 1, then scaled by `gamma` and shifted by `beta`.

    In training mean and variance are those of the batch, and moving averages of them are kept; otherwise they are the
    averages. Arguments are those of tf.layers.BatchNormalization.
    """

    def call(self, inputs, training=None):
        return super().call(inputs, training=learning_phase() if training is None else training)
