"""Callbacks of models that are trained in the scopes of strategies."""

from __future__ import annotations

from stillflow.keras.callbacks.monitoring import LearningRateScheduler, ReduceLROnPlateau
from stillflow.keras.optimizers.base import OptimizerV2
from stillflow.names import public
from stillflow.platform import logging


@public("python.keras.distribute.distributed_training_utils.validate_callbacks")
def validate_callbacks(input_callbacks, optimizer):
    """Raises ValueError for callbacks that change the learning rate of an optimizer that is not tf.keras' own.

    Gradients are not written by TensorBoard callbacks from then on.
    """
    for callback in input_callbacks or ():
        changes_rate = isinstance(callback, (LearningRateScheduler, ReduceLROnPlateau))
        if changes_rate and not isinstance(optimizer, OptimizerV2):
            raise ValueError(
                f"You must specify a Keras Optimizer V2 when using {callback} callback with DistributionStrategy."
            )
        if getattr(callback, "write_grads", False):
            logging.warning(
                "`write_grads` in the TensorBoard callback is not supported when using DistributionStrategy. "
                "Setting `write_grads` to `False`."
            )
            callback.write_grads = False
