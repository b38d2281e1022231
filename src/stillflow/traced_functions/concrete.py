"""ConcreteFunction: a function of tensors alone, made by one trace."""

from __future__ import annotations

from stillflow.functions import numbers
from stillflow.graph import nest
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.platform.compat import as_bytes
from stillflow.traced_functions.collection import called_functions
from stillflow.traced_functions.derivative import DifferentiableFunction
from stillflow.traced_functions.parts import BodyPart
from stillflow.tracking.base import TracedFunction
from stillflow.variables.resource_variable import is_resource_variable


@public("python.eager.function.ConcreteFunction")
class ConcreteFunction(TracedFunction):
    """A traced function, which can be called with tensors and variables.

    Args:
      func_graph: a FuncGraph.
      attrs: attributes of its definition.
      signature: specifications of the arguments, where they may be anything that converts to tensors.
    """

    def __init__(self, func_graph, attrs=None, signature=None):
        self._func_graph = func_graph
        self._signature = signature
        self._arg_keywords: list | None = None
        self._num_positional_args: int | None = None
        self._captured_inputs = list(func_graph.external_captures)
        self._attrs = parse_attributes(attrs or {})
        part = BodyPart(
            func_graph, func_graph.name, func_graph.inputs, func_graph.outputs, func_graph.control_outputs,
            func_graph.get_operations(),
        )  # fmt: skip
        part.external_captures = self._captured_inputs
        number = numbers.next_number(func_graph)
        numbers.end_function(func_graph)
        name = f"__inference_{func_graph.name}_{number}"
        self._function = DifferentiableFunction(name, func_graph.name, part, self._attrs)

    # ---- Calls ----------------------------------------------------------------------------------------------

    def __call__(self, *args, **kwargs):
        """What the function returns for these tensors and variables.

        Raises:
          AssertionError: if the function is not one that `get_concrete_function` returned.
          TypeError: for arguments by other names, twice or missing.
          ValueError: for what is neither a tensor nor a variable.
        """
        names = self._arg_keywords
        if names is None or self._num_positional_args is None:
            if self._signature is None:
                raise AssertionError(
                    "Tried to call a concrete function obtained from an internal API through the public interface. "
                    "Use get_concrete_function instead."
                )
            if kwargs:
                raise NotImplementedError(
                    "Keyword arguments not supported when calling a wrap_function-decorated function."
                )
            return self._call_flat(args)
        if len(args) > self._num_positional_args:
            raise TypeError(
                f"Expected at most {self._num_positional_args} positional arguments (and the rest keywords, of "
                f"{names}), got {args}. When calling a concrete function, positional arguments may not be bound to "
                "Tensors within nested structures."
            )
        return self._call_flat([*args, *self._by_name(len(args), kwargs)])

    def _by_name(self, count, kwargs):
        """The arguments after the first `count`, out of those by name."""
        names = self._arg_keywords or []
        found: list = []
        for name in names[count:]:
            if name not in kwargs:
                given = names[: count + len(found)] + list(kwargs)
                raise TypeError(
                    f"Expected argument names {names} but got values for {given}. Missing: "
                    f"{list(set(names) - set(given))}."
                )
            found.append(kwargs.pop(name))
        for name in kwargs:
            if name in names:
                raise TypeError(f"Got two values for keyword '{name}'.")
            raise TypeError(f"Keyword arguments {list(kwargs)} unknown. Expected {names}.")
        return found

    def _filtered_call(self, args, kwargs):
        """Calls the function with the tensors and variables among structures of arguments."""
        leaves = nest.flatten((args, kwargs), expand_composites=True)
        return self._call_flat([x for x in leaves if isinstance(x, Tensor) or is_resource_variable(x)])

    def _call_flat(self, args, captured_inputs=None):
        """Calls the function with one tensor or variable for each of its arguments."""
        captured = self.captured_inputs if captured_inputs is None else captured_inputs
        inputs = self._tensors(args)
        graph = get_default_graph()
        if hasattr(graph, "watch_variable"):
            for variable in self._func_graph.variables:
                graph.watch_variable(variable)
        called_functions.note(self._func_graph)
        return self._structured(*self._function.call_with_node([*inputs, *captured]))

    def _tensors(self, args):
        tensors = []
        seen = set()
        for i, arg in enumerate(args):
            if is_resource_variable(arg):
                if id(arg) not in seen:
                    seen.add(id(arg))
                    tensors.append(arg.handle)
            elif isinstance(arg, Tensor):
                self._check_shape(i, arg)
                tensors.append(arg)
            elif self._signature is not None and hasattr(self._signature[i], "dtype"):
                tensors.append(convert_to_tensor(arg, self._signature[i].dtype))
            else:
                raise ValueError(
                    f"All inputs to `ConcreteFunction`s must be Tensors; on invocation of "
                    f"{self._func_graph.name}, the "
                    f"{i}-th input ({arg}) was not a Tensor."
                )
        return tensors

    def _check_shape(self, i, arg):
        expected = self.inputs[i].shape if i < len(self.inputs) else TensorShape(None)
        if arg._value is None and not expected.is_compatible_with(arg.shape):
            name = f"'{self._arg_keywords[i]}'" if self._arg_keywords else f"with index {i}"
            raise ValueError(
                f"The argument {name} (value {arg}) is not compatible with the shape this function was traced with. "
                f"Expected shape {expected}, but got shape {arg.shape}.\n\nIf you called get_concrete_function, you "
                "may need to pass a tf.TensorSpec(..., shape=...) with a less specific shape, having None on axes "
                "which can vary."
            )

    def _structured(self, node, results):
        """The results as the function returns them; where it returns nothing, the node, if there is one."""
        structure = self._func_graph.structured_outputs
        if structure is None and not results:
            return node
        leaves = nest.flatten(structure, expand_composites=True)
        found = iter(results)
        leaves = [None if leaf is None else next(found) for leaf in leaves]
        return nest.pack_sequence_as(structure, leaves, expand_composites=True)

    def set_captured_inputs(self, captured, variables):
        """Says which tensors the last arguments stand for, in a function that was loaded, and of which variables."""
        self._captured_inputs[:] = captured
        self._func_graph.variables = variables
        for outside, inside in zip(captured, self.inputs[len(self.inputs) - len(captured) :], strict=True):
            self._func_graph.replace_capture(outside, inside)

    # ---- What it is -----------------------------------------------------------------------------------------

    @property
    def name(self):
        """The function's name in a graph's library."""
        return self._function.inference.name

    @property
    def graph(self):
        """The FuncGraph."""
        return self._func_graph

    @property
    def inputs(self):
        """The placeholders of the arguments, and after them those that stand for `captured_inputs`."""
        return self._function.inference.part.inputs

    @property
    def structured_input_signature(self):
        """(args, kwargs) of the Python function, with specifications for tensors."""
        return self._func_graph.structured_input_signature

    @property
    def outputs(self):
        """The tensors of the graph that are returned."""
        return self._function.inference.part.outputs

    @property
    def structured_outputs(self):
        """What the Python function returned."""
        return self._func_graph.structured_outputs

    @property
    def captured_inputs(self):
        """The tensors from outside that the function uses."""
        return self._captured_inputs

    @property
    def is_stateful(self):
        """Whether a call has effects, or depends on what others had."""
        return self._function.inference.is_stateful

    @property
    def variables(self):
        """The variables that the function uses."""
        return tuple(self._func_graph.variables)

    @property
    def trainable_variables(self):
        return self._func_graph.trainable_variables

    @property
    def function_def(self):
        """The FunctionDef message."""
        return self._function.inference.function.definition

    @property
    def output_shapes(self):
        return nest.map_structure(
            lambda x: getattr(x, "shape", TensorShape(None)), self.structured_outputs, expand_composites=True
        )

    @property
    def output_dtypes(self):
        return nest.map_structure(
            lambda x: x.dtype if x is not None else None, self.structured_outputs, expand_composites=True
        )

    def add_to_graph(self, g=None):
        """Makes the function known in a graph, by default the default one."""
        self._function.inference.function.add_to_graph(get_default_graph() if g is None else g)

    def add_gradient_functions_to_graph(self, g=None):
        """Makes the function that also returns what gradients need, and the gradient, known in a graph."""
        graph = get_default_graph() if g is None else g
        for function in self._function.derivatives.functions():
            function.add_to_graph(graph)


def parse_attributes(attributes):
    """The attributes of a definition. Raises ValueError for types that attributes cannot have."""
    found: dict = {}
    for key, value in attributes.items():
        if isinstance(value, (bool, int, float)):
            found[key] = value
        elif isinstance(value, (str, bytes)):
            found[key] = as_bytes(value)
        else:
            raise ValueError(f"Unsupported attribute type for {key} with type {type(value)}")
    return found
