"""optimize_loss: a training step with noise, multipliers, clipping, decay and summaries of its gradients."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import summaries as summary
from stillflow.composites.checks import assert_scalar
from stillflow.composites.clip import clip_by_global_norm, global_norm
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor
from stillflow.random.sampling import truncated_normal
from stillflow.training import global_step as global_steps
from stillflow.training.adagrad import AdagradOptimizer
from stillflow.training.adam import AdamOptimizer
from stillflow.training.ftrl import FtrlOptimizer
from stillflow.training.gradient_descent import GradientDescentOptimizer
from stillflow.training.momentum import MomentumOptimizer
from stillflow.training.moving_averages import assign_moving_average
from stillflow.training.optimizer import Optimizer
from stillflow.training.rms_prop import RMSPropOptimizer
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Constant, Zeros
from stillflow.variables.scope import variable_scope

OPTIMIZER_CLS_NAMES = public("contrib.layers.OPTIMIZER_CLS_NAMES")(
    {
        "Adagrad": AdagradOptimizer,
        "Adam": AdamOptimizer,
        "Ftrl": FtrlOptimizer,
        "Momentum": lambda learning_rate: MomentumOptimizer(learning_rate, momentum=0.9),
        "RMSProp": RMSPropOptimizer,
        "SGD": GradientDescentOptimizer,
    }
)
OPTIMIZER_SUMMARIES = public("contrib.layers.OPTIMIZER_SUMMARIES")(
    ["learning_rate", "loss", "gradients", "gradient_norm", "global_gradient_norm"]
)


@public("contrib.layers.optimize_loss")
def optimize_loss(
    loss, global_step, learning_rate, optimizer, gradient_noise_scale=None, gradient_multipliers=None,
    clip_gradients=None, learning_rate_decay_fn=None, update_ops=None, variables=None, name=None, summaries=None,
    colocate_gradients_with_ops=False, increment_global_step=True,
):  # fmt: skip
    """A tensor that, when computed, trains, and is the loss of before.

    Args:
      loss: a scalar.
      global_step: the global step; None for the graph's.
      learning_rate: a float, which becomes a variable, or a scalar tensor, or None.
      optimizer: a name in OPTIMIZER_CLS_NAMES, a class, an optimizer, or a function from a learning rate, if there is
        one, to an optimizer.
      gradient_noise_scale: the scale of normal numbers that are added to gradients.
      gradient_multipliers: {variable, or name of one: factor}.
      clip_gradients: a float, the most that their norm may be; or a function from and to [(gradient, variable)].
      learning_rate_decay_fn: a function from the learning rate and the global step to the learning rate.
      update_ops: what is run before; by default what is in GraphKeys.UPDATE_OPS.
      variables: what to train; by default what is in GraphKeys.TRAINABLE_VARIABLES.
      name: of the variable scope, "OptimizeLoss" by default.
      summaries: names in OPTIMIZER_SUMMARIES; by default all but those of single gradients.
      colocate_gradients_with_ops: whether gradients are on the devices of what they are the gradients of.
      increment_global_step: whether the step is counted.

    Raises:
      ValueError: for other optimizers, learning rates, summaries and ways to clip, and without gradients.
    """
    loss = convert_to_tensor(loss)
    assert_scalar(loss)
    if global_step is None:
        global_step = global_steps.get_global_step()
    else:
        global_steps.assert_global_step(global_step)
    with variable_scope(name, "OptimizeLoss", [loss, global_step]):
        if update_ops is None:
            update_ops = dict.fromkeys(get_default_graph().get_collection(GraphKeys.UPDATE_OPS))
        if update_ops:
            loss = with_dependencies(list(update_ops), loss)
        rate = _learning_rate(learning_rate)
        summaries = _checked_summaries(summaries)
        if learning_rate is not None and learning_rate_decay_fn is not None:
            if global_step is None:
                raise ValueError("global_step is required for learning_rate_decay_fn.")
            rate = learning_rate_decay_fn(rate, global_step)
            if "learning_rate" in summaries:
                summary.scalar("learning_rate", rate)
        optimizer = _optimizer(optimizer, rate, learning_rate is not None)
        if variables is None:
            variables = get_default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES)
        gradients = optimizer.compute_gradients(
            loss, variables, colocate_gradients_with_ops=colocate_gradients_with_ops
        )
        if gradient_noise_scale is not None:
            gradients = _with_noise(gradients, gradient_noise_scale)
        if gradient_multipliers is not None:
            gradients = _multiplied(gradients, gradient_multipliers)
            if not gradients:
                raise ValueError(
                    "Empty list of (gradient, var) pairs encountered. This is most likely to be caused by an "
                    "improper value of gradient_multipliers."
                )
        summarizes_norms = "global_gradient_norm" in summaries or "gradient_norm" in summaries
        if summarizes_norms:
            summary.scalar("global_norm/gradient_norm", _norm(gradients))
        gradients = _clipped(gradients, clip_gradients)
        if "loss" in summaries:
            summary.scalar("loss", loss)
        _summarize_gradients(gradients, summaries)
        if clip_gradients is not None and summarizes_norms:
            summary.scalar("global_norm/clipped_gradient_norm", _norm(gradients))
        step = global_step if increment_global_step else None
        update = optimizer.apply_gradients(gradients, global_step=step, name="train")
        return with_dependencies([update], loss)


def _learning_rate(learning_rate):
    if learning_rate is None:
        return None
    if isinstance(learning_rate, Tensor) and learning_rate.shape.rank == 0:
        return learning_rate
    if not isinstance(learning_rate, float):
        raise ValueError(
            f"Learning rate should be 0d Tensor or float. Got {learning_rate} of type {type(learning_rate)}"
        )
    if learning_rate < 0.0:
        raise ValueError("Invalid learning_rate %s.", learning_rate)
    return get_variable("learning_rate", [], trainable=False, initializer=Constant(learning_rate))


def _checked_summaries(summaries):
    if summaries is None:
        return ["loss", "learning_rate", "global_gradient_norm"]
    for name in summaries:
        if name not in OPTIMIZER_SUMMARIES:
            raise ValueError(f"Summaries should be one of [{', '.join(OPTIMIZER_SUMMARIES)}], you provided {name}.")
    return summaries


def _optimizer(optimizer, rate, has_rate):
    """The optimizer that the argument means. Raises ValueError if it means none, or needs a rate."""
    if isinstance(optimizer, str):
        if rate is None:
            raise ValueError(f"Learning rate is None, but should be specified if optimizer is string ({optimizer}).")
        if optimizer not in OPTIMIZER_CLS_NAMES:
            raise ValueError(
                f"Optimizer name should be one of [{', '.join(OPTIMIZER_CLS_NAMES)}], you provided {optimizer}."
            )
        return OPTIMIZER_CLS_NAMES[optimizer](learning_rate=rate)
    if isinstance(optimizer, type) and issubclass(optimizer, Optimizer):
        if rate is None:
            raise ValueError(f"Learning rate is None, but should be specified if optimizer is class ({optimizer}).")
        return optimizer(learning_rate=rate)  # type: ignore[call-arg]
    if isinstance(optimizer, Optimizer):
        return optimizer
    if not callable(optimizer):
        raise ValueError(
            "Unrecognized optimizer: should be string, subclass of Optimizer, instance of subclass of Optimizer or "
            f"function with one argument. Got {optimizer}."
        )
    made = optimizer(rate) if has_rate else optimizer()
    if not isinstance(made, Optimizer):
        raise ValueError(f"Unrecognized optimizer: function should return subclass of Optimizer. Got {made}.")
    return made


# ---- Gradients ----------------------------------------------------------------------------------------------


def _norm(gradients):
    return global_norm([gradient for gradient, _ in gradients])


def _summarize_gradients(gradients, summaries):
    for gradient, variable in gradients:
        values = gradient.values if isinstance(gradient, IndexedSlices) else gradient
        if values is None:
            continue
        name = variable.name.replace(":", "_")
        if "gradients" in summaries:
            summary.histogram(f"gradients/{name}", values)
        if "gradient_norm" in summaries:
            summary.scalar(f"gradient_norm/{name}", global_norm([values]))


def _clipped(gradients, clip_gradients):
    if isinstance(clip_gradients, float):
        values, variables = zip(*gradients, strict=True)
        values, _ = clip_by_global_norm(values, clip_gradients)
        return list(zip(values, variables, strict=True))
    if callable(clip_gradients):
        return clip_gradients(gradients)
    if clip_gradients is not None:
        raise ValueError(f"Unknown type {type(clip_gradients)} for clip_gradients")
    return gradients


def _with_noise(gradients, scale):
    noisy = []
    for gradient, variable in gradients:
        if gradient is not None:
            shape = gradient.dense_shape if isinstance(gradient, IndexedSlices) else gradient.shape
            noise = truncated_normal(shape) * scale
            gradient = gradient + noise
        noisy.append((gradient, variable))
    return noisy


def _multiplied(gradients, multipliers):
    multiplied = []
    for gradient, variable in gradients:
        key = variable if variable in multipliers else variable.name
        if gradient is not None and key in multipliers:
            if isinstance(gradient, IndexedSlices):
                gradient = IndexedSlices(gradient.values * multipliers[key], gradient.indices, gradient.dense_shape)
            else:
                gradient *= ops.cast(multipliers[key], gradient.dtype)
        multiplied.append((gradient, variable))
    return multiplied


# ---- Clipping by what is usual ------------------------------------------------------------------------------


@public("contrib.layers.python.layers.optimizers.adaptive_clipping_fn")
def adaptive_clipping_fn(
    std_factor=2.0, decay=0.95, static_max_norm=None, global_step=None, report_summary=False, epsilon=1e-8, name=None
):
    """A function that clips gradients whose norm is far above what it has been.

    Their logarithms' mean and deviation are kept. A norm above exp(mean + std_factor * deviation) becomes exp(mean).

    Args:
      std_factor: how many deviations are allowed.
      decay: of the averages.
      static_max_norm: what the norm may be at most, whatever it has been.
      global_step: if given, the first steps count for more.
      report_summary: whether there is a summary of the limit.
      epsilon: what norms and variances are at least.
      name: of the variable scope, "AdaptiveMaxNorm" by default.
    """

    def gradient_clipping(grads_and_vars):
        gradients, variables = zip(*grads_and_vars, strict=True)
        norm = global_norm(gradients)
        limit, log_mean = _usual_norm(norm, std_factor, decay, global_step, epsilon, name)
        if report_summary:
            summary.scalar("global_norm/adaptive_max_gradient_norm", limit)
        factor = ops.where(norm < limit, ops.ones_like(norm), ops.exp(log_mean) / norm)
        if static_max_norm is not None:
            factor = ops.minimum(static_max_norm / norm, factor)
        clipped = [_scaled(gradient, factor) for gradient in gradients]
        return list(zip(clipped, variables, strict=True))

    return gradient_clipping


def _scaled(gradient, factor):
    if gradient is None:
        return None
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(gradient.values * factor, gradient.indices, gradient.dense_shape)
    return gradient * factor


def _usual_norm(norm, std_factor, decay, global_step, epsilon, name):
    """(the limit, the mean of logarithms), after taking a norm into account."""
    with variable_scope(name, "AdaptiveMaxNorm", [norm]):
        log_norm = ops.log(norm + epsilon)

        def average(name, value, decay):
            variable = get_variable(name, shape=value.shape, dtype=value.dtype, initializer=Zeros(), trainable=False)
            return assign_moving_average(variable, value, decay, zero_debias=False)

        if global_step is not None:
            count = ops.cast(global_step, dtypes.float32)
            decay = ops.minimum(decay, count / (count + 1.0))
        mean = average("mean", log_norm, decay)
        squares = average("sq_mean", ops.square(log_norm), decay)
        variance = squares - ops.square(mean)
        deviation = ops.sqrt(ops.maximum(epsilon, variance))
        return ops.exp(mean + std_factor * deviation), mean
