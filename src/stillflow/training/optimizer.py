"""Optimizer: from a loss to the operation of a training step."""

from __future__ import annotations

from stillflow import ops
from stillflow.autodiff.reverse import gradients
from stillflow.graph import dtypes, replica_modes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph, outermost_graph, require_graph
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.graph.name_scope import init_scope, name_scope
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group, tuple_of
from stillflow.ops.convert import convert_to_tensor, convert_to_tensor_or_indexed_slices
from stillflow.tracking.base import Trackable
from stillflow.training import slot_creator
from stillflow.variables.assignments import assign_add
from stillflow.variables.listing import trainable_variables
from stillflow.variables.resource_variable import is_resource_variable
from stillflow.variables.variable import Variable


@public("train.Optimizer")
class Optimizer(Trackable):
    """Base class of optimizers: computes gradients of a loss and applies them to variables.

    A subclass says how one variable is updated: `_apply_dense` for a Tensor, `_apply_sparse` for IndexedSlices
    without repeated indices (or `_apply_sparse_duplicate_indices` for any); `_resource_apply_dense`,
    `_resource_apply_sparse` and `_resource_apply_sparse_duplicate_indices` for a resource variable. It may make
    slots in `_create_slots`, tensors that all updates share in `_prepare`, and wrap up in `_finish`.
    """

    # What gradients wait for: nothing; all others of the same op; all others.
    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2

    def __init__(self, use_locking, name):
        """Raises ValueError without a name. Updates are always atomic, whatever `use_locking` says."""
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking = use_locking
        self._name = name
        self._slots: dict = {}  # slot name -> {variable's key: slot}
        self._non_slots: dict = {}  # (name, graph) -> variable
        self._deferred_slots: dict = {}  # (slot name, variable's key) -> positions in checkpoints

    def get_name(self):
        return self._name

    # ---- The public steps -----------------------------------------------------------------------------------

    def minimize(
        self, loss, global_step=None, var_list=None, gate_gradients=GATE_OP, aggregation_method=None,
        colocate_gradients_with_ops=False, name=None, grad_loss=None,
    ):  # fmt: skip
        """An operation that takes one step towards smaller `loss`; None where the step has been taken eagerly.

        Args:
          loss: the tensor to make small, or a function that returns it; in eager execution a function.
          global_step: a variable that counts the steps.
          var_list: the variables to change; by default all trainable ones of the graph, or those that the function
            uses.
          gate_gradients: GATE_NONE, GATE_OP or GATE_GRAPH.
          aggregation_method: a member of AggregationMethod.
          colocate_gradients_with_ops: whether to place gradients with the ops they belong to.
          name: the name of the operation.
          grad_loss: the gradient of `loss` to start from.

        Raises:
          ValueError: if there are no variables, or `loss` depends on none of them.
          RuntimeError: in eager execution, if `loss` is no function.
        """
        grads_and_vars = self.compute_gradients(
            loss, var_list=var_list, gate_gradients=gate_gradients, aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops, grad_loss=grad_loss,
        )  # fmt: skip
        if all(grad is None for grad, _ in grads_and_vars):
            variables = [str(v) for _, v in grads_and_vars]
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not support gradients, "
                f"between variables {variables} and loss {loss}."
            )
        return self.apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def compute_gradients(
        self, loss, var_list=None, gate_gradients=GATE_OP, aggregation_method=None,
        colocate_gradients_with_ops=False, grad_loss=None,
    ):  # fmt: skip
        """The first half of `minimize`: a list of (gradient, variable), with None for a gradient that is not there.

        Raises ValueError for an unknown `gate_gradients`, for types that do not have gradients, and if there are
        no variables.
        """
        if callable(loss):
            return self._gradients_of_function(loss, var_list, grad_loss)
        require_graph(
            "`loss` passed to Optimizer.compute_gradients should be a function when eager execution is enabled."
        )
        if gate_gradients not in (Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH):
            raise ValueError(
                "gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH.  "
                f"Not {gate_gradients}"
            )
        self._assert_valid_dtypes([loss])
        if grad_loss is not None:
            self._assert_valid_dtypes([grad_loss])
        if var_list is None:
            var_list = trainable_variables() + get_default_graph().get_collection(
                GraphKeys.TRAINABLE_RESOURCE_VARIABLES
            )
        else:
            var_list = _flattened(var_list)
        targets = [_target(v) for v in var_list]
        if not var_list:
            raise ValueError("No variables to optimize.")
        grads = gradients(
            loss, targets, grad_loss, gate_gradients=gate_gradients == Optimizer.GATE_OP,
            aggregation_method=aggregation_method, colocate_gradients_with_ops=colocate_gradients_with_ops,
        )  # fmt: skip
        if gate_gradients == Optimizer.GATE_GRAPH:
            grads = tuple_of(grads)
        grads_and_vars = list(zip(grads, var_list, strict=True))
        self._assert_valid_dtypes([v for grad, v in grads_and_vars if grad is not None])
        return grads_and_vars

    @staticmethod
    def _gradients_of_function(loss, var_list, grad_loss):
        from stillflow.eager.gradient_tape import GradientTape

        with GradientTape() as tape:
            if var_list is not None:
                tape.watch(var_list)
            value = loss()
        if var_list is None:
            var_list = tape.watched_variables()
        return list(zip(tape.gradient(value, var_list, grad_loss), var_list, strict=True))

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """The second half of `minimize`: an operation that changes the variables by their gradients.

        Args:
          grads_and_vars: pairs as `compute_gradients` returns them.
          global_step: a variable that counts the steps.
          name: the name of the operation; the optimizer's by default.

        Raises:
          ValueError: if there are no variables, or no gradients.
          TypeError: for a gradient that cannot become a tensor.
          RuntimeError: in the scope of a strategy, but in none of its replicas.
        """
        grads_and_vars = [(_as_gradient(grad), v) for grad, v in grads_and_vars]
        if not grads_and_vars:
            raise ValueError("No variables provided.")
        for _, v in grads_and_vars:
            _check_updatable(v)
        var_list = [v for grad, v in grads_and_vars if grad is not None]
        if not var_list:
            raise ValueError(f"No gradients provided for any variable: {[str(v) for _, v in grads_and_vars]}.")
        if replica_modes.is_distributed():
            context = replica_modes.current().replica_context
            if context is None:
                raise RuntimeError(
                    "Use `_distributed_apply()` instead of `apply_gradients()` in a cross-replica context."
                )
            pairs = [(grad, v) for grad, v in grads_and_vars if grad is not None]
            return context.merge_call(self._distributed_apply, args=(pairs, global_step, name))
        graph = get_default_graph()
        with init_scope():
            self._create_slots(var_list)
        with name_scope(name, self._name) as scope:
            self._prepare()
            updates = []
            for grad, v in grads_and_vars:
                if grad is not None:
                    with name_scope(f"update_{slot_creator.name_of(v)}"), graph.colocate_with(v):
                        updates.append(self._update(grad, v))
            if global_step is None:
                step = self._finish(updates, scope)
            else:
                with (
                    graph.control_dependencies([self._finish(updates, "update")]),
                    graph.colocate_with(global_step),
                ):
                    step = _counted(global_step, scope)
        return train_op(step)

    def _distributed_apply(self, strategy, grads_and_vars, global_step, name):
        """`apply_gradients` for all replicas of a strategy, which says where variables are updated."""
        extended = strategy.extended
        gradients = extended.batch_reduce_to("SUM", grads_and_vars)
        var_list = [v for _, v in grads_and_vars]
        with init_scope():
            self._create_slots(var_list)

        def update(variable, gradient):
            with name_scope(f"update_{slot_creator.name_of(variable)}"):
                return self._update(gradient, variable)

        with name_scope(name, self._name) as scope:
            self._prepare()
            updates = []
            for gradient, variable in zip(gradients, var_list, strict=True):
                updates.extend(extended.update(variable, update, args=(gradient,), group=False))
            places = extended.non_slot_devices(var_list)
            ends = extended.update_non_slot(places, self._finish, args=(updates, "update"), group=False)
            if global_step is None:
                return train_op(strategy.group(ends, name=scope))
            with get_default_graph().control_dependencies(ends):
                return train_op(extended.update(global_step, assign_add, args=(1,), kwargs={"name": scope}))

    def _update(self, grad, variable):
        """What changes one variable."""
        if not isinstance(variable, Variable):
            raise NotImplementedError("Trying to update a Tensor ", variable)
        if isinstance(grad, IndexedSlices):
            if variable.constraint is not None:
                raise RuntimeError("Cannot use a constraint function on a sparse variable.")
            if is_resource_variable(variable):
                return self._resource_apply_sparse_duplicate_indices(grad.values, variable, grad.indices)
            return self._apply_sparse_duplicate_indices(grad, variable)
        apply = self._resource_apply_dense if is_resource_variable(variable) else self._apply_dense
        update = apply(grad, variable)
        if variable.constraint is None:
            return update
        with get_default_graph().control_dependencies([update]):
            return variable.assign(variable.constraint(variable))

    # ---- Slots and other variables --------------------------------------------------------------------------

    def get_slot(self, var, name):
        """The slot of that name for `var`, or None."""
        return self._slots.get(name, {}).get(_key(var))

    def get_slot_names(self):
        """The names of all slots, sorted."""
        return sorted(self._slots)

    def variables(self):
        """The optimizer's own variables in the default graph, sorted by name: slots and others."""
        graph = outermost_graph()
        found = [*self._non_slots.values(), *(slot for slots in self._slots.values() for slot in slots.values())]
        return sorted((v for v in found if v._graph is graph), key=lambda v: v.name)

    def _create_non_slot_variable(self, initial_value, name, colocate_with):
        """A variable that belongs to no other, made once for each graph."""
        graph = colocate_with._graph
        if (name, graph) not in self._non_slots:
            with graph.colocate_with(colocate_with):
                self._non_slots[name, graph] = Variable(
                    initial_value, trainable=False, name=name, use_resource=is_resource_variable(colocate_with)
                )
            self._handle_deferred_dependencies(name, self._non_slots[name, graph])
        return self._non_slots[name, graph]

    def _get_non_slot_variable(self, name, graph=None):
        return self._non_slots.get((name, graph))

    def _non_slot_variables(self):
        return self._non_slots.values()

    def _slot_dict(self, slot_name):
        """{variable's key: slot} of the slots of that name."""
        return self._slots.setdefault(slot_name, {})

    def _get_or_make_slot(self, var, val, slot_name, op_name):
        """The slot of that name for `var`; a new one begins with the tensor `val`."""
        slots = self._slot_dict(slot_name)
        if _key(var) not in slots:
            slots[_key(var)] = slot_creator.create_slot(var, val, op_name)
            self._restore_slot_variable(slot_name, var, slots[_key(var)])
        return slots[_key(var)]

    def _get_or_make_slot_with_initializer(self, var, initializer, shape, dtype, slot_name, op_name):
        """The slot of that name for `var`; a new one begins with what `initializer` makes."""
        slots = self._slot_dict(slot_name)
        if _key(var) not in slots:
            slots[_key(var)] = slot_creator.create_slot_with_initializer(var, initializer, shape, dtype, op_name)
            self._restore_slot_variable(slot_name, var, slots[_key(var)])
        return slots[_key(var)]

    def _zeros_slot(self, var, slot_name, op_name):
        """The slot of that name for `var`; a new one begins with zeros."""
        slots = self._slot_dict(slot_name)
        if _key(var) not in slots:
            slots[_key(var)] = slot_creator.create_zeros_slot(var, op_name)
            self._restore_slot_variable(slot_name, var, slots[_key(var)])
        return slots[_key(var)]

    # ---- In checkpoints of objects --------------------------------------------------------------------------

    @property
    def _checkpoint_dependencies(self):
        """Slots are not among them: these are saved where the variables are that they belong to."""
        graph = outermost_graph()
        own = sorted((name, v) for (name, of_graph), v in self._non_slots.items() if of_graph is graph)
        return super()._checkpoint_dependencies + own

    def _lookup_dependency(self, name):
        found = super()._lookup_dependency(name)
        return self._get_non_slot_variable(name, outermost_graph()) if found is None else found

    def _restore_slot_variable(self, slot_name, variable, slot_variable):
        """Restores a slot that has just been made from the checkpoints that wait for it, the newest first."""
        for position in reversed(self._deferred_slots.pop((slot_name, _key(variable)), [])):
            position.restore(slot_variable)

    def _create_or_restore_slot_variable(self, slot_variable_position, slot_name, variable):
        """Restores a slot from a checkpoint, now or when it is made."""
        slot = self.get_slot(variable, slot_name)
        if slot is None:
            slot = self._restored_slot(slot_variable_position, slot_name, variable)
        if slot is not None:
            slot_variable_position.restore(slot)
        else:
            self._deferred_slots.setdefault((slot_name, _key(variable)), []).append(slot_variable_position)

    @by_mode
    def _restored_slot(self, slot_variable_position, slot_name, variable):
        """A slot that begins with the value that it has in a checkpoint, or None where that is not known yet."""

    # ---- For subclasses -------------------------------------------------------------------------------------

    def _valid_dtypes(self):
        """The types that losses, variables and gradients may have."""
        return {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}

    def _assert_valid_dtypes(self, tensors):
        valid = self._valid_dtypes()
        for tensor in tensors:
            dtype = tensor.dtype.base_dtype
            if dtype not in valid:
                expected = sorted(valid, key=lambda each: each.as_datatype_enum)
                raise ValueError(f"Invalid type {dtype!r} for {tensor.name}, expected: {expected}.")

    def _create_slots(self, var_list):
        """Makes the slots of the variables."""

    def _prepare(self):
        """Makes the tensors that all updates share, in the name scope of the step."""

    # The four methods that say how one variable is updated. Those of stillflow's own optimizers are one for dense and
    # one for sparse gradients.

    def _update_dense(self, grad, var):
        """What changes a variable of either kind by a Tensor."""
        raise NotImplementedError

    def _update_sparse(self, grad, var):
        """What changes a variable of either kind by IndexedSlices in which no index occurs twice."""
        raise NotImplementedError

    def _apply_dense(self, grad, var):
        """What changes `var` by a Tensor."""
        return self._update_dense(grad, var)

    def _resource_apply_dense(self, grad, handle):
        """What changes a resource variable by a Tensor."""
        return self._update_dense(grad, handle)

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices):
        """What changes rows of a resource variable where indices may occur repeatedly: here, these are summed up."""
        summed, unique_indices = deduplicate_slices(grad, indices)
        return self._resource_apply_sparse(summed, handle, unique_indices)

    def _resource_apply_sparse(self, grad, handle, indices):
        """What changes rows of a resource variable where no index occurs twice."""
        return self._update_sparse(IndexedSlices(grad, indices), handle)

    def _apply_sparse_duplicate_indices(self, grad, var):
        """What changes `var` by IndexedSlices in which indices may occur repeatedly: here, these are summed up."""
        summed, unique_indices = deduplicate_slices(grad.values, grad.indices)
        return self._apply_sparse(IndexedSlices(summed, unique_indices, grad.dense_shape), var)

    def _apply_sparse(self, grad, var):
        """What changes `var` by IndexedSlices in which no index occurs twice."""
        return self._update_sparse(grad, var)

    def _finish(self, update_ops, name_scope):
        """The operation that runs all updates, named `name_scope`."""
        return group(*update_ops, name=name_scope)

    def _call_if_callable(self, param):
        return param() if callable(param) else param

    def _hyperparameter(self, value, name):
        """A number, tensor or function as a tensor of that name."""
        return convert_to_tensor(self._call_if_callable(value), name=name)


@public("python.training.optimizer._deduplicate_indexed_slices")
def deduplicate_slices(values, indices):
    """(sums, unique indices) of slices whose indices may occur repeatedly."""
    unique_indices, positions = ops.unique(indices)
    return ops.unsorted_segment_sum(values, positions, ops.shape(unique_indices)[0]), unique_indices


def _key(variable):
    return variable._identity if isinstance(variable, Variable) else (variable.op.graph, variable.op.name)


def _target(variable):
    """What to differentiate by: a variable's reference, or a tensor."""
    if is_resource_variable(variable):
        return variable
    if isinstance(variable, Variable):
        return variable._as_input(as_ref=True)
    if isinstance(variable, Tensor):
        return variable
    raise NotImplementedError("Trying to optimize unsupported type ", variable)


def _check_updatable(variable):
    """Raises NotImplementedError for what cannot be updated; of tensors nodes have the last word."""
    _target(variable)
    if not isinstance(variable, Variable):
        require_graph("Trying to update a Tensor ", lambda reason: NotImplementedError(reason, variable))


@by_mode
def train_op(step):
    """The operation of a step, which the collection TRAIN_OP then has."""
    step = step.op if isinstance(step, Tensor) else step
    train_ops = get_default_graph().get_collection_ref(GraphKeys.TRAIN_OP)
    if step not in train_ops:
        train_ops.append(step)
    return step


@eager_version_of(train_op)
def no_train_op(step):
    """The step has been made."""


@eager_version_of(Optimizer._restored_slot)
def restored_slot(optimizer, slot_variable_position, slot_name, variable):
    value = convert_to_tensor(slot_variable_position.value())
    return optimizer._get_or_make_slot(variable, value, slot_name, optimizer._name)


def _counted(global_step, name):
    """What counts a step."""
    if is_resource_variable(global_step):
        return ops.assign_add_variable_op(global_step.handle, convert_to_tensor(1, global_step.dtype), name=name)
    if not global_step.dtype._is_ref_dtype:
        return global_step.assign_add(1)  # what is no variable has no such method
    return ops.assign_add(_target(global_step), 1, name=name)


def _flattened(values):
    if isinstance(values, dict):
        return [item for key in sorted(values) for item in _flattened(values[key])]
    if isinstance(values, (list, tuple)) or not hasattr(values, "op"):
        return [item for value in values for item in _flattened(value)]
    return [values]


def _as_gradient(grad):
    if grad is None:
        return None
    try:
        return convert_to_tensor_or_indexed_slices(grad)
    except TypeError:
        raise TypeError(f"Gradient must be convertible to a Tensor or IndexedSlices, or None: {grad}") from None
