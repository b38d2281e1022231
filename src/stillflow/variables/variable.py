"""Variable: a value that a session keeps between runs, whatever class it is of."""

from __future__ import annotations

import contextlib
from typing import Any

from stillflow import ops
from stillflow.formats import protobuf
from stillflow.graph import collection_protos
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.mode import MadeByMode
from stillflow.graph.name_scope import init_scope, name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.scopes import get_default_session
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.convert import register_conversion
from stillflow.ops.equality import differs, equals
from stillflow.platform.identities import Reference
from stillflow.tracking.base import Trackable
from stillflow.tracking.capture import variable_was_made
from stillflow.variables.batch_places import batch_places
from stillflow.variables.copies import VariableAggregation, VariableSynchronization, is_trainable
from stillflow.variables.slices import SaveSliceInfo


class VariableType(MadeByMode):
    """The metaclass of variables. tf.Variable itself has no instances: its maker chooses a class.

    The maker knows the classes and stands above them: see stillflow.variables.creation, which sets it.
    """

    maker: Any = None

    def __call__(cls, *args, **kwargs):  # noqa: N805
        return cls.maker(*args, **kwargs) if cls is Variable else super().__call__(*args, **kwargs)


@public("Variable")
class Variable(Trackable, metaclass=VariableType):
    """A value that a session keeps between runs, changed by `assign` and by optimizers.

    It can be used wherever a tensor can; its operators work on its value. It has no value in a session before
    `initializer` has run there.
    """

    SaveSliceInfo = SaveSliceInfo
    _initial_value: Any
    _initializer_op: Any

    _is_result_of_change = False  # what `assign` returns is a variable, too

    # numpy must leave `array + variable` to the variable.
    __array_priority__ = 100

    def __init__(
        self, initial_value=None, trainable=None, collections=None, validate_shape=True, caching_device=None,
        name=None, variable_def=None, dtype=None, expected_shape=None, import_scope=None, constraint=None,
        use_resource=None, synchronization=VariableSynchronization.AUTO, aggregation=VariableAggregation.NONE,
        shape=None,
    ):  # fmt: skip
        """Adds a variable, its initializer and its read to the default graph.

        Args:
          initial_value: a tensor, a value that can become one, or a function that returns one.
          trainable: whether optimizers change it by default; puts it into GraphKeys.TRAINABLE_VARIABLES.
          collections: the collections to add it to; by default [GraphKeys.GLOBAL_VARIABLES].
          validate_shape: whether the initial value's shape must be known and becomes the variable's.
          caching_device: where to read it.
          name: "Variable" by default, made unique.
          variable_def: a VariableDef message of a variable whose nodes exist in the graph, instead of all else.
          dtype: the type to convert `initial_value` to.
          expected_shape: ignored, as in TensorFlow.
          import_scope: a name scope to put before the names in `variable_def`.
          constraint: a function from the value after an update to the value to keep; optimizers apply it.
          use_resource: whether it is a resource variable; by default what the variable scope says, and then what
            tf.enable_resource_variables has said.
          synchronization, aggregation: of copies, of which there is one.
          shape: the variable's shape, if it is not to be the initial value's.

        Raises:
          ValueError: without an initial value, or with one of unknown shape when that is validated.
        """
        if variable_def is not None:
            if initial_value is not None:
                raise ValueError("variable_def and initial_value are mutually exclusive.")
            self._init_from_proto(variable_def, import_scope)
            return
        if initial_value is None:
            raise ValueError("initial_value must be specified.")
        if collections is None:
            collections = [GraphKeys.GLOBAL_VARIABLES]
        if not isinstance(collections, (list, tuple, set)):
            raise ValueError(
                "collections argument to Variable constructor must be a list, tuple, or set. "
                f"Got {collections} of type {type(collections)}"
            )
        if constraint is not None and not callable(constraint):
            raise ValueError("The `constraint` argument must be a callable.")
        self._trainable = is_trainable(trainable, synchronization)
        self._constraint = constraint
        self._caching_device = caching_device
        self._save_slice_info = None
        self._synchronization = synchronization
        self._aggregation = aggregation
        if self._trainable and GraphKeys.TRAINABLE_VARIABLES not in collections:
            collections = [*collections, GraphKeys.TRAINABLE_VARIABLES]
        with init_scope() if get_default_graph().building_function else contextlib.nullcontext():
            graph = get_default_graph()
            with graph.control_dependencies(None):
                self._add_nodes(graph, initial_value, dtype, shape, validate_shape, name)
            self._add_to_collections(graph, collections)
        variable_was_made(self, name)

    def _add_to_collections(self, graph, collections):
        graph.add_to_collections(collections, self)

    def _add_nodes(self, graph, initial_value, dtype, shape, validate_shape, name):
        raise NotImplementedError

    def _init_from_proto(self, variable_def, import_scope):
        raise NotImplementedError

    def _init_rest_from_proto(self, variable_def, import_scope):
        self._trainable = variable_def.trainable
        self._synchronization = variable_def.synchronization
        self._aggregation = variable_def.aggregation
        self._save_slice_info = None
        if variable_def.HasField("save_slice_info_def"):
            info = variable_def.save_slice_info_def
            self._save_slice_info = SaveSliceInfo(save_slice_info_def=info, import_scope=import_scope)
        self._caching_device = None
        self._constraint = None

    # ---- What it is -----------------------------------------------------------------------------------------

    @property
    def _source(self) -> Any:
        """The tensor by which ops find the variable."""
        raise NotImplementedError

    @property
    def name(self):
        return self._source.name

    @property
    def op(self):
        return self._source.op

    @property
    def graph(self):
        return self._source.graph

    @property
    def device(self):
        return self._source.device

    @property
    def dtype(self):
        """The type of its elements."""
        raise NotImplementedError

    @property
    def shape(self):
        raise NotImplementedError

    def get_shape(self):
        return self.shape

    def set_shape(self, shape):
        """Adds to what is known of the shape."""
        raise NotImplementedError

    @property
    def trainable(self):
        return self._trainable

    @property
    def constraint(self):
        return self._constraint

    @property
    def initializer(self):
        """The operation that gives the variable its initial value."""
        return self._initializer_op

    @property
    def initial_value(self):
        """The tensor that `initializer` assigns."""
        return self._initial_value

    @property
    def synchronization(self):
        return self._synchronization

    @property
    def aggregation(self):
        return self._aggregation

    def experimental_ref(self):
        """A hashable Reference, whose `deref()` is the variable."""
        return Reference(self)

    ref = experimental_ref  # as later versions call it, and programs for their compat.v1

    @property
    def _graph(self):
        return self.graph

    @property
    def _identity(self):
        """What tells the variable from all others."""
        return self.graph, self.op.name

    @property
    def _shared_name(self):
        return self.name[: self.name.index(":")]

    def _set_save_slice_info(self, save_slice_info):
        """Says which part of a larger variable this is, for checkpoints."""
        self._save_slice_info = save_slice_info

    def _get_save_slice_info(self):
        return self._save_slice_info

    # ---- Its value ------------------------------------------------------------------------------------------

    def value(self):
        """The tensor that reads the variable."""
        raise NotImplementedError

    def read_value(self):
        """A new tensor that reads the variable, subject to the control dependencies in force."""
        raise NotImplementedError

    def eval(self, session=None):
        """The value in `session` or the default session."""
        return self._as_graph_element().eval(session=session)

    def is_initialized(self, name=None):
        """A bool tensor: whether the variable has a value in the session that computes it."""
        raise NotImplementedError

    def initialized_value(self):
        """A tensor: the variable's value if it has one, otherwise its initial value."""
        with init_scope():
            return cond(self.is_initialized(), self.read_value, lambda: self.initial_value)

    def sparse_read(self, indices, name=None):
        """A tensor of the rows `indices`. Raises AttributeError unless it is a resource variable."""
        raise AttributeError

    def gather_nd(self, indices, name=None):
        """A tensor of the parts at index tuples. Raises AttributeError unless it is a resource variable."""
        raise AttributeError

    # ---- Its changes ----------------------------------------------------------------------------------------

    def load(self, value, session=None):
        """Sets the value in `session` or the default session, without adding nodes. Raises ValueError without one."""
        session = session or get_default_session()
        if session is None:
            raise ValueError("Either session argument should be provided or default session should be established")
        session.run(self.initializer, {self.initializer.inputs[1]: value})

    def assign(self, value, use_locking=False, name=None, read_value=True):
        """What, when computed, sets the variable; the operation instead if not `read_value`."""
        raise NotImplementedError

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        """What, when computed, adds to the variable."""
        raise NotImplementedError

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        """What, when computed, subtracts from the variable."""
        raise NotImplementedError

    def count_up_to(self, limit):
        """A tensor that, when computed, counts the variable up by one; its value is that before.

        Raises:
          At run time: tf.errors.OutOfRangeError when the variable has reached `limit`.
        """
        raise NotImplementedError

    def scatter_sub(self, sparse_delta, use_locking=False, name=None):
        """A tensor that, when computed, subtracts IndexedSlices from the variable."""
        return self._scatter(ops.scatter_sub, sparse_delta, use_locking, name)

    def scatter_add(self, sparse_delta, use_locking=False, name=None):
        """A tensor that, when computed, adds IndexedSlices to the variable."""
        return self._scatter(ops.scatter_add, sparse_delta, use_locking, name)

    def scatter_update(self, sparse_delta, use_locking=False, name=None):
        """A tensor that, when computed, replaces rows of the variable by those of IndexedSlices."""
        return self._scatter(ops.scatter_update, sparse_delta, use_locking, name)

    def scatter_mul(self, sparse_delta, use_locking=False, name=None):
        """A tensor that, when computed, multiplies rows of the variable by those of IndexedSlices."""
        return self._scatter(ops.scatter_mul, sparse_delta, use_locking, name)

    def scatter_div(self, sparse_delta, use_locking=False, name=None):
        """A tensor that, when computed, divides rows of the variable by those of IndexedSlices."""
        return self._scatter(ops.scatter_div, sparse_delta, use_locking, name)

    def scatter_min(self, sparse_delta, use_locking=False, name=None):
        """A tensor that, when computed, keeps the smaller of the variable's rows and those of IndexedSlices."""
        return self._scatter(ops.scatter_min, sparse_delta, use_locking, name)

    def scatter_max(self, sparse_delta, use_locking=False, name=None):
        """A tensor that, when computed, keeps the larger of the variable's rows and those of IndexedSlices."""
        return self._scatter(ops.scatter_max, sparse_delta, use_locking, name)

    def _scatter(self, function, sparse_delta, use_locking, name):
        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError(f"sparse_delta is not IndexedSlices: {sparse_delta}")
        return self._scatter_rows(function, sparse_delta.indices, sparse_delta.values, name, use_locking)

    def _scatter_rows(self, function, indices, updates, name=None, use_locking=False):
        """What, when computed, changes rows; `function` is a scatter of reference variables."""
        raise NotImplementedError

    def scatter_nd_add(self, indices, updates, name=None):
        """A tensor that, when computed, adds `updates` to the parts of the variable at the index tuples."""
        return self._scatter_parts(ops.scatter_nd_add, indices, updates, name)

    def scatter_nd_sub(self, indices, updates, name=None):
        """A tensor that, when computed, subtracts `updates` from the parts at the index tuples."""
        return self._scatter_parts(ops.scatter_nd_sub, indices, updates, name)

    def scatter_nd_update(self, indices, updates, name=None):
        """A tensor that, when computed, replaces the parts at the index tuples by `updates`."""
        return self._scatter_parts(ops.scatter_nd_update, indices, updates, name)

    def _scatter_parts(self, function, indices, updates, name=None):
        """What, when computed, changes parts; `function` is a scatter_nd of reference variables."""
        raise NotImplementedError

    def batch_scatter_update(self, sparse_delta, use_locking=False, name=None):
        """A tensor that, when computed, replaces rows within each of a batch; see tf.batch_scatter_update."""
        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError(f"sparse_delta is not IndexedSlices: {sparse_delta}")
        with name_scope(name):
            return self.scatter_nd_update(batch_places(sparse_delta.indices), sparse_delta.values)

    def _strided_slice_assign(self, begin, end, strides, value, name, **masks):
        raise NotImplementedError

    # ---- Being used -----------------------------------------------------------------------------------------

    def _as_input(self, as_ref):
        """The tensor that ops get for the variable; with `as_ref` a reference to it if it has one."""
        return self.value()

    def _as_graph_element(self) -> Any:
        """The tensor that is fetched for the variable."""
        raise NotImplementedError

    def _gather_saveables_for_checkpoint(self):
        return {"VARIABLE_VALUE": self}

    def to_proto(self, export_scope=None):
        """The VariableDef message; None when the variable is not in `export_scope`."""
        prefix = f"{export_scope}/" if export_scope else ""
        if not self._source.name.startswith(prefix):
            return None

        def relative_name(element):
            return element.name.removeprefix(prefix)

        proto = protobuf.message("VariableDef")(trainable=self._trainable)
        if self._initial_value is not None:
            proto.initial_value_name = relative_name(self._initial_value)
        proto.variable_name = relative_name(self._source)
        proto.initializer_name = relative_name(self._initializer_op)
        self._fill_proto(proto, relative_name)
        proto.synchronization = getattr(self._synchronization, "value", self._synchronization) or 0
        proto.aggregation = getattr(self._aggregation, "value", self._aggregation) or 0
        if self._save_slice_info:
            proto.save_slice_info_def.CopyFrom(self._save_slice_info.to_proto(export_scope))
        return proto

    def _fill_proto(self, proto, relative_name):
        """Says in a VariableDef message which class the variable is of, and what its snapshot is called."""
        raise NotImplementedError

    @staticmethod
    def from_proto(variable_def, import_scope=None):
        """The variable that a VariableDef message describes, whose nodes are in the default graph."""
        return VariableType.maker.from_proto(variable_def, import_scope)

    def __iter__(self):
        raise TypeError("'Variable' object is not iterable.")

    def __repr__(self):
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"


def _convert_variable(variable, dtype=None, name=None, as_ref=False):
    if dtype is not None and not dtype.is_compatible_with(variable.dtype):
        raise ValueError(
            f"Incompatible type conversion requested to type '{dtype.name}' for variable of type "
            f"'{variable.dtype.name}'"
        )
    return variable._as_input(as_ref)


register_conversion(Variable, _convert_variable)


def overload_operators():
    """Gives variables the operators of tensors, on their value."""

    def forward(name):
        def operator(self, *args, **kwargs):
            return getattr(Tensor, name)(self.value(), *args, **kwargs)

        operator.__name__ = name
        return operator

    for name in Tensor.OVERLOADABLE_OPERATORS - {"__eq__", "__ne__"}:
        setattr(Variable, name, forward(name))

    # The variable goes along, for `variable[index].assign(value)`.
    def get_item(self, index):
        return ops.get_item(self.value(), index, self)

    Variable.__getitem__ = get_item  # type: ignore[misc]
    Variable.__eq__, Variable.__ne__ = equals, differs  # type: ignore[method-assign]


overload_operators()


@public("python.ops.resource_variable_ops._to_proto_fn")
def _to_proto(variable, export_scope=None):
    return variable.to_proto(export_scope)


_from_proto = public("python.ops.resource_variable_ops._from_proto_fn")(Variable.from_proto)

for _key in GraphKeys._PROTO_VARIABLE_COLLECTIONS:
    collection_protos.register(_key, "VariableDef", _to_proto, _from_proto)
