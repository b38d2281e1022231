"""EagerVariable: a variable that has its value from the start, and lives as long as the program holds it."""

from __future__ import annotations

from typing import Any

from stillflow import ops
from stillflow.eager.tensor import DEVICE, graph_only
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph, require_eager_execution
from stillflow.graph.mode import eager_version_of
from stillflow.graph.name_scope import name_scope
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables import creation
from stillflow.variables.cast_variable import AutoCastVariable
from stillflow.variables.resource_variable import ResourceVariable
from stillflow.variables.uninitialized import UninitializedVariable


@eager_version_of(creation.uses_resource)
def uses_resource(use_resource, variable_def):
    return True


@eager_version_of(ResourceVariable)
class EagerVariable(ResourceVariable):
    """What tf.Variable makes while operations are executed eagerly. Changes take place when they are called."""

    def _add_nodes(self, graph, initial_value, dtype, shape, validate_shape, name):
        is_function = callable(initial_value)
        with name_scope(name, "Variable", []) as scope:
            with name_scope("Initializer"):
                value = convert_to_tensor(initial_value() if is_function else initial_value, dtype, "initial_value")
            self._initial_value = value
            self._shape = self._initial_shape(shape)
            self._initial_value = None
            self._name = scope[:-1]
            self._dtype = value.dtype.base_dtype
            self._take_place(graph, scope)
            self._show_to_tapes()
            ops.assign_variable_op(self._handle, value)
            # What is cached once stays: TensorFlow's `value` goes on to return it, too.
            self._cached_value = None if self._caching_device is None else self._new_read()

    def _take_place(self, graph, scope):
        """Makes the handle of a place for the value, which is freed with the variable."""
        place = graph.compiled.variable_place(self._dtype, self._shape)
        self._handle = ops.var_handle_op(dtype=self._dtype, shape=self._shape, shared_name=place, name=scope)
        graph.compiled.free_variable_with(self, self._handle._op)
        self._initializer_op = self._is_initialized_op = self._graph_element = None

    def _init_from_proto(self, variable_def, import_scope):
        raise ValueError(
            "Creating ResourceVariable from variable_def is not supported when eager execution is enabled."
        )

    def _add_to_collections(self, graph, collections):
        if GraphKeys.GLOBAL_STEP in collections:
            graph.add_to_collections(GraphKeys.GLOBAL_STEP, self)

    # ---- What it is -----------------------------------------------------------------------------------------

    @property
    def name(self):
        return f"{self._name}:0"

    @property
    def _shared_name(self):
        return self._name

    op: Any = graph_only("op")
    graph: Any = graph_only("graph")

    @property
    def device(self):
        return DEVICE

    @property
    def _graph(self):
        return self._handle._op._graph

    @property
    def _identity(self):
        return self._graph, self._handle._op._name

    @property
    def create(self):
        raise RuntimeError("Calling create is not supported when eager execution is enabled.")

    @property
    def initial_value(self):
        raise RuntimeError("initial_value not supported in EAGER mode.")

    def initialized_value(self):
        return self.value()

    # ---- Its value ------------------------------------------------------------------------------------------

    def numpy(self):
        """A copy of the value. Raises NotImplementedError where a graph is built."""
        require_eager_execution("numpy() is only available when eager execution is enabled.", NotImplementedError)
        return self.read_value().numpy()

    def eval(self, session=None):
        raise RuntimeError("Trying to eval in EAGER mode")

    def load(self, value, session=None):
        """Sets the value."""
        self.assign(value)

    def __int__(self):
        return int(self.numpy())

    def __float__(self):
        return float(self.numpy())

    def __bool__(self):
        return bool(self.value())

    def _changed(self, op, read_value=True):
        done = op if get_default_graph().building_function else None
        return _ChangedVariable(self, done) if read_value else done

    def _as_graph_element(self):
        return self.value()

    def to_proto(self, export_scope=None):
        raise RuntimeError("to_proto not supported in EAGER mode.")

    def __deepcopy__(self, memo):
        """Another variable with the same value."""
        copied = EagerVariable(
            self.read_value(), self._trainable, dtype=self._dtype, name=f"{self._shared_name}_copy",
            constraint=self._constraint,
        )  # fmt: skip
        memo[id(self)] = copied
        return copied

    def __repr__(self):
        if get_default_graph().building_function:  # where it has no value yet
            return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"
        text = self.read_value()._text(True)
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}, numpy={text}>"


@eager_version_of(AutoCastVariable)
class EagerAutoCastVariable(AutoCastVariable, EagerVariable):
    """A variable that is read as of another type, while operations are executed eagerly."""


class _ChangedVariable(EagerVariable):
    """A variable after a change: inside of functions, whatever reads it waits for that operation."""

    _is_result_of_change = True

    def __init__(self, variable, parent_op):
        self.__dict__.update(variable.__dict__)
        self._variable = variable  # which lives as long as this
        self._parent_op = parent_op

    def _new_read(self):
        if self._parent_op is None:
            return super()._new_read()
        with get_default_graph().control_dependencies([self._parent_op]):
            return super()._new_read()

    @property
    def op(self):
        return self._parent_op

    @property
    def name(self):
        return "UnreadVariable"


@eager_version_of(UninitializedVariable)
class EagerUninitializedVariable(EagerVariable, UninitializedVariable):
    """A variable that has no value yet."""

    def _add_handle(self, graph, name):
        with name_scope(name, "Variable", []) as scope:
            self._name = scope[:-1]
            self._take_place(graph, scope)
