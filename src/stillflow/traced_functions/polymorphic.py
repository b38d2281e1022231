"""defun: Python functions that are traced for each kind of arguments they are called with."""

from __future__ import annotations

import threading
import types
import weakref
from typing import Any

from stillflow.graph import nest
from stillflow.graph.default_graph import get_default_graph, outermost_graph
from stillflow.graph.mode import by_outermost_mode, eager_version_of
from stillflow.names import public
from stillflow.platform import decorators
from stillflow.traced_functions.arguments import flat_shapes, key_of
from stillflow.traced_functions.binding import FunctionSpec, validate_signature
from stillflow.traced_functions.body import func_graph_from_py_func
from stillflow.traced_functions.concrete import ConcreteFunction


@public("python.eager.function.Function")
class Function:
    """A Python function and its traces.

    Args:
      python_function: the function.
      name: what it is called in graphs.
      input_signature: specifications that all calls keep to, so that there is one trace.
      attributes: attributes of the definitions.
      autograph, autograph_options: whether and how to convert Python's control flow.
      experimental_relax_shapes: whether arguments of other sizes get a trace for all sizes.
      capture_by_value: whether variables are captured by their values.
    """

    def __init__(
        self, python_function, name, input_signature=None, attributes=None, autograph=True, autograph_options=None,
        experimental_relax_shapes=False, capture_by_value=None,
    ):  # fmt: skip
        self._python_function = python_function
        self._function_spec = FunctionSpec.from_function_and_signature(python_function, input_signature)
        self._name = name
        self._attributes = attributes or {}
        self._autograph = autograph
        self._autograph_options = autograph_options
        self._relaxes_shapes = experimental_relax_shapes
        self._capture_by_value = capture_by_value
        self._traces: dict = {}
        self._relaxed: dict = {}  # key of the ranks -> (shapes, trace)
        self._missed: set = set()
        self._lock = threading.RLock()
        self._of_instances: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()

    def __call__(self, *args, **kwargs):
        """What the Python function returns for such arguments, computed by the graph of its trace."""
        concrete, args, kwargs = self._maybe_define_function(args, kwargs)
        return concrete._filtered_call(args, kwargs)

    @property
    def python_function(self):
        return self._python_function

    @property
    def function_spec(self):
        return self._function_spec

    @property
    def input_signature(self):
        """The specifications of the arguments, or None."""
        return self._function_spec.input_signature

    @property
    def flat_input_signature(self):
        return self._function_spec.flat_input_signature

    def __get__(self, instance, owner):
        """The function of an object, where this one is an attribute of its class."""
        if instance is None:
            return self
        if instance not in self._of_instances:
            self._of_instances[instance] = type(self)(
                bound_weakly(self._python_function, instance), self._name, input_signature=self.input_signature,
                autograph=self._autograph,
            )  # fmt: skip
        return self._of_instances[instance]

    # ---- Traces ---------------------------------------------------------------------------------------------

    def get_concrete_function(self, *args, **kwargs):
        """The ConcreteFunction for such arguments, of which specifications stand for tensors.

        Raises ValueError if they do not keep to the signature, which makes them unnecessary.
        """
        if self.input_signature is not None:
            if kwargs:
                raise ValueError(
                    "Cannot define a TensorFlow function from a Python function with keyword arguments when "
                    "input_signature is provided."
                )
            if args:
                self._check_specifications(args)
        concrete = self._get_concrete_function_internal(*args, **kwargs)
        names = _distinct_names(concrete)
        concrete._arg_keywords = names
        concrete._num_positional_args = len(names)
        return concrete

    def _get_concrete_function_internal(self, *args, **kwargs):
        """The ConcreteFunction, which takes its arguments only by `_filtered_call` and `_call_flat`."""
        given = self.input_signature is None
        return self._maybe_define_function(args if given else None, kwargs if given else None)[0]

    _get_concrete_function_internal_garbage_collected = _get_concrete_function_internal

    def _check_specifications(self, args):
        if not is_same_structure(self.input_signature, args):
            raise ValueError("Structure of Python function inputs does not match input_signature.")
        leaves = nest.flatten(args, expand_composites=True)
        if any(not hasattr(leaf, "dtype") or not hasattr(leaf, "shape") for leaf in leaves):
            raise ValueError(
                "When input_signature is provided, all inputs to the Python function must be Tensors or "
                "tf.TensorSpec "
                "objects."
            )
        specs = self.flat_input_signature
        if any(not spec.is_compatible_with(leaf) for spec, leaf in zip(specs, leaves, strict=True)):
            raise ValueError(
                f"Python inputs incompatible with input_signature: inputs ({args}), input_signature "
                f"({self.input_signature})"
            )

    def _maybe_define_function(self, args, kwargs):
        """(the ConcreteFunction for these arguments, the arguments in their places).

        Raises TypeError for arguments that no key can be made of.
        """
        spec = self._function_spec
        if args is not None or kwargs is not None:
            args, kwargs = spec.canonicalize_function_inputs(*(args or ()), **(kwargs or {}))
        context = trace_context()
        try:
            key = (self._key(args, kwargs), context)
            hash(key)
        except TypeError as error:
            raise TypeError(
                f"Arguments supplied to `defun`-generated functions must be hashable.  Original error: {error}"
            ) from None
        with self._lock:
            found = self._traces.get(key)
            if found is None:
                if self._relaxes_shapes and self.input_signature is None and context in self._missed:
                    return self._with_relaxed_shapes(args, kwargs, context), args, kwargs
                self._missed.add(context)
                made = self._trace(args, kwargs)
                found = self._traces.setdefault(key, made)
        return found, args, kwargs

    def _key(self, args, kwargs, ranks_only=False):
        if self.input_signature is not None:
            return None
        return key_of((args, kwargs) if kwargs else args, ranks_only)

    def _with_relaxed_shapes(self, args, kwargs, context):
        """The trace for all arguments of the ranks of these, with the sizes that all so far had."""
        key = self._key(args, kwargs, ranks_only=True), context
        shapes = flat_shapes(args, kwargs)
        known, trace = self._relaxed.get(key, (shapes, None))
        common: list = [
            None if shape is None else known_shape.most_specific_compatible_shape(shape)
            for known_shape, shape in zip(known, shapes, strict=True)
        ]
        if trace is None or any(a is not None and a._dims != b._dims for a, b in zip(known, common, strict=True)):
            trace = self._trace(args, kwargs, common)
            self._relaxed[key] = common, trace
        return trace

    def _trace(self, args, kwargs, shapes=None):
        spec = self._function_spec
        count = len(args) if self.input_signature is None else len(self.input_signature)
        names = spec.arg_names[:count]
        names = names + [f"{spec.vararg_name}_{i}" for i in range(count - len(names))]
        graph = func_graph_from_py_func(
            self._name, self._python_function, args, kwargs, self.input_signature, autograph=self._autograph,
            autograph_options=self._autograph_options, arg_names=names, override_flat_arg_shapes=shapes,
            capture_by_value=self._capture_by_value,
        )  # fmt: skip
        return ConcreteFunction(graph, self._attributes)

    def _all_traces(self):
        return [*self._traces.values(), *(trace for _, trace in self._relaxed.values())]


@by_outermost_mode
def trace_context():
    """Where functions are traced anew: in another graph."""
    return weakref.ref(outermost_graph()), tuple(str(scope.op) for scope in get_default_graph()._colocation_stack)


@eager_version_of(trace_context)
def eager_trace_context():
    """Traces are good for all of what is executed."""


def _distinct_names(concrete):
    """The names of the arguments as users gave them, numbered where they repeat."""
    captured = set(concrete.graph.internal_captures)
    names: list = []
    counts: dict = {}
    for tensor in concrete.inputs:
        if tensor in captured:
            break
        given = tensor.op._attrs.get("_user_specified_name", tensor.op._name.encode()).decode()
        name = given
        while name in names:
            number = counts.get(given, 1)
            name = f"{given}_{number}"
            counts[given] = number + 1
        names.append(name)
    return names


def is_same_structure(first, second):
    """Whether two structures have the same form."""
    try:
        nest.assert_same_structure(first, second, expand_composites=True)
    except (ValueError, TypeError):
        return False
    return True


def bound_weakly(python_function, instance):
    """The method of an object that a function of its class is, such that the object is free to go."""
    reference = weakref.ref(instance)
    _, inner = decorators.unwrap(python_function)

    def call(*args, **kwargs):
        owner = reference()
        if owner is None:
            raise ReferenceError(f"The object whose method {python_function} is has gone")
        return method._tf_decorator.decorated_target(owner, *args, **kwargs)

    method: Any = call
    spec = FunctionSpec.from_function_and_signature(types.MethodType(inner, instance), None).fullargspec
    return decorators.make_decorator(python_function, method, "bound", decorator_argspec=spec._replace(
        args=spec.args[1:]))  # fmt: skip


@public("contrib.eager.defun", "python.eager.function.defun")
def defun(
    func=None, input_signature=None, autograph=True, experimental_autograph_options=None,
    experimental_relax_shapes=False,
):  # fmt: skip
    """Makes a function of tensors of a Python function, or returns a decorator that does.

    Other than tf.function it does not mind variables: each trace that makes them makes new ones.

    Args:
      func: the Python function.
      input_signature: a nested sequence of tf.TensorSpec; with it there is one trace.
      autograph: whether to convert Python's control flow on tensors.
      experimental_autograph_options: a tuple of tf.autograph.experimental.Feature.
      experimental_relax_shapes: whether arguments of other sizes get a trace for all sizes.

    Raises TypeError for a signature of other things than specifications.
    """
    return defun_with_attributes(
        func, input_signature, None, autograph, experimental_autograph_options, experimental_relax_shapes
    )


@public("python.eager.function.defun_with_attributes")
def defun_with_attributes(
    func=None, input_signature=None, attributes=None, autograph=True, experimental_autograph_options=None,
    experimental_relax_shapes=False,
):  # fmt: skip
    """See defun; `attributes` are attributes of the definitions, such as {"api_implements": "..."}."""
    if input_signature is not None:
        validate_signature(input_signature)

    def decorated(function):
        name = getattr(function, "__name__", "function")
        made = Function(
            function, name, input_signature, attributes, autograph, experimental_autograph_options,
            experimental_relax_shapes,
        )  # fmt: skip
        return decorators.make_decorator(function, made, "defun")

    return decorated if func is None else decorated(func)


@public("python.eager.function.register")
def register(func, *args, **kwargs):
    """Makes a trace of a function known in the default graph, with its gradient; returns the ConcreteFunction.

    Raises ValueError for what `defun` has not made.
    """
    if not isinstance(func, Function):
        raise ValueError(f"Only defun function is allowed to be registered. Got type: {type(func)}")
    concrete = func.get_concrete_function(*args, **kwargs)
    concrete.add_to_graph()
    concrete.add_gradient_functions_to_graph()
    return concrete
