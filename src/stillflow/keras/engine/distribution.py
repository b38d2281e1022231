"""Models in the scopes of strategies: what `compile` refuses there, and how batches and steps follow from each other.

Strategies have one replica here, which takes the whole batch.
"""

from __future__ import annotations

import numpy as np

from stillflow.distribute.context import get_strategy, has_strategy, in_cross_replica_context
from stillflow.graph import nest
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.keras.engine import modes
from stillflow.names import public


def strategy_of_compiling(model):
    """The strategy in whose scope a model is compiled; outside of all scopes the one that it had."""
    if has_strategy() and in_cross_replica_context():
        return get_strategy()
    return model._distribution_strategy


def check_arguments(model, sample_weight_mode, weighted_metrics, target_tensors):
    """Raises NotImplementedError or ValueError for what does not go with the strategy of a model."""
    if model._distribution_strategy is None:
        return
    if sample_weight_mode:
        raise NotImplementedError("sample_weight_mode is not supported with tf.distribute.Strategy.")
    if weighted_metrics:
        raise NotImplementedError("weighted_metrics is not supported with tf.distribute.Strategy.")
    if target_tensors:
        raise ValueError("target_tensors is not supported with tf.distribute.Strategy.")
    if model.run_eagerly:
        raise ValueError("We currently do not support enabling `run_eagerly` with distribution strategy.")
    if not runs_functions() and not (model.built and model.inputs and model.outputs):
        raise ValueError(
            "We currently do not support distribution strategy with a `Sequential` model that is created without "
            "`input_shape`/`input_dim` set in its first layer or a subclassed model."
        )


@by_mode
def runs_functions():
    """Whether models run as functions of tensors. In graphs each replica has a copy, which needs a model's inputs."""
    return False


@eager_version_of(runs_functions)
def _runs_functions_eagerly():
    return True


def check_variables(model):
    """Raises ValueError for a variable that was made outside of the scope of the model's strategy."""
    strategy = model._distribution_strategy
    for variable in model.variables if strategy is not None else ():
        if not strategy.extended.variable_created_in_scope(variable):
            raise ValueError(
                f"Variable ({variable}) was not created in the distribution strategy scope of ({strategy}). It is "
                "most likely due to not all layers or the model or optimizer being created outside the distribution "
                "strategy scope. Try to make sure your code looks similar to the following.\n"
                "with strategy.scope():\n  model=_create_model()\n  model.compile(...)"
            )


@public("python.keras.distribute.distributed_training_utils.global_batch_size_supported")
def global_batch_size_supported(distribution_strategy):
    """Whether sizes of batches are those of all replicas together: one replica has all of it."""
    return True


@public("python.keras.distribute.distributed_training_utils.get_input_params")
def get_input_params(distribution_strategy, num_samples, steps, batch_size, mode=None):
    """(steps, batch_size) for a number of samples, where either may be None.

    In graphs only training may leave samples over; eagerly all modes may.

    Raises:
      ValueError: for samples that cannot be cut so, or are too few.
    """
    allows_part = mode == modes.TRAIN or runs_functions()
    if steps is None:
        size = min(num_samples, 32) if batch_size is None else batch_size
        if num_samples % size and not allows_part:
            raise ValueError(f"The number of samples {num_samples} is not divisible by batch size {size}.")
        return -(-num_samples // size), size
    if batch_size is None:
        if num_samples % steps:
            raise ValueError(
                f"The number of samples {num_samples} is not divisible by steps {steps}. Please change the number of "
                "steps to a value that can consume all the samples"
            )
        return steps, num_samples // steps
    needed = batch_size * steps
    if allows_part:
        needed = batch_size * (steps - 1) + 1 if steps > 1 else 0
    if num_samples < needed:
        raise ValueError(
            f"Number of samples {num_samples} is less than samples required for specified batch_size {batch_size} "
            f"and steps {steps}"
        )
    return steps, batch_size


def batches_of(x, batch_size, steps, mode, validation_split=0.0):
    """(batch_size, steps) of an epoch for the inputs x; as they are given where x holds no arrays.

    Raises:
      ValueError: for samples that cannot be cut so, or are too few.
    """
    first = next(iter(nest.flatten(x)), None)
    if not isinstance(first, np.ndarray) or not first.ndim:
        return batch_size, steps
    samples = first.shape[0]
    if validation_split and 0.0 < validation_split < 1.0:
        samples = int(samples * (1 - validation_split))
    steps, batch_size = get_input_params(None, samples, steps, batch_size, mode)
    return batch_size, steps
