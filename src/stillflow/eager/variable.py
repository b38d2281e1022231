"""EagerVariable: a variable that has its value from the start, and lives as long as the program holds it."""

from __future__ import annotations

import itertools
import weakref

from stillflow import ops
from stillflow.graph.collections import GraphKeys
from stillflow.graph.name_scope import name_scope
from stillflow.ops.convert import convert_to_tensor
from stillflow.resource_variables import ResourceVariable

_numbers = itertools.count()


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
            number = next(_numbers)
            self._handle = ops.var_handle_op(
                dtype=self._dtype, shape=self._shape, shared_name=f"{self._name}_{number}", name=scope
            )
            self._handle._number = number
            if self._trainable:
                self._handle._trainable_variable = weakref.ref(self)
            weakref.finalize(self, graph.compiled.forget_variable, self._handle._op)
            self._initializer_op = self._is_initialized_op = self._graph_element = self._cached_value = None
            ops.assign_variable_op(self._handle, value)

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

    @property
    def op(self):
        raise AttributeError("Tensor.op is meaningless when eager execution is enabled.")

    @property
    def graph(self):
        raise AttributeError("Tensor.graph is meaningless when eager execution is enabled.")

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
        """A copy of the value."""
        return self.value().numpy()

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
        return _ChangedVariable(self) if read_value else None

    def _as_graph_element(self):
        return self.value()

    def to_proto(self, export_scope=None):
        raise RuntimeError("to_proto not supported in EAGER mode.")

    def __repr__(self):
        text = self.value()._text(True)
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}, numpy={text}>"


class _ChangedVariable(EagerVariable):
    """A variable after a change."""

    def __init__(self, variable):
        self.__dict__.update(variable.__dict__)
        self._variable = variable  # which lives as long as this

    @property
    def name(self):
        return "UnreadVariable"
