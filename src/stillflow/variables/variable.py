"""tf.Variable: a value that a session keeps between runs."""

from __future__ import annotations

import contextlib

from stillflow import ops
from stillflow.graph import collection_protos
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import executing_eagerly, get_default_graph
from stillflow.graph.mode import MadeByMode
from stillflow.graph.name_scope import init_scope, name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.convert import convert_to_tensor, register_conversion
from stillflow.tracking.base import Trackable
from stillflow.tracking.capture import variable_was_made
from stillflow.variables import initial_values
from stillflow.variables.batch_places import batch_places
from stillflow.variables.copies import VariableAggregation, VariableSynchronization


@public("Variable")
class Variable(Trackable, metaclass=MadeByMode):
    """A value that a session keeps between runs, changed by `assign` and by optimizers.

    It can be used wherever a tensor can; its operators work on its value. It has no value in a session before
    `initializer` has run there.
    """

    # numpy must leave `array + variable` to the variable.
    __array_priority__ = 100

    def __new__(cls, *args, use_resource=None, variable_def=None, **options):
        if cls is Variable and _uses_resource(use_resource, variable_def or (args[6] if len(args) > 6 else None)):
            from stillflow.variables.resource_variable import ResourceVariable

            return super().__new__(ResourceVariable)
        return super().__new__(cls)

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
        self._trainable = True if trainable is None else trainable
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
        is_function = callable(initial_value)
        with name_scope(name, "Variable", [] if is_function else [initial_value]) as scope:
            if is_function:
                groups = (b"loc:@" + scope[:-1].encode(),)
                with graph._attr_scope_of({"_class": groups}):
                    with name_scope("Initializer"), graph.device(None):
                        self._initial_value = convert_to_tensor(initial_value(), dtype, "initial_value")
                    self._variable = self._reference_node(shape, validate_shape, scope)
            else:
                self._initial_value = convert_to_tensor(initial_value, dtype, "initial_value")
                initial_values.check_outside_of_branches(self._initial_value, scope)
                self._variable = self._reference_node(shape, validate_shape, scope)
            if validate_shape and not self._initial_value.shape.is_fully_defined():
                raise ValueError(f"initial_value must have a shape specified: {self._initial_value}")
            value = initial_values.guarded(scope, self._initial_value)
            self._initializer_op = ops.assign(self._variable, value, validate_shape=validate_shape).op
            where = (
                graph.colocate_with(self._variable.op)
                if self._caching_device is None
                else graph.device(self._caching_device)
            )
            with where:
                self._snapshot = ops.identity(self._variable, name="read")

    def _reference_node(self, shape, validate_shape, name):
        if shape is None:
            shape = self._initial_value.shape if validate_shape else TensorShape(None)
        return ops.variable_v2(shape=shape, dtype=self._initial_value.dtype.base_dtype, name=name)

    def _init_from_proto(self, variable_def, import_scope):
        graph = get_default_graph()

        def element(name):
            return graph.as_graph_element(f"{import_scope}/{name}" if import_scope else name)

        self._variable = element(variable_def.variable_name)
        self._initializer_op = element(variable_def.initializer_name)
        self._snapshot = element(variable_def.snapshot_name)
        initial = variable_def.initial_value_name
        self._initial_value = element(initial) if initial else None
        self._init_rest_from_proto(variable_def, import_scope)

    def _init_rest_from_proto(self, variable_def, import_scope):
        self._trainable = variable_def.trainable
        self._synchronization = variable_def.synchronization
        self._aggregation = variable_def.aggregation
        self._save_slice_info = None
        if variable_def.HasField("save_slice_info_def"):
            from stillflow.variables.partitioned_variables import SaveSliceInfo

            self._save_slice_info = SaveSliceInfo.from_proto(variable_def.save_slice_info_def, import_scope)
        self._caching_device = None
        self._constraint = None

    # ---- What it is -----------------------------------------------------------------------------------------

    @property
    def name(self):
        return self._variable.name

    @property
    def op(self):
        return self._variable.op

    @property
    def graph(self):
        return self._variable.graph

    @property
    def device(self):
        return self._variable.device

    @property
    def dtype(self):
        """The reference type of its elements; `dtype.base_dtype` is the type itself."""
        return self._variable.dtype

    @property
    def shape(self):
        return self._variable.shape

    def get_shape(self):
        return self.shape

    def set_shape(self, shape):
        """Adds to what is known of the shape."""
        self._variable.set_shape(shape)
        self._snapshot.set_shape(shape)

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
        """A hashable stand-in; variables are hashable themselves."""
        return self

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
        return self._snapshot

    def read_value(self):
        """A new tensor that reads the variable, subject to the control dependencies in force."""
        return ops.identity(self._variable, name="read")

    def eval(self, session=None):
        """The value in `session` or the default session."""
        return self._variable.eval(session=session)

    def is_initialized(self, name=None):
        """A bool tensor: whether the variable has a value in the session that computes it."""
        return ops.is_variable_initialized(self._variable, name=name)

    def initialized_value(self):
        """A tensor: the variable's value if it has one, otherwise its initial value."""
        with init_scope():
            return cond(self.is_initialized(), self.read_value, lambda: self.initial_value)

    def load(self, value, session=None):
        """Sets the value in `session` or the default session, without adding nodes. Raises ValueError without one."""
        from stillflow.graph.scopes import get_default_session

        session = session or get_default_session()
        if session is None:
            raise ValueError("Either session argument should be provided or default session should be established")
        session.run(self.initializer, {self.initializer.inputs[1]: value})

    def assign(self, value, use_locking=False, name=None, read_value=True):
        """A tensor that, when computed, sets the variable; the operation instead if not `read_value`."""
        result = ops.assign(self._variable, value, use_locking=use_locking, name=name)
        return result if read_value else result.op

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        """A tensor that, when computed, adds to the variable."""
        result = ops.assign_add(self._variable, delta, use_locking=use_locking, name=name)
        return result if read_value else result.op

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        """A tensor that, when computed, subtracts from the variable."""
        result = ops.assign_sub(self._variable, delta, use_locking=use_locking, name=name)
        return result if read_value else result.op

    def count_up_to(self, limit):
        """A tensor that, when computed, counts the variable up by one; its value is that before.

        Raises:
          At run time: tf.errors.OutOfRangeError when the variable has reached `limit`.
        """
        return ops.count_up_to(self._variable, limit)

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

    def _strided_slice_assign(self, begin, end, strides, value, name, **masks):
        return ops.strided_slice_assign(self._ref(), begin, end, strides, value, name=name, **masks)

    def scatter_nd_add(self, indices, updates, name=None):
        """A tensor that, when computed, adds `updates` to the parts of the variable at the index tuples."""
        return ops.scatter_nd_add(self._variable, indices, updates, use_locking=True, name=name)

    def scatter_nd_sub(self, indices, updates, name=None):
        """A tensor that, when computed, subtracts `updates` from the parts at the index tuples."""
        return ops.scatter_nd_sub(self._variable, indices, updates, use_locking=True, name=name)

    def scatter_nd_update(self, indices, updates, name=None):
        """A tensor that, when computed, replaces the parts at the index tuples by `updates`."""
        return ops.scatter_nd_update(self._variable, indices, updates, use_locking=True, name=name)

    def _scatter(self, function, sparse_delta, use_locking, name):
        from stillflow.graph.indexed_slices import IndexedSlices

        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError(f"sparse_delta is not IndexedSlices: {sparse_delta}")
        return function(self._variable, sparse_delta.indices, sparse_delta.values, use_locking=use_locking, name=name)

    def batch_scatter_update(self, sparse_delta, use_locking=False, name=None):
        """A tensor that, when computed, replaces rows within each of a batch; see tf.batch_scatter_update."""
        from stillflow.graph.indexed_slices import IndexedSlices

        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError(f"sparse_delta is not IndexedSlices: {sparse_delta}")
        with name_scope(name):
            return self.scatter_nd_update(batch_places(sparse_delta.indices), sparse_delta.values)

    def _gather_saveables_for_checkpoint(self):
        return {"VARIABLE_VALUE": self}

    # ---- Being used -----------------------------------------------------------------------------------------

    def _ref(self):
        """The tensor that refers to the variable."""
        return self._variable

    def _as_graph_element(self):
        return self._variable

    def to_proto(self, export_scope=None):
        """The VariableDef message; None when the variable is not in `export_scope`."""
        from stillflow.formats import protobuf

        prefix = f"{export_scope}/" if export_scope else ""
        if not self._variable.name.startswith(prefix):
            return None
        proto = protobuf.message("VariableDef")(trainable=self._trainable)
        if self._initial_value is not None:
            proto.initial_value_name = self._initial_value.name.removeprefix(prefix)
        proto.variable_name = self._variable.name.removeprefix(prefix)
        proto.initializer_name = self._initializer_op.name.removeprefix(prefix)
        proto.snapshot_name = self._snapshot.name.removeprefix(prefix)
        return self._fill_rest(proto, export_scope)

    def _fill_rest(self, proto, export_scope):
        proto.synchronization = getattr(self._synchronization, "value", self._synchronization) or 0
        proto.aggregation = getattr(self._aggregation, "value", self._aggregation) or 0
        if self._save_slice_info:
            proto.save_slice_info_def.CopyFrom(self._save_slice_info.to_proto(export_scope))
        return proto

    @staticmethod
    def from_proto(variable_def, import_scope=None):
        if not executing_eagerly() and variable_def.is_resource:
            from stillflow.variables.resource_variable import ResourceVariable

            return ResourceVariable.from_proto(variable_def, import_scope)
        return Variable(variable_def=variable_def, import_scope=import_scope)

    def __iter__(self):
        raise TypeError("'Variable' object is not iterable.")

    def __repr__(self):
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"


_uses_resources_by_default = False


@public("resource_variables_enabled")
def resource_variables_enabled():
    """Whether variables are resource variables where nothing says otherwise."""
    return _uses_resources_by_default


@public("enable_resource_variables")
def enable_resource_variables():
    """Makes resource variables the default."""
    use_resources_by_default(True)


@public("disable_resource_variables")
def disable_resource_variables():
    """Makes reference variables the default, as they are from the start."""
    use_resources_by_default(False)


def use_resources_by_default(uses=None):
    """Whether variables are resource variables where nothing says otherwise; sets that, too."""
    global _uses_resources_by_default
    if uses is not None:
        _uses_resources_by_default = uses
    return _uses_resources_by_default


def _uses_resource(use_resource, variable_def):
    if variable_def is not None:
        return False  # which of both it is, from_proto knows
    if use_resource is None:
        from stillflow.variables.scope import get_variable_scope

        use_resource = get_variable_scope().use_resource
    return _uses_resources_by_default if use_resource is None else use_resource


def _convert_variable(variable, dtype=None, name=None, as_ref=False):
    if dtype is not None and not dtype.is_compatible_with(variable.dtype):
        raise ValueError(
            f"Incompatible type conversion requested to type '{dtype.name}' for variable of type "
            f"'{variable.dtype.name}'"
        )
    return variable._ref() if as_ref else variable.value()


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


overload_operators()


def _to_proto(variable, export_scope=None):
    return variable.to_proto(export_scope)


for _key in GraphKeys._PROTO_VARIABLE_COLLECTIONS:
    collection_protos.register(_key, "VariableDef", _to_proto, Variable.from_proto)
