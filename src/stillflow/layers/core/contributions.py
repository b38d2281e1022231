"""What layers add to the training of a model: losses, and operations that update their state."""

from __future__ import annotations

import functools
import threading

from stillflow.eager.tensor import EagerTensor
from stillflow.graph import nest
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_outermost_mode, eager_version_of
from stillflow.graph.operation import Operation, Tensor
from stillflow.layers.core.attributes import untracked
from stillflow.layers.core.branches import refuse_in_branch
from stillflow.layers.core.call_context import call_context
from stillflow.layers.core.connections import Connected
from stillflow.layers.core.settings import floatx
from stillflow.layers.core.symbols import stands_for_tensor
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.platform.identities import ObjectIdentitySet
from stillflow.variables.variable import Variable


@public("python.keras.utils.tf_utils.get_reachable_from_inputs")
def get_reachable_from_inputs(inputs, targets=None):
    """The tensors and operations of a graph that depend on `inputs`, themselves included.

    Args:
        inputs: A structure of tensors, variables and operations.
        targets: A structure of tensors or operations; when all are found, the search ends.

    Returns:
        A set by identity. Raises TypeError where it meets what is of no graph.
    """
    targets = [] if targets is None else nest.flatten(targets)
    return ObjectIdentitySet(_reachable_from(inputs, targets).values())


def _reachable_from(inputs, targets):
    """{id: what depends on `inputs`}, themselves included, until `targets` are found."""
    pending = nest.flatten(inputs, expand_composites=True)
    reached = {id(each): each for each in pending}
    missing = {id(each) for each in targets} - reached.keys()
    while pending and (missing or not targets):
        for follower in _followers(pending.pop()):
            if id(follower) not in reached:
                reached[id(follower)] = follower
                missing.discard(id(follower))
                pending.append(follower)
    return reached


def _followers(element):
    if isinstance(element, Operation):
        return [*element.outputs, *element._control_outputs]
    if isinstance(element, Variable):
        return [element.op]
    if isinstance(element, Tensor):
        return element.consumers()
    if stands_for_tensor(element):  # what reads it cannot be known
        return []
    raise TypeError(f"Expected Operation, Variable, or Tensor, got {element}")


@by_outermost_mode
def _keep_loss(layer, loss):
    layer._losses.append(loss)


@eager_version_of(_keep_loss)
def _keep_loss_of_call(layer, loss):
    refuse_in_branch(loss.graph, loss.op._control_flow_context, "add_loss")
    # What a model is made of stays; values of a call, and tensors of a function that is traced, are of that call.
    (layer._losses if loss.graph.serves_eager_execution else layer._eager_losses).append(loss)


@by_outermost_mode
def _keep_updates(layer, updates):
    """Makes updates operations of the graph, and notes whether they depend on the layer's inputs."""
    inputs = _inputs_of_updates(layer)
    layer._updates += [_noted_update(update, inputs) for update in updates]


def _inputs_of_updates(layer):
    """What the updates of a layer may depend on."""
    if call_context.in_call:
        return call_context.inputs
    return [node.input_tensors for node in layer._inbound_nodes]


def _noted_update(update, inputs):
    """The operation of an update, which says whether it depends on the inputs."""
    update = _update_operation(update)
    update._unconditional_update = id(update) not in _reachable_from(inputs, [update])
    return update


@eager_version_of(_keep_updates)
def _run_updates(layer, updates):
    """Calls updates that are functions; all else has been run, or runs with the function that it is traced in."""
    graph = get_default_graph()
    refuse_in_branch(graph, graph._control_flow_context, "add_update")
    if graph.serves_eager_execution:  # what a model is made of: each look at its updates makes them
        inputs = _inputs_of_updates(layer)
        layer._callable_updates += [
            functools.partial(_update_in, graph, update, inputs) for update in updates if callable(update)
        ]
    elif not call_context.frozen:
        for update in updates:
            if callable(update):
                update()


def _update_in(graph, update, inputs):
    with graph.as_default():
        return _noted_update(update, inputs)


class Contributions(Connected):
    """The losses and updates of a layer, and of the layers that it has."""

    @untracked
    def __init__(self):
        self._updates = []
        self._callable_updates = []  # functions of nothing, of which each look at the updates makes new ones
        self._metrics = []
        self._losses = []  # tensors
        self._callable_losses = []  # functions of nothing, of which each look at the losses makes new ones
        self._thread_local = threading.local()  # losses of eager execution, until the layer is called again

    @property
    def _eager_losses(self):
        return self._thread_local.__dict__.setdefault("losses", [])

    def _clear_losses(self):
        self._eager_losses.clear()
        for layer in self._inner_layers():
            layer._clear_losses()

    # ---- Losses ---------------------------------------------------------------------------------------------

    @property
    def losses(self):
        """A list of the loss tensors. Those of regularizers are computed anew at each look."""
        regularization = [function() for function in self._callable_losses]
        return [
            *(self._eager_losses or self._losses),
            *(loss for loss in regularization if loss is not None),
            *self._of_inner_layers("losses"),
        ]

    def add_loss(self, losses, inputs=None):
        """Adds losses: tensors, or functions of no arguments that make them.

        Args:
          losses: one, or a list.
          inputs: anything but None says that the losses depend on what the layer is called with.

        Raises:
          ValueError: for the value of a loss, in eager execution outside of a layer's call.
        """
        is_unconditional = inputs is None

        def tagged(loss):
            if callable(loss):
                loss = loss()
            if loss is None:
                return None
            if not isinstance(loss, Tensor):
                loss = convert_to_tensor(loss, floatx())
            loss._unconditional_loss = is_unconditional
            return loss

        for loss in nest.flatten(losses):
            if callable(loss):
                self._callable_losses.append(functools.partial(tagged, loss))
                continue
            loss = tagged(loss)
            if isinstance(loss, EagerTensor):
                self._add_eager_loss(loss)
            elif loss is not None:
                self._add_symbolic_loss(loss)

    def _add_eager_loss(self, loss):
        if not call_context.in_call:
            raise ValueError(
                "Expected a symbolic Tensors or a callable for the loss value. Please wrap your loss computation in "
                "a zero argument `lambda`."
            )
        self._eager_losses.append(loss)

    def _add_symbolic_loss(self, loss):
        _keep_loss(self, loss)

    def get_losses_for(self, inputs):
        """The losses that depend on `inputs`, one or several; None asks for those that depend on no inputs."""
        losses = self.losses
        if inputs is None:
            return [loss for loss in losses if loss._unconditional_loss]
        losses = [loss for loss in losses if not loss._unconditional_loss]
        reached = _reachable_from(inputs, losses)
        return [loss for loss in losses if id(loss) in reached]

    # ---- Updates --------------------------------------------------------------------------------------------

    @property
    def updates(self):
        """A list of the update operations; empty if the layer is not trainable, unless it is stateful."""
        if not self.trainable and not self.stateful:
            return []
        made = [function() for function in self._callable_updates]
        return self._updates + made + self._of_inner_layers("updates")

    def add_update(self, updates, inputs=None):
        """Adds updates: operations, tensors, or functions of no arguments that make them.

        In eager execution functions are called at once, unless the layer is not trainable, and all else has been run.

        Args:
          updates: one, or a list.
          inputs: ignored. Which inputs an update depends on is seen in the graph.
        """
        _keep_updates(self, list(updates) if isinstance(updates, (list, tuple)) else [updates])

    def get_updates_for(self, inputs):
        """The updates that depend on `inputs`, one or several; None asks for those that depend on no inputs."""
        if inputs is None:
            return [update for update in self.updates if update._unconditional_update]
        updates = [update for update in self.updates if not update._unconditional_update]
        reached = _reachable_from(inputs, updates)
        return [update for update in updates if id(update) in reached]


def _update_operation(update):
    while callable(update) and not isinstance(update, (Operation, Tensor)):
        update = update()
    if isinstance(update, Operation):
        return update
    return update.op if hasattr(update, "op") else convert_to_tensor(update)
