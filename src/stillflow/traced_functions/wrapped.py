"""tf.wrap_function: code that was written for graphs and sessions, as functions of tensors."""

from __future__ import annotations

import logging
from typing import Any

from stillflow.formats import protobuf
from stillflow.graph import nest
from stillflow.graph.collections import GraphKeys
from stillflow.graph.composite_tensor import CompositeTensor
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Operation, Tensor
from stillflow.graph.structure_coder import StructureCoder
from stillflow.importer.import_graph_def import import_graph_def
from stillflow.names import public
from stillflow.ops.sparse_tensor import SparseTensor
from stillflow.traced_functions.body import FuncGraph, func_graph_from_py_func
from stillflow.traced_functions.concrete import ConcreteFunction
from stillflow.traced_functions.lifting import lift_to_graph
from stillflow.tracking.containers import Mapping
from stillflow.variables.creators import variable_creator_scope
from stillflow.variables.resource_variable import ResourceVariable
from stillflow.variables.uninitialized import uninitialized_variable

_log = logging.getLogger("tensorflow")


@public("python.eager.wrap_function.VariableHolder")
class VariableHolder:
    """Keeps the variables that a function makes, so that they live as long as what it became.

    Args:
      fn: the function; calling the holder calls it.
      share_variables: whether what makes a variable of a name that there is gets that one.
    """

    def __init__(self, fn=None, share_variables=False):
        self._fn = fn
        self._share_variables = share_variables
        self._variables_by_name = Mapping()

    @property
    def variables(self):
        """{name: variable}."""
        return self._variables_by_name

    def variable_creator_scope(self, next_creator, **kwargs):
        """A creator for tf.variable_creator_scope, which adds variables to collections as graphs do."""
        collections = kwargs.pop("collections", None)
        with name_scope(kwargs.get("name"), "Variable") as scope:
            name = kwargs["name"] = scope
        variable = self._variables_by_name.get(name.rstrip("/")) if self._share_variables else None
        if variable is None:
            variable = self._variables_by_name[name.rstrip("/")] = next_creator(**kwargs)
        collections = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(collections)
        if variable.trainable and GraphKeys.TRAINABLE_VARIABLES not in collections:
            collections.append(GraphKeys.TRAINABLE_VARIABLES)
        get_default_graph().add_to_collections(collections, variable)
        return variable

    def __call__(self, *args, **kwargs):
        return self.call_with_variable_creator_scope(self._fn)(*args, **kwargs)

    def call_with_variable_creator_scope(self, fn):
        """`fn`, with its variables made and kept by the holder."""

        def wrapped(*args, **kwargs):
            with variable_creator_scope(self.variable_creator_scope):
                return fn(*args, **kwargs)

        return wrapped


# ---- Variables of imported graphs ------------------------------------------------------------------------------


def _lift_variables(graph, holder):
    """Makes variables outside of a body for those that were imported into it, and arguments of their handles."""
    lifted: dict = {}
    captured = set(graph.internal_captures)
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES):
        for variable in graph.get_collection(key):
            inner = isinstance(variable, ResourceVariable) and variable.handle.graph is graph
            if inner and variable.handle not in captured:
                captured.add(variable.handle)
                lifted[id(variable)] = _lifted_variable(variable, graph, holder, key)
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES):
        items = graph.get_collection_ref(key)
        items[:] = [lifted.get(id(item), item) for item in items]
        for item in items:
            if not isinstance(item, ResourceVariable):
                _log.warning(
                    "Unable to create a python object for variable %s because it is a reference variable. It may not "
                    "be visible to training APIs. If this is a problem, consider rebuilding the SavedModel after "
                    "running tf.compat.v1.enable_resource_variables().",
                    item,
                )


def _lifted_variable(old, graph, holder, collection):
    new = uninitialized_variable(shape=old.shape, dtype=old.dtype, name=old.op.name, trainable=old.trainable)
    new._initializer_op = old._initializer_op
    graph.add_capture(new.handle, old.handle)
    holder._variables_by_name[new.name.removesuffix(":0")] = new
    graph.add_variable(new)
    if collection == GraphKeys.LOCAL_VARIABLES and new._graph_element is not None:
        outer = new.graph
        global_variables = outer.get_collection_ref(GraphKeys.GLOBAL_VARIABLES)
        global_variables[:] = [item for item in global_variables if item is not new]
        outer.add_to_collection(GraphKeys.LOCAL_VARIABLES, new)
    return new


# ---- Functions ------------------------------------------------------------------------------------------------


def _element_of(info, graph) -> Any:
    """The operation, tensor or composite tensor that a TensorInfo message names."""
    encoding = info.WhichOneof("encoding")
    if encoding == "name":
        return graph.as_graph_element(info.name)
    if encoding == "coo_sparse":
        parts = info.coo_sparse
        names = (parts.indices_tensor_name, parts.values_tensor_name, parts.dense_shape_tensor_name)
        return SparseTensor(*map(graph.get_tensor_by_name, names))
    if encoding == "composite_tensor":
        parts = info.composite_tensor
        spec = StructureCoder().decode_proto(protobuf.message("StructuredValue")(type_spec_value=parts.type_spec))
        return spec._from_components([graph.get_tensor_by_name(each.name) for each in parts.components])
    raise ValueError(f"Invalid TensorInfo.encoding: {encoding}")


@public("python.eager.wrap_function.WrappedFunction")
class WrappedFunction(ConcreteFunction):
    """A function of tensors that was written for graphs: what its results do not need is not run.

    Args:
      fn_graph: its FuncGraph; variables of which it has only the handles are made outside of it.
      variable_holder: the VariableHolder.
      attrs: attributes of its definition.
      signature: specifications of the arguments.
    """

    def __init__(self, fn_graph, variable_holder, attrs=None, signature=None):
        self._variable_holder = variable_holder
        _lift_variables(fn_graph, variable_holder)
        super().__init__(fn_graph, attrs=attrs, signature=signature)

    def prune(self, feeds, fetches, name=None, input_signature=None):
        """The WrappedFunction of a part of the graph, from `feeds` to `fetches`.

        Args:
          feeds: tensors or their names, in a structure.
          fetches: tensors, operations, their names, or TensorInfo messages, in a structure. Operations run, and stand
            for None.
          name: the function's name, "pruned" by default.
          input_signature: what the new function is to say of its arguments.

        Raises:
          ValueError: for what is of another graph, and for feeds that are no tensors.
          UnliftableError: if a placeholder is needed that is not fed.
        """
        graph = self.graph
        feeds = [graph.as_graph_element(feed) for feed in nest.flatten(feeds, expand_composites=True)]
        if not all(isinstance(feed, Tensor) for feed in feeds):
            raise ValueError("Feeds must be tensors.")
        captured = set(graph.internal_captures)
        feeds = [feed for feed in feeds if feed not in captured]
        fetched = _Fetched(graph)
        fetches = nest.map_structure(fetched.element, fetches)
        for item in (*feeds, *fetched.tensors, *fetched.operations):
            if item.graph is not graph:
                raise ValueError(
                    "Can only prune function whose feeds and fetches are from this graph "
                    f"({graph}). Input {item} is from graph {item.graph}"
                )
        with graph.as_default():
            pruned = FuncGraph(name or "pruned")
        pruned.outer_graph = graph.outer_graph
        known = lift_to_graph([*fetched.operations, *fetched.tensors], pruned, [*feeds, *graph.internal_captures])
        pruned.outputs.extend(known[tensor] for tensor in fetched.tensors)
        pruned.control_outputs.extend(known[op] for op in fetched.operations)
        pruned.inputs = [known[feed] for feed in feeds]
        for outside, inside in graph.captures:
            pruned.add_capture(outside, known[inside])
        fetched.set_shapes(known)
        pruned.variables = graph.variables
        pruned.structured_outputs = nest.map_structure(
            lambda item: None if isinstance(known[item], Operation) else known[item], fetches, expand_composites=True
        )
        pruned.structured_input_signature = input_signature
        function = WrappedFunction(pruned, self._variable_holder)
        function._num_positional_args = len(feeds)
        function._arg_keywords = [feed.op.name for feed in feeds]
        return function


class _Fetched:
    """What a part of a graph is to return and to run."""

    def __init__(self, graph):
        self._graph = graph
        self.operations: list = []
        self.tensors: list = []
        self._infos: list = []  # (tensor, TensorInfo)

    def element(self, item):
        """The operation, tensor or composite tensor that a fetch means."""
        info = isinstance(item, protobuf.message("TensorInfo"))
        found = _element_of(item, self._graph) if info else item
        if not isinstance(found, (Operation, Tensor, CompositeTensor)):
            found = self._graph.as_graph_element(found)
        if isinstance(found, Operation):
            self.operations.append(found)
        else:
            self.tensors.extend(nest.flatten(found, expand_composites=True))
            if info and isinstance(found, Tensor):
                self._infos.append((found, item))
        return found

    def set_shapes(self, known):
        """Tells the copies of tensors what messages said of their shapes."""
        for tensor, info in self._infos:
            known[tensor].set_shape(info.tensor_shape)


def _without_operations(fn):
    """(`fn` with None for operations that it returns, {position among the results: operation})."""
    returned: dict = {}

    def call(*args, **kwargs):
        outputs = fn(*args, **kwargs)
        flat = nest.flatten(outputs)
        returned.update((i, item) for i, item in enumerate(flat) if isinstance(item, Operation))
        return nest.pack_sequence_as(outputs, [None if i in returned else item for i, item in enumerate(flat)])

    return call, returned


@public("python.eager.wrap_function.WrappedGraph")
class WrappedGraph:
    """Several functions that share a graph: its variables, found by their names, and its collections.

    Args:
      variable_holder: a VariableHolder, by default one that shares variables.
      name: the graph's name, "wrapped_function_graph" by default.
      collections: what the graph's collections begin with; by default nothing.
      **kwargs: for FuncGraph.
    """

    def __init__(self, variable_holder=None, name="wrapped_function_graph", collections=None, **kwargs):
        self._variable_holder = variable_holder or VariableHolder(share_variables=True)
        self.graph = FuncGraph(name, collections={} if collections is None else collections, **kwargs)
        self._wrapped_function = WrappedFunction(self.graph, self._variable_holder)
        self._functions: dict = {}

    @property
    def functions(self):
        """{name: WrappedFunction}."""
        return self._functions

    @property
    def variables(self):
        """{name: variable}."""
        return self._variable_holder.variables

    def wrap_function(self, fn, signature, name=None):
        """The WrappedFunction of a Python function, which builds its part of the graph now.

        Args:
          fn: returns tensors, variables, of which the result has the values, and operations, which are run.
          signature: a nested sequence of tf.TensorSpec.
          name: its name; by default that of `fn`.
        """
        return self._wrap_function(fn, signature=signature, name=name)

    def _wrap_function(self, fn, args=None, kwargs=None, signature=None, name=None):
        call, returned = _without_operations(self._variable_holder.call_with_variable_creator_scope(fn))
        func_graph_from_py_func(
            None, call, args=args, kwargs=kwargs, signature=signature, add_control_dependencies=False,
            func_graph=self.graph,
        )  # fmt: skip
        captured = set(self.graph.internal_captures)
        inputs = [tensor for tensor in self.graph.inputs if tensor not in captured]
        outputs = nest.flatten(self.graph.structured_outputs)
        for position, operation in returned.items():
            outputs[position] = operation
        outputs = nest.pack_sequence_as(self.graph.structured_outputs, outputs)
        name = name or fn.__name__
        made = self._wrapped_function.prune(inputs, outputs, name, self.graph.structured_input_signature)
        self._functions[name] = made
        return made


@public("wrap_function", "python.eager.wrap_function.wrap_function")
def wrap_function(fn, signature, name=None):
    """The function of tensors that a Python function for graphs is, as it was called once.

    Other than with tf.function, operations run only if the results need them, and in no order that the program does
    not say. Variables that `fn` makes belong to the result.

    Args:
      fn: the Python function.
      signature: its arguments: tf.TensorSpec for tensors, and plain values.
      name: a name for the graph.
    """
    holder = VariableHolder(fn)
    graph = func_graph_from_py_func(
        "wrapped_function" if name is None else f"wrapped_function_{name}", holder, args=None, kwargs=None,
        signature=signature, add_control_dependencies=False, collections={},
    )  # fmt: skip
    return WrappedFunction(graph, variable_holder=holder, signature=signature)


@public("python.eager.wrap_function.function_from_graph_def")
def function_from_graph_def(graph_def, inputs, outputs):
    """The WrappedFunction of a GraphDef message.

    Args:
      graph_def: the message.
      inputs, outputs: names of tensors in it, in structures.
    """
    wrapped = wrap_function(lambda: import_graph_def(graph_def, name=""), [])
    find = wrapped.graph.as_graph_element
    return wrapped.prune(nest.map_structure(find, inputs), nest.map_structure(find, outputs))
