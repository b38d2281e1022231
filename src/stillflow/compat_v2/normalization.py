"""compat.v2.keras.layers.BatchNormalization: one that is not trained any more normalizes by its averages."""

from __future__ import annotations

import stillflow as tf
from stillflow.names import public


@public("compat.v2.keras.layers.BatchNormalization", "python.keras.layers.normalization_v2.BatchNormalization")
class BatchNormalization(tf.keras.layers.BatchNormalization):
    """tf.keras.layers.BatchNormalization, which with `trainable` False is called as outside of training."""

    def call(self, inputs, training=None):
        return super().call(inputs, training=training if self.trainable else False)
