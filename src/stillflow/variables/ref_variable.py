"""RefVariable: a tf.Variable whose node outputs a reference to the value."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.default_graph import get_default_graph, require_graph
from stillflow.graph.inner_functions import prepend_name_scope
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables import initial_values
from stillflow.variables.variable import Variable


@public("python.ops.variables.RefVariable")
class RefVariable(Variable):
    """What tf.Variable makes by default: a node that ops refer to when they change the value.

    Arguments are those of tf.Variable. Raises RuntimeError in eager execution, which has no references.
    """

    def _add_nodes(self, graph, initial_value, dtype, shape, validate_shape, name):
        _refuse_eager_execution()
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
        _refuse_eager_execution()
        graph = get_default_graph()

        def element(name):
            return graph.as_graph_element(prepend_name_scope(name, import_scope))

        self._variable = element(variable_def.variable_name)
        self._initializer_op = element(variable_def.initializer_name)
        self._snapshot = element(variable_def.snapshot_name)
        initial = variable_def.initial_value_name
        self._initial_value = element(initial) if initial else None
        self._init_rest_from_proto(variable_def, import_scope)

    # ---- What it is -----------------------------------------------------------------------------------------

    @property
    def _source(self):
        return self._variable

    @property
    def dtype(self):
        """The reference type of its elements; `dtype.base_dtype` is the type itself."""
        return self._variable.dtype

    @property
    def shape(self):
        return self._variable.shape

    def set_shape(self, shape):
        """Adds to what is known of the shape."""
        self._variable.set_shape(shape)
        self._snapshot.set_shape(shape)

    # ---- Its value ------------------------------------------------------------------------------------------

    def value(self):
        return self._snapshot

    def read_value(self):
        return ops.identity(self._variable, name="read")

    def is_initialized(self, name=None):
        return ops.is_variable_initialized(self._variable, name=name)

    # ---- Its changes ----------------------------------------------------------------------------------------

    def assign(self, value, use_locking=False, name=None, read_value=True):
        result = ops.assign(self._variable, value, use_locking=use_locking, name=name)
        return result if read_value else result.op

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        result = ops.assign_add(self._variable, delta, use_locking=use_locking, name=name)
        return result if read_value else result.op

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        result = ops.assign_sub(self._variable, delta, use_locking=use_locking, name=name)
        return result if read_value else result.op

    def count_up_to(self, limit):
        return ops.count_up_to(self._variable, limit)

    def _scatter_rows(self, function, indices, updates, name=None, use_locking=False):
        return function(self._variable, indices, updates, use_locking=use_locking, name=name)

    def _scatter_parts(self, function, indices, updates, name=None):
        return function(self._variable, indices, updates, use_locking=True, name=name)

    def _strided_slice_assign(self, begin, end, strides, value, name, **masks):
        return ops.strided_slice_assign(self._variable, begin, end, strides, value, name=name, **masks)

    # ---- Being used -----------------------------------------------------------------------------------------

    def _ref(self):
        """The tensor that refers to the variable."""
        return self._variable

    def _as_input(self, as_ref):
        return self._variable if as_ref else self._snapshot

    def _as_graph_element(self):
        return self._variable

    def _fill_proto(self, proto, relative_name):
        proto.snapshot_name = relative_name(self._snapshot)


def _refuse_eager_execution():
    require_graph(
        "tf.Variable not supported when eager execution is enabled. Please use tf.contrib.eager.Variable instead"
    )
