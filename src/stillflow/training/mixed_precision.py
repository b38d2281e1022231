"""tf.train.experimental's rewrite of graphs to float16, which is for GPUs. Here it scales losses, and no more."""

from __future__ import annotations

import logging
from types import SimpleNamespace

from stillflow.names import namespace, public
from stillflow.session.config import set_optimizer_experimental_options
from stillflow.training.loss_scale import MixedPrecisionLossScaleOptimizer
from stillflow.training.optimizer import Optimizer

_state = SimpleNamespace(is_enabled=False, has_default_policy=True)


def refuse_rewrite_beside_policy():
    """Raises ValueError if the rewrite has been enabled: layers cannot have types of their own then."""
    if _state.is_enabled:
        raise ValueError(
            "The mixed precision policy cannot be set, because the mixed precision graph rewrite has already been "
            "enabled.\nAt most, one of the following functions can be called:\n\n"
            "  1. tf.train.experimental.enable_mixed_precision_graph_rewrite() (You called this first)\n"
            "  2. tf.keras.mixed_precision.experimental.set_policy() (You called this second)\n\n"
            "You called both functions, which is an error, because both functions enable you to use mixed precision. "
            "The first function enables mixed precision in the graph with a graph rewrite. However it is currently "
            "not very customizable, and does not support eager. The second function is for Keras layers, but is not "
            "yet fully complete."
        )


def note_policy(is_default):
    """Says whether the policy of layers is the one at start."""
    _state.has_default_policy = is_default


@public(
    "train.experimental.enable_mixed_precision_graph_rewrite",
    "python.training.experimental.mixed_precision.enable_mixed_precision_graph_rewrite_v1",
)
def enable_mixed_precision_graph_rewrite(opt, loss_scale="dynamic"):
    """An optimizer whose loss is scaled, for graphs that are rewritten to float16.

    TensorFlow rewrites what runs on GPUs with tensor cores. On the CPU, there as here, graphs stay what they are.

    Args:
      opt: an optimizer of tf.train or tf.keras.
      loss_scale: a tf.train.experimental.LossScale, a number, or "dynamic".

    Raises:
      ValueError: for another optimizer, one whose loss is scaled already, and after a policy of layers has been set.
    """
    return _enable(opt, loss_scale, "a tf.train.Optimizer or a tf.keras.optimizers.Optimizer")


@public(
    "compat.v2.train.experimental.enable_mixed_precision_graph_rewrite",
    "python.training.experimental.mixed_precision.enable_mixed_precision_graph_rewrite",
)
def enable_rewrite_for_2(opt, loss_scale="dynamic"):
    """tf.train.experimental.enable_mixed_precision_graph_rewrite, with the message of TensorFlow 2; see there."""
    return _enable(opt, loss_scale, "a tf.keras.optimizers.Optimizer")


def _enable(opt, loss_scale, expected):
    if not _state.has_default_policy:
        raise ValueError(
            "The mixed precision graph rewrite cannot be enabled, because a keras mixed precision Policy has been "
            "set. At most, one of the following functions can be called:\n\n"
            "  1. tf.keras.mixed_precision.experimental.set_policy() (You called this first)\n"
            "  2. tf.train.experimental.enable_mixed_precision_graph_rewrite() (You called this second)\n\n"
            "You called both functions, which is an error, because both functions enable you to use mixed precision. "
            "If in doubt which function to use, use the second, as it is currently more complete and easy to use. "
            "The second function enables mixed precision in the graph with a graph rewrite. However it is currently "
            "not very customizable, and does not support eager."
        )
    opt = _scaled_optimizer(opt, loss_scale, expected)
    set_optimizer_experimental_options({"auto_mixed_precision": True})
    _state.is_enabled = True
    return opt


def _scaled_optimizer(opt, loss_scale, expected):
    of_keras = namespace.find("keras.mixed_precision.experimental.LossScaleOptimizer")
    for kind in (MixedPrecisionLossScaleOptimizer, of_keras):
        if isinstance(opt, kind):
            raise ValueError(
                f'"opt" must not already be an instance of a {kind.__name__}. '
                f"`enable_mixed_precision_graph_rewrite` will automatically wrap the optimizer with a "
                f"{kind.__name__}."
            )
    if isinstance(opt, Optimizer):
        return MixedPrecisionLossScaleOptimizer(opt, loss_scale)
    if isinstance(opt, namespace.find("keras.optimizers.Optimizer")):
        return of_keras(opt, loss_scale)
    raise ValueError(f'"opt" must be an instance of {expected}, but got: {opt}')


@public("train.experimental.disable_mixed_precision_graph_rewrite")
def disable_mixed_precision_graph_rewrite():
    """Takes back `enable_mixed_precision_graph_rewrite`; the losses of optimizers stay scaled."""
    if not _state.is_enabled:
        logging.getLogger("tensorflow").warning(
            "disable_mixed_precision_graph_rewrite() called when mixed precision is already disabled."
        )
    set_optimizer_experimental_options({"auto_mixed_precision": False})
    _state.is_enabled = False
