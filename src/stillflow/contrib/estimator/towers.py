"""TowerOptimizer: an optimizer of a model that is there several times, which applies the gradients of all at once."""

from __future__ import annotations

import collections
import contextlib

from stillflow import ops
from stillflow.graph.contexts import control_dependencies, device
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.name_scope import name_scope
from stillflow.losses.weighted import Reduction
from stillflow.names import public
from stillflow.training.optimizer import Optimizer
from stillflow.variables.scope import variable_scope


def scaled_loss(loss, loss_reduction, number_of_towers):
    """What the loss of one tower counts in that of all: losses that are means are averaged."""
    if loss is None or number_of_towers == 1 or loss_reduction == Reduction.SUM:
        return loss
    return ops.div(loss, 1.0 * number_of_towers, name="averaged_loss")


def sum_on_device(values, device_name, name=None):
    """The sum of tensors, or of IndexedSlices.

    Raises ValueError if IndexedSlices are to be named.
    """
    with device(device_name):
        if not isinstance(values[0], IndexedSlices):
            return ops.add_n(values, name=name)
        if name:
            raise ValueError(f"The name {name} is not expected to be given to IndexedSlices {values}")
        return IndexedSlices(
            ops.concat([value.values for value in values], axis=0),
            ops.concat([value.indices for value in values], axis=0),
            values[0].dense_shape,
        )


class _GraphState:
    """The towers of a graph that are being made, and what their optimizers are to apply.

    Attributes:
      number_of_towers, loss_reduction: of the model.
      is_used: whether a TowerOptimizer has been called.
      first_scopes: the variable scope and the name scope of the first tower.
    """

    def __init__(self):
        self.number_of_towers = 1
        self.loss_reduction = None
        self.is_used = False
        self.first_scopes = None
        self._index = 0
        self._collected = collections.defaultdict(list)  # tower -> the gradients of each call

    @contextlib.contextmanager
    def tower(self, index, var_scope, scope):
        """Says that the tower `index` is being made."""
        if index == 0:
            self.first_scopes = var_scope, scope
        self._index = index
        yield

    @property
    def is_at_last_tower(self):
        return self._index == self.number_of_towers - 1

    def collect(self, grads_and_vars):
        self._collected[self._index].append(grads_and_vars)

    def latest_gradients(self):
        """The gradients and variables of the optimizer that was called last, of all towers."""
        call = len(self._collected[self._index]) - 1
        return [pair for tower in range(self._index + 1) for pair in self._collected[tower][call]]

    def has_equal_calls(self):
        """Whether all towers may have called the same optimizers."""
        return sum(map(len, self._collected.values())) % self.number_of_towers == 0


@public("contrib.estimator.TowerOptimizer")
class TowerOptimizer(Optimizer):
    """Collects the gradients of all towers of a replicate_model_fn, and applies them with the last.

    Without replicate_model_fn it hands everything on.

    Args:
      optimizer_or_optimizer_fn: an optimizer, or a function that makes one.
    """

    COLLECTION_FOR_GRAPH_STATES = "replicate_model_fn_graph_states"

    def __init__(self, optimizer_or_optimizer_fn):
        self._optimizer_or_optimizer_fn = optimizer_or_optimizer_fn

    @staticmethod
    def has_been_used():
        """Whether the default graph has one that was called."""
        return TowerOptimizer._graph_state().is_used

    def get_slot(self, *args, **kwargs):
        """That of the optimizer."""
        return self._get_optimizer().get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        """Those of the optimizer."""
        return self._get_optimizer().get_slot_names(*args, **kwargs)

    def get_name(self, *args, **kwargs):
        """That of the optimizer."""
        return self._get_optimizer().get_name(*args, **kwargs)

    def variables(self, *args, **kwargs):
        """Those of the optimizer."""
        return self._get_optimizer().variables(*args, **kwargs)

    def compute_gradients(self, loss, *args, **kwargs):
        """Those of the loss, scaled to what it counts among the towers."""
        state = self._graph_state()
        loss = scaled_loss(loss, state.loss_reduction, state.number_of_towers)
        return self._get_optimizer().compute_gradients(loss, *args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, **kwargs):
        """The operation that applies the gradients; that of the last tower applies those of all."""
        state = self._graph_state()
        if state.number_of_towers == 1:
            return self._get_optimizer().apply_gradients(grads_and_vars, global_step, **kwargs)
        state.collect(grads_and_vars)
        if not state.is_at_last_tower:
            grads = [grad for grad, _ in grads_and_vars if grad is not None]
            with control_dependencies([grad.values if isinstance(grad, IndexedSlices) else grad for grad in grads]):
                return ops.no_op(name="train_op_placeholder")
        var_scope, scope = state.first_scopes
        with variable_scope(var_scope), name_scope(scope):
            return self._apply_all(global_step, **kwargs)

    def _apply_all(self, global_step, **kwargs):
        optimizer = self._get_optimizer()
        found: dict = {}
        for grad, variable in self._graph_state().latest_gradients():
            if grad is not None:
                found.setdefault(variable, []).append(grad)
        with name_scope("gradient_aggregating"):
            pairs = [(sum_on_device(grads, variable.device), variable) for variable, grads in found.items()]
        return optimizer.apply_gradients(pairs, global_step=global_step, **kwargs)

    def _get_optimizer(self):
        if callable(self._optimizer_or_optimizer_fn):
            self._optimizer_or_optimizer_fn = self._optimizer_or_optimizer_fn()
        self._graph_state().is_used = True
        return self._optimizer_or_optimizer_fn

    @staticmethod
    def _graph_state():
        states = get_default_graph().get_collection_ref(TowerOptimizer.COLLECTION_FOR_GRAPH_STATES)
        if not states:
            states.append(_GraphState())
        return states[-1]

    @staticmethod
    def _did_towers_have_same_optimizer_calls():
        return TowerOptimizer._graph_state().has_equal_calls()

    @staticmethod
    def _clear_graph_state():
        get_default_graph().clear_collection(TowerOptimizer.COLLECTION_FOR_GRAPH_STATES)
