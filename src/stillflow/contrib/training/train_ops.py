"""Training steps as one tensor: the loss, which is there after the updates of the variables."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import summaries
from stillflow.composites.clip import clip_by_norm, global_norm
from stillflow.graph.collections import GraphKeys
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor
from stillflow.training.global_step import get_or_create_global_step
from stillflow.training.optimizer import Optimizer
from stillflow.training_loop.messages import log
from stillflow.training_loop.monitored_session import MonitoredTrainingSession
from stillflow.variables.listing import trainable_variables

# The default of `global_step`, where None means that there is none.
USE_GLOBAL_STEP = 0


def _values(gradient):
    return gradient.values if isinstance(gradient, IndexedSlices) else gradient


def _with_values(gradient, values):
    """A gradient like another one, with other values."""
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(values, gradient.indices, gradient.dense_shape)
    return values


def gradient_summaries(grads_and_vars, separator):
    """A list of summaries of the gradients: a histogram and the norm of each, called after its variable."""
    found = []
    for gradient, variable in grads_and_vars:
        if gradient is None:
            log().info("Var %s has no gradient", variable.op.name)
            continue
        values = _values(gradient)
        found.append(summaries.histogram(variable.op.name + separator + "gradient", values))
        found.append(summaries.scalar(variable.op.name + separator + "gradient_norm", global_norm([values])))
    return found


@public("contrib.training.add_gradients_summaries")
def add_gradients_summaries(grads_and_vars):
    """A list of summaries of the gradients: a histogram and the norm of each."""
    return gradient_summaries(grads_and_vars, "_")


@public("contrib.training.clip_gradient_norms")
def clip_gradient_norms(gradients_to_variables, max_norm):
    """The (gradient, variable) pairs, with each gradient scaled down to the norm `max_norm` where it is longer."""
    return [
        (None if gradient is None else _with_values(gradient, clip_by_norm(_values(gradient), max_norm)), variable)
        for gradient, variable in gradients_to_variables
    ]


@public("contrib.training.clip_gradient_norms_fn")
def clip_gradient_norms_fn(max_norm):
    """A function that clips the norms of gradients, for `transform_grads_fn` of create_train_op."""

    def clip_norms(gradients_to_variables):
        return clip_gradient_norms(gradients_to_variables, max_norm)

    return clip_norms


@public("contrib.training.multiply_gradients")
def multiply_gradients(grads_and_vars, gradient_multipliers):
    """The (gradient, variable) pairs, with gradients multiplied.

    Args:
      grads_and_vars: a list of pairs.
      gradient_multipliers: {variable or name of its operation: factor}.

    Raises:
      ValueError: for what is no list or no dict, no factors, or a factor for a gradient that there is not.
    """
    if not isinstance(grads_and_vars, list):
        raise ValueError("`grads_and_vars` must be a list.")
    if not gradient_multipliers:
        raise ValueError("`gradient_multipliers` is empty.")
    if not isinstance(gradient_multipliers, dict):
        raise ValueError("`gradient_multipliers` must be a dict.")
    return [_multiplied(gradient, variable, gradient_multipliers) for gradient, variable in grads_and_vars]


def _multiplied(gradient, variable, multipliers):
    key = variable if variable in multipliers else variable.op.name
    if key not in multipliers:
        return gradient, variable
    if gradient is None:
        raise ValueError("Requested multiple of `None` gradient.")
    factor = convert_to_tensor(multipliers[key], dtype=gradient.dtype)
    return _with_values(gradient, _values(gradient) * factor), variable


@public("contrib.training.create_train_op")
def create_train_op(
    total_loss, optimizer, global_step=USE_GLOBAL_STEP, update_ops=None, variables_to_train=None,
    transform_grads_fn=None, summarize_gradients=False, gate_gradients=Optimizer.GATE_OP, aggregation_method=None,
    colocate_gradients_with_ops=False, check_numerics=True,
):  # fmt: skip
    """A tensor: the loss, for which the variables are updated.

    Args:
      total_loss: the loss, a scalar.
      optimizer: a tf.train.Optimizer.
      global_step: the variable that counts steps, by default the graph's, which is made if there is none; None for
        none.
      update_ops: operations to run before; by default those in the collection "update_ops".
      variables_to_train: the variables; by default all that are trainable.
      transform_grads_fn: makes (gradient, variable) pairs of such pairs.
      summarize_gradients: whether gradients get summaries.
      gate_gradients, aggregation_method, colocate_gradients_with_ops: as the optimizer's compute_gradients has them.
      check_numerics: whether a loss that is not finite is an error.

    Raises:
      AssertionError: if there is nothing to train.
      At run time: tf.errors.InvalidArgumentError for a loss that is not finite, if that is checked.
    """
    if global_step is USE_GLOBAL_STEP:
        global_step = get_or_create_global_step()
    total_loss = _after_updates(total_loss, update_ops)
    trainable = trainable_variables()
    if variables_to_train is None:
        variables_to_train = trainable
    elif not all(variable.trainable or variable in trainable for variable in variables_to_train):
        raise AssertionError("variables_to_train has variables that are not trainable")
    if not variables_to_train:
        raise AssertionError("There are no variables to train")
    grads = optimizer.compute_gradients(
        total_loss,
        variables_to_train,
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
    )
    if transform_grads_fn:
        grads = transform_grads_fn(grads)
    if summarize_gradients:
        with name_scope("summarize_grads"):
            add_gradients_summaries(grads)
    grad_updates = optimizer.apply_gradients(grads, global_step=global_step)
    with name_scope("train_op"):
        if check_numerics:
            total_loss = ops.check_numerics(total_loss, "LossTensor is inf or nan")
        train_op = with_dependencies([grad_updates], total_loss)
    collected = get_default_graph().get_collection_ref(GraphKeys.TRAIN_OP)
    if train_op not in collected:
        collected.append(train_op)
    return train_op


def _after_updates(total_loss, update_ops):
    """The loss, which waits for the update operations: those given, or all that are collected."""
    collected = get_default_graph().get_collection(GraphKeys.UPDATE_OPS)
    update_ops = list(dict.fromkeys(collected if update_ops is None else update_ops))
    if not set(collected) <= set(update_ops):
        log().warning("update_ops in create_train_op does not contain all the update_ops in GraphKeys.UPDATE_OPS")
    if not update_ops:
        return total_loss
    with control_dependencies(update_ops):
        barrier = ops.no_op(name="update_barrier")
    return with_dependencies([barrier], total_loss)


@public("contrib.training.train")
def train(
    train_op, logdir, master="", is_chief=True, scaffold=None, hooks=None, chief_only_hooks=None,
    save_checkpoint_secs=600, save_summaries_steps=100, config=None, max_wait_secs=7200, run_metadata=None,
):  # fmt: skip
    """Trains in a MonitoredTrainingSession until a hook or the end of the input stops it; returns the last loss.

    Args:
      train_op: what to run at each step; its value is the loss.
      logdir: the folder for checkpoints and summaries, or None.
      master, is_chief, scaffold, hooks, chief_only_hooks, save_checkpoint_secs, save_summaries_steps, config,
        max_wait_secs: as tf.train.MonitoredTrainingSession has them.
      run_metadata: a RunMetadata message that each step fills.

    Raises:
      ValueError: if there is no folder for what should be saved.
    """
    if logdir is None and is_chief:
        if save_summaries_steps:
            raise ValueError("logdir cannot be None when save_summaries_steps is not None")
        if save_checkpoint_secs:
            raise ValueError("logdir cannot be None when save_checkpoint_secs is not None")
    loss = None
    with MonitoredTrainingSession(
        master=master,
        is_chief=is_chief,
        checkpoint_dir=logdir,
        scaffold=scaffold,
        hooks=hooks,
        chief_only_hooks=chief_only_hooks,
        save_checkpoint_secs=save_checkpoint_secs,
        save_summaries_steps=save_summaries_steps,
        config=config,
        max_wait_secs=max_wait_secs,
    ) as session:
        while not session.should_stop():
            loss = session.run(train_op, run_metadata=run_metadata)
    return loss
