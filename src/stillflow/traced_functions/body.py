"""FuncGraph: the body of a traced function, with the structures of its arguments and results."""

from __future__ import annotations

import weakref
from typing import Any

from stillflow import ops
from stillflow.functions.automatic_control import AutomaticControl
from stillflow.functions.function_graph import FunctionGraph, constant_in, is_small_value
from stillflow.graph import nest, recording
from stillflow.graph.capture import tell_of
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.operation import Operation, Tensor
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.traced_functions.arguments import placeholders_for, signature_of, variable_of
from stillflow.variables.resource_variable import is_resource_variable
from stillflow.variables.scope import get_variable_scope, share_with_function
from stillflow.variables.store import VariableStore


@public("python.framework.func_graph.FuncGraph")
class FuncGraph(FunctionGraph):
    """The body of a function.

    Args:
      name: the function's name.
      collections: collections to begin with; by default the body reads those of the graph around it.
      capture_by_value: whether variables are captured by their values.
    """

    def __init__(self, name, collections=None, capture_by_value=None):
        super().__init__(name)
        if collections is not None:
            self._collections = {key: list(items) for key, items in collections.items()}
        self.capture_by_value = bool(
            getattr(self.outer_graph, "capture_by_value", False) if capture_by_value is None else capture_by_value
        )
        share_with_function(self)
        if collections is not None:  # then it has variables of its own, too
            self.__dict__["_variable_store"] = VariableStore()
        self.structured_input_signature: Any = None
        self.structured_outputs: Any = None
        self._variables: list = []
        self._watched: dict = {}  # id of a handle -> weak reference to its variable

    @property
    def variables(self):
        """The variables that the function uses, by first use. Raises AssertionError if one is gone."""
        found = [ref() for ref in self._variables]
        if any(variable is None for variable in found):
            raise AssertionError(
                "Called a function referencing variables which have been deleted. This likely means that function-"
                "local variables were created and not referenced elsewhere in the program. This is generally a "
                "mistake; consider storing variables in an object attribute on first call."
            )
        return found

    @variables.setter
    def variables(self, variables):
        self._variables = [weakref.ref(variable) for variable in variables]

    @property
    def trainable_variables(self):
        """Those of `variables` that are trainable."""
        return tuple(variable for variable in self.variables if variable.trainable)

    @property
    def external_captures(self):
        return list(self._captures)

    @property
    def internal_captures(self):
        """The tensors of the body that stand for `external_captures`."""
        return list(self._captures.values())

    def watch_variable(self, variable):
        """Makes a variable one of those that the function uses."""
        self._watched.setdefault(id(variable.handle), weakref.ref(variable))

    def watched(self):
        """The variables that have been used so far."""
        return [variable for variable in (ref() for ref in self._watched.values()) if variable is not None]

    def capture(self, tensor, name=None):
        """The tensor of this graph that stands for `tensor`; see FunctionGraph.capture."""
        if tensor._op._graph is self:
            return tensor
        inside = self._captures.get(tensor)
        if inside is None:
            inside = self._constant(tensor) if is_small_value(tensor) else super().capture(tensor)
        variable = variable_of(tensor)
        if variable is not None:
            self.watch_variable(variable)
        tell_of(self, tensor, inside)
        return inside

    def _constant(self, tensor):
        constant = constant_in(self, tensor)
        self._captures[tensor] = constant
        self.inputs.append(constant)
        return constant

    def add_variable(self, variable):
        """Makes a variable that was loaded one of those that the function uses."""
        self.watch_variable(variable)
        self._variables.append(weakref.ref(variable))

    def add_capture(self, outside, inside):
        """Makes a tensor of the body, a new last argument, stand for a tensor from outside."""
        self.replace_capture(outside, inside)
        self.inputs.append(inside)

    def replace_capture(self, outside, inside):
        """Makes an argument stand for a tensor from outside."""
        inside.op._captured = outside
        self._captures[outside] = inside

    def pop_capture(self, outside):
        """What stood for a tensor from outside, which is an argument from now on; None if nothing did."""
        inside = self._captures.pop(outside, None)
        if inside is not None:
            self.inputs[:] = [each for each in self.inputs if each is not inside]
        return inside


@public("python.framework.func_graph.func_graph_from_py_func")
def func_graph_from_py_func(
    name, python_func, args, kwargs, signature=None, func_graph=None, autograph=False, autograph_options=None,
    add_control_dependencies=True, arg_names=None, op_return_value=None, collections=None, capture_by_value=None,
    override_flat_arg_shapes=None,
):  # fmt: skip
    """The FuncGraph of what a Python function does with placeholders for the tensors among its arguments.

    Args:
      name: the function's name.
      python_func: the function.
      args, kwargs: its arguments, of which tensors and specifications of tensors become placeholders.
      signature: specifications in the place of `args` and `kwargs`.
      func_graph: the body, if there is one already.
      autograph: whether to convert Python's control flow; see tf.autograph.
      autograph_options: optional features of the conversion.
      add_control_dependencies: whether what has effects runs in program order, whatever is returned.
      arg_names: the names of `args`.
      op_return_value: what is returned, after the operation, where the function returns an operation.
      collections, capture_by_value: see FuncGraph.
      override_flat_arg_shapes: shapes for all flattened arguments, None for those that are not tensors.

    Raises:
      TypeError: if a result is no tensor, nor None.
      ValueError: if the function changes its arguments.
    """
    graph = FuncGraph(name, collections, capture_by_value) if func_graph is None else func_graph
    if signature is not None and override_flat_arg_shapes is not None:
        raise ValueError(f"Passed both signature and override_flat_arg_shapes: {signature} and "
                         f"{override_flat_arg_shapes}.")  # fmt: skip
    if autograph:
        python_func = _converted(python_func, autograph_options)
    with graph.as_default(), recording.paused():
        control = AutomaticControl(graph) if add_control_dependencies else None
        scope = get_variable_scope()
        uses_resources = scope.use_resource
        scope.set_use_resource(True)
        try:
            if signature is not None:
                args, kwargs = signature, {}
            arguments, named = placeholders_for(graph, args, kwargs, arg_names, override_flat_arg_shapes)
            graph.structured_input_signature = signature_of(arguments, named, arg_names)
            before = [(structure, nest.flatten(structure, True)) for structure in (arguments, named)]
            copies = [nest.pack_sequence_as(structure, leaves, True) for structure, leaves in before]
            results = python_func(*arguments, **named)
            convert = _Conversion(python_func, control, op_return_value)
            results = nest.map_structure(convert, results, expand_composites=True)
            for copied, structure in zip(copies, (arguments, named), strict=True):
                _check_unchanged(copied, structure)
        finally:
            scope.set_use_resource(uses_resources)
        _settle_inputs(graph, before[0][1] + before[1][1])
        graph.structured_outputs = results
        graph.outputs.extend(graph.capture(tensor) for tensor in _tensors(results))
        if control is not None:
            graph.control_outputs.extend(control.end())
    return graph


def _converted(python_func, options):
    from stillflow.autograph.calls import convert_for_tracing

    return convert_for_tracing(python_func, options)


class _Conversion:
    """What becomes of a result."""

    def __init__(self, python_func, control, op_return_value):
        self._python_func = python_func
        self._control = control
        self._op_return_value = op_return_value

    def __call__(self, value):
        if value is None:
            return None
        if self._op_return_value is not None and isinstance(value, Operation):
            with control_dependencies([value]):
                value = ops.identity(self._op_return_value)
        else:
            try:
                value = convert_to_tensor(value)
            except (ValueError, TypeError):
                raise TypeError(
                    "To be compatible with tf.contrib.eager.defun, Python functions must return zero or "
                    "more Tensors; "
                    f"in compilation of {self._python_func}, found return value of type {type(value)}, "
                    f"which is not a "
                    "Tensor."
                ) from None
        return value if self._control is None else self._control.mark_as_return(value)


def _check_unchanged(before, after):
    message = (
        "Function to be traced should not modify structure of input arguments. Check if your function has list and "
        "dictionary operations that alter input arguments, such as `list.pop`, `list.append`"
    )
    try:
        nest.assert_same_structure(before, after, expand_composites=True)
    except ValueError:
        raise ValueError(message) from None
    pairs = zip(nest.flatten(before, True), nest.flatten(after, True), strict=True)
    if any(first is not second for first, second in pairs):
        raise ValueError(message)


def _settle_inputs(graph, leaves):
    """Puts the arguments first, with those that stand for variables, and after them what was captured."""
    arguments: list = []
    given = set()
    for leaf in leaves:
        if isinstance(leaf, Tensor):
            arguments.append(leaf)
        elif is_resource_variable(leaf):
            given.add(id(leaf))
            inside = graph.pop_capture(leaf.handle)
            if inside is not None:
                arguments.append(inside)
    graph.variables = [variable for variable in graph.watched() if id(variable) not in given]
    graph.inputs = arguments + graph.internal_captures


def _tensors(structure):
    return [leaf for leaf in nest.flatten(structure, expand_composites=True) if leaf is not None]
