"""ResourceVariable: a tf.Variable behind a resource handle, read by explicit ReadVariableOp nodes."""

from __future__ import annotations

import contextlib
import functools
import itertools
import weakref

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.inner_functions import prepend_name_scope
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables import initial_values
from stillflow.variables.variable import Variable

_numbers = itertools.count()  # in the order in which variables are made


@public("contrib.eager.Variable", "python.ops.resource_variable_ops.ResourceVariable")
class ResourceVariable(Variable):
    """A variable behind a handle, as `tf.Variable(..., use_resource=True)` makes it.

    Every use is a read of its own, which sees the updates before it: those it depends on, and no others.
    """

    def __init__(
        self, initial_value=None, trainable=None, collections=None, validate_shape=True, caching_device=None,
        name=None, dtype=None, variable_def=None, import_scope=None, constraint=None, distribute_strategy=None,
        synchronization=None, aggregation=None, shape=None,
    ):  # fmt: skip
        """Arguments are those of tf.Variable, in another order; `distribute_strategy` is ignored."""
        super().__init__(
            initial_value, trainable, collections, validate_shape, caching_device, name, variable_def, dtype,
            import_scope=import_scope, constraint=constraint, synchronization=synchronization,
            aggregation=aggregation, shape=shape,
        )  # fmt: skip

    def _add_nodes(self, graph, initial_value, dtype, shape, validate_shape, name):
        is_function = callable(initial_value)
        with name_scope(name, "Variable", [] if is_function else [initial_value]) as scope:
            handle_name = scope[:-1]
            with graph._attr_scope_of({"_class": (b"loc:@" + handle_name.encode(),)}):
                with name_scope("Initializer"), graph.device(None):
                    value = initial_value() if is_function else initial_value
                    self._initial_value = convert_to_tensor(value, dtype, "initial_value")
                self._shape = self._initial_shape(shape)
                self._handle = ops.var_handle_op(
                    dtype=self._initial_value.dtype.base_dtype, shape=self._shape, shared_name=handle_name, name=scope
                )
            self._dtype = self._initial_value.dtype.base_dtype
            self._show_to_tapes()
            initial_values.check_outside_of_branches(self._initial_value, scope)
            with name_scope("IsInitialized"):
                self._is_initialized_op = ops.var_is_initialized_op(self._handle)
            with (
                name_scope("Assign") as assign_scope,
                graph.colocate_with(None, ignore_existing=True),
                graph.device(self._handle.device),
            ):
                value = initial_values.guarded(scope, self._initial_value)
                self._initializer_op = ops.assign_variable_op(self._handle, value, name=assign_scope)
            with name_scope("Read"):
                with graph.device(self._handle.device):
                    self._graph_element = self._new_read()
                self._cached_value = None
                if self._caching_device is not None:
                    with graph.colocate_with(None, ignore_existing=True), graph.device(self._caching_device):
                        self._cached_value = ops.identity(self._graph_element)

    def _show_to_tapes(self):
        """Says at the handle what gradient tapes want to know of the variable."""
        self._handle._number = next(_numbers)
        self._handle._variable = weakref.ref(self)
        if self._trainable:
            self._handle._trainable_variable = weakref.ref(self)

    def _initial_shape(self, shape):
        if shape is None:
            return self._initial_value.shape
        shape = TensorShape(shape)
        if not self._initial_value.shape.is_compatible_with(shape):
            raise ValueError(
                f"The initial value's shape ({self._initial_value.shape}) is not compatible with the explicitly "
                f"supplied `shape` argument ({shape})."
            )
        return shape

    def _init_from_proto(self, variable_def, import_scope):
        if not variable_def.is_resource:
            raise ValueError("Trying to restore Variable as ResourceVariable.")
        graph = get_default_graph()

        def element(name):
            return graph.as_graph_element(prepend_name_scope(name, import_scope))

        handle_name = variable_def.variable_name.partition(":")[0]
        self._handle = element(variable_def.variable_name)
        self._shape = self._handle.op.get_attr("shape")
        self._shape = TensorShape(self._shape)
        self._dtype = dtypes.as_dtype(self._handle.op.get_attr("dtype"))
        self._initializer_op = element(variable_def.initializer_name)
        initial = variable_def.initial_value_name
        self._initial_value = element(initial) if initial else None
        # Messages of early versions do not name it.
        snapshot = element(variable_def.snapshot_name or f"{handle_name}/Read/ReadVariableOp:0")
        self._cached_value = None if snapshot.op.type == "ReadVariableOp" else snapshot
        while snapshot.op.type != "ReadVariableOp":
            snapshot = snapshot.op.inputs[0]
        self._graph_element = snapshot
        self._is_initialized_op = None
        self._init_rest_from_proto(variable_def, import_scope)
        self._show_to_tapes()

    # ---- What it is -----------------------------------------------------------------------------------------

    @property
    def _source(self):
        return self._handle

    @property
    def handle(self):
        """The tensor that ops find the variable by."""
        return self._handle

    @property
    def dtype(self):
        return self._dtype

    @property
    def shape(self):
        return self._shape

    @property
    def _dims(self):
        return self._shape._dims

    @property
    def create(self):
        """The operation that gives the variable its initial value."""
        return self._initializer_op

    def set_shape(self, shape):
        raise NotImplementedError("ResourceVariable does not implement set_shape()")

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        raise NotImplementedError("__deepcopy__() is only available when eager execution is enabled.")

    def __reduce__(self):
        made = functools.partial(
            ResourceVariable, self.numpy(), self._trainable, dtype=self._dtype, name=self._shared_name,
            constraint=self._constraint,
        )  # fmt: skip
        return made, ()

    # ---- Its value ------------------------------------------------------------------------------------------

    def _new_read(self):
        return ops.read_variable_op(self._handle, dtype=self._dtype)

    def value(self):
        """A new tensor that reads the variable here; the cached one if there is a caching device."""
        if self._cached_value is not None:
            return self._cached_value
        graph = get_default_graph()
        with graph.colocate_with(None, ignore_existing=True), graph.device(self._handle.device):
            return self._new_read()

    def read_value(self):
        """A new tensor that reads the variable, subject to the control dependencies in force."""
        with name_scope("Read"), get_default_graph().device(self._handle.device):
            value = self._new_read()
        return ops.identity(value)

    def sparse_read(self, indices, name=None):
        """A tensor of the rows `indices`; tf.gather of the variable is this."""
        with name_scope("Gather" if name is None else name) as scope:
            value = ops.resource_gather(self._handle, indices, dtype=self._dtype, name=scope)
        return ops.identity(value)

    def gather_nd(self, indices, name=None):
        """A tensor of the parts at index tuples; tf.gather_nd of the variable is this."""
        with name_scope("GatherNd" if name is None else name) as scope:
            value = ops.resource_gather_nd(self._handle, indices, dtype=self._dtype, name=scope)
        return ops.identity(value)

    def is_initialized(self, name=None):
        """A bool tensor: whether the variable has a value in the session that computes it."""
        return ops.var_is_initialized_op(self._handle, name=name)

    def numpy(self):
        """Raises NotImplementedError: only eager execution knows the value."""
        raise NotImplementedError("numpy() is only available when eager execution is enabled.")

    # ---- Its changes ----------------------------------------------------------------------------------------

    def _after_reading_cache(self):
        """Changes come after the read that is cached."""
        if self._cached_value is None:
            return contextlib.nullcontext()
        return get_default_graph().control_dependencies([self._cached_value])

    def _changed(self, op, read_value=True):
        return _UnreadVariable(self, op) if read_value else op

    def assign(self, value, use_locking=None, name=None, read_value=True):
        """What, when computed or read, sets the variable; the operation instead if not `read_value`.

        Raises ValueError for a value of another shape.
        """
        value = convert_to_tensor(value, self._dtype)
        self._shape.assert_is_compatible_with(value.shape)
        return self._changed(ops.assign_variable_op(self._handle, value, name=name), read_value)

    def assign_add(self, delta, use_locking=None, name=None, read_value=True):
        """What, when computed or read, adds to the variable."""
        with self._after_reading_cache():
            op = ops.assign_add_variable_op(self._handle, convert_to_tensor(delta, self._dtype), name=name)
        return self._changed(op, read_value)

    def assign_sub(self, delta, use_locking=None, name=None, read_value=True):
        """What, when computed or read, subtracts from the variable."""
        with self._after_reading_cache():
            op = ops.assign_sub_variable_op(self._handle, convert_to_tensor(delta, self._dtype), name=name)
        return self._changed(op, read_value)

    def count_up_to(self, limit):
        """What, when computed, counts the variable up by one; its value is that before."""
        return ops.resource_count_up_to(self._handle, limit=limit, T=self._dtype)

    def _scatter_rows(self, function, indices, updates, name=None, use_locking=None):
        scatter = _SCATTERS[function.op_def.name]
        updates = convert_to_tensor(updates, self._dtype)
        return self._changed(getattr(ops, scatter)(self._handle, indices, updates, name=name))

    def _scatter_parts(self, function, indices, updates, name=None):
        scatter = "resource_scatter_nd_" + function.op_def.name.removeprefix("ScatterNd").lower()
        updates = convert_to_tensor(updates, self._dtype)
        return self._changed(getattr(ops, scatter)(self._handle, indices, updates, name=name))

    def _strided_slice_assign(self, begin, end, strides, value, name, **masks):
        with self._after_reading_cache():
            value = convert_to_tensor(value, self._dtype)
            op = ops.resource_strided_slice_assign(self._handle, begin, end, strides, value, name=name, **masks)
            return self._changed(op)

    def __iadd__(self, other):
        raise _in_place("+", "variable.assign_add(value)")

    def __isub__(self, other):
        raise _in_place("-", "variable.assign_sub(value)")

    def __imul__(self, other):
        raise _in_place("*", "variable.assign(variable * value)")

    def __itruediv__(self, other):
        raise _in_place("/", "variable.assign(variable / value)")

    def __ipow__(self, other):
        raise _in_place("**", "variable.assign(variable ** value)")

    # ---- Being used -----------------------------------------------------------------------------------------

    def _as_graph_element(self):
        return self._graph_element

    def _fill_proto(self, proto, relative_name):
        proto.is_resource = True
        proto.snapshot_name = relative_name(self._graph_element if self._cached_value is None else self._cached_value)


def _in_place(operator, change):
    return RuntimeError(
        f"Variable {operator}= value not supported. Use {change} to modify the variable, or "
        f"variable = variable {operator} value to get a new Tensor object."
    )


_SCATTERS = {
    f"Scatter{name}": f"resource_scatter_{name.lower()}"
    for name in ("Update", "Add", "Sub", "Mul", "Div", "Min", "Max")
}


class _UnreadVariable(ResourceVariable):
    """A variable after a change: whatever reads it waits for that."""

    _is_result_of_change = True

    def __init__(self, variable, parent_op):
        self._handle = variable._handle
        self._dtype = variable._dtype
        self._shape = variable._shape
        self._parent_op = parent_op
        self._trainable = False
        self._cached_value = self._constraint = self._save_slice_info = self._caching_device = None
        self._synchronization = self._aggregation = None
        self._initializer_op = self._initial_value = self._is_initialized_op = None
        # What may be fetched as it is has a read of its own; nothing inside of functions is.
        self._graph_element = None if get_default_graph().building_function else self._new_read()

    @property
    def name(self):
        return self._parent_op.name

    @property
    def op(self):
        return self._parent_op

    def _new_read(self):
        with get_default_graph().control_dependencies([self._parent_op]):
            return super()._new_read()

    def value(self):
        return self._new_read()

    def read_value(self):
        return self._new_read()


@public("python.ops.resource_variable_ops.is_resource_variable")
def is_resource_variable(variable):
    return isinstance(variable, ResourceVariable)
