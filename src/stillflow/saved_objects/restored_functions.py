"""tf.functions of a SavedModel: each call finds the trace that its arguments suit."""

from __future__ import annotations

import inspect

from stillflow.functions.function_graph import FunctionGraph
from stillflow.graph import nest, shallow_nest
from stillflow.graph.operation import Operation, Tensor
from stillflow.graph.structure_coder import StructureCoder
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.graph.type_spec import TypeSpec
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.platform import decorators
from stillflow.traced_functions.binding import FunctionSpec
from stillflow.traced_functions.function import Function
from stillflow.variables.resource_variable import is_resource_variable


@public("python.saved_model.function_deserialization.RestoredFunction")
class RestoredFunction(Function):
    """A tf.function that was loaded; its traces are `concrete_functions`, and there are no others."""

    def __init__(self, python_function, name, function_spec, concrete_functions):
        super().__init__(python_function, name, autograph=False)
        self.concrete_functions = concrete_functions
        self._function_spec = function_spec

    def _list_all_concrete_functions_for_serialization(self):
        return self.concrete_functions

    def _traced(self, creator):
        traced = super()._traced(creator)
        traced._function_spec = self._function_spec
        return traced


@public("python.saved_model.function_deserialization.recreate_function")
def recreate_function(saved_function, concrete_functions):
    """The RestoredFunction of a SavedFunction message.

    Args:
      saved_function: the message.
      concrete_functions: {name in the SavedModel: ConcreteFunction}.
    """
    traces = [concrete_functions[name] for name in saved_function.concrete_functions]
    spec = _function_spec(saved_function.function_spec)

    def restored_function_body(*args, **kwargs):
        for converts in (False, True):  # a trace for a plain value is better than one for a tensor
            for trace in traces:
                if _suits(trace, (args, kwargs), converts):
                    return _call(trace, (args, kwargs))
        raise ValueError(_no_match(traces, args, kwargs))

    restored = RestoredFunction(restored_function_body, "restored_function_body", spec, traces)
    return decorators.make_decorator(restored_function_body, restored, decorator_argspec=spec.fullargspec)


@public("python.saved_model.function_deserialization.setup_bare_concrete_function")
def setup_bare_concrete_function(saved_bare_concrete_function, concrete_functions):
    """The ConcreteFunction of a SavedBareConcreteFunction message, with the names of its arguments."""
    concrete = concrete_functions[saved_bare_concrete_function.concrete_function_name]
    concrete._arg_keywords = list(saved_bare_concrete_function.argument_keywords)
    concrete._num_positional_args = saved_bare_concrete_function.allowed_positional_arguments
    return concrete


def _function_spec(proto):
    """The FunctionSpec of a message. What was a method is none: it uses what it used when it was saved."""
    coder = StructureCoder()
    saved = coder.decode_proto(proto.fullargspec)
    if proto.is_method and not saved.args:
        raise NotImplementedError("Missing support to deserialize a method function without a named 'self' argument.")
    fields = saved._asdict()
    if proto.is_method:
        fields["args"] = saved.args[1:]
    return FunctionSpec(inspect.FullArgSpec(**fields), False, [], {}, coder.decode_proto(proto.input_signature))


# ---- Which trace ----------------------------------------------------------------------------------------------


def _is_tensor(value):
    return isinstance(value, Tensor) or is_resource_variable(value)


def _suits(trace, inputs, converts):
    """Whether a trace can be called with (args, kwargs), after conversion to tensors if `converts`."""
    expected = trace.structured_input_signature
    try:
        leaves = shallow_nest.flatten_up_to(expected, inputs)
        # Namedtuples that were loaded are of other classes.
        nest.assert_same_structure(inputs, nest.pack_sequence_as(expected, leaves), check_types=False)
    except (TypeError, ValueError):
        return False
    return all(_leaf_suits(leaf, spec, converts) for leaf, spec in zip(leaves, nest.flatten(expected), strict=True))


def _leaf_suits(leaf, expected, converts):
    if isinstance(expected, TensorSpec):
        if converts:
            leaf = _converted_spec(leaf, expected.dtype)
        if not _is_tensor(leaf) and not isinstance(leaf, TensorSpec):
            return False
        return leaf.dtype.base_dtype == expected.dtype and expected.shape.is_compatible_with(leaf.shape)
    if isinstance(expected, TypeSpec):
        return expected.is_compatible_with(leaf)
    return leaf is expected if _is_tensor(leaf) else bool(leaf == expected)


def _converted_spec(value, dtype):
    """What a value would be as a tensor, or None. Nothing is added to the default graph."""
    with FunctionGraph("guess_conversion").as_default():
        try:
            tensor = convert_to_tensor(value, dtype_hint=dtype)
        except (TypeError, ValueError):
            return None
        return TensorSpec(tensor.shape, tensor.dtype)


def _call(trace, inputs):
    """Calls a trace with (args, kwargs) that suit it."""
    expected = trace.structured_input_signature
    leaves = shallow_nest.flatten_up_to(expected, inputs, expand_composites=True)
    specs = nest.flatten(expected, expand_composites=True)
    tensors = [
        convert_to_tensor(leaf, dtype_hint=spec.dtype)
        for leaf, spec in zip(leaves, specs, strict=True) if isinstance(spec, TensorSpec)
    ]  # fmt: skip
    found = trace._call_flat(tensors)
    return None if isinstance(found, Operation) else found  # a body cannot return nodes


def _no_match(traces, args, kwargs):
    def shown(positional):
        return f"Positional arguments ({len(positional)} total):\n    * " + "\n    * ".join(map(str, positional))

    options = []
    for number, trace in enumerate(traces, 1):
        positional, keywords = trace.structured_input_signature
        options.append(f"Option {number}:\n  {shown(positional)}\n  Keyword arguments: {keywords}")
    return (
        f"Could not find matching function to call loaded from the SavedModel. Got:\n  {shown(args)}\n  Keyword "
        f"arguments: {kwargs}\n\nExpected these arguments to match one of the following {len(traces)} option(s):\n\n"
        + "\n\n".join(options)
    )
