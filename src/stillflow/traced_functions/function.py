"""tf.function: Python functions as functions of tensors, which make their variables once."""

from __future__ import annotations

import weakref
from typing import Any

from stillflow.graph import nest
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import init_scope, name_scope
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.platform import decorators
from stillflow.traced_functions import polymorphic
from stillflow.traced_functions.binding import FunctionSpec, validate_signature
from stillflow.traced_functions.lifting import UnliftableError, lift
from stillflow.tracking.base import TracedFunction
from stillflow.variables.creators import variable_creator_scope


class _Mode:
    runs_eagerly = False


_mode = _Mode()


@public("config.experimental_run_functions_eagerly", "python.eager.def_function.run_functions_eagerly")
def run_functions_eagerly(run_eagerly):
    """Says whether tf.function calls Python functions as they are, for debugging."""
    _mode.runs_eagerly = bool(run_eagerly)


def runs_eagerly():
    """Whether tf.function calls Python functions as they are."""
    return _mode.runs_eagerly


@public("python.eager.def_function.Function")
class Function(TracedFunction):
    """What tf.function makes of a Python function.

    It is traced when it is first called. If it makes variables then, it is traced again, and may make no others. See
    tf.function for the arguments.
    """

    def __init__(
        self, python_function, name, input_signature=None, autograph=True, experimental_autograph_options=None,
        experimental_relax_shapes=False, experimental_compile=None,
    ):  # fmt: skip
        self._python_function = python_function
        self._function_spec = FunctionSpec.from_function_and_signature(python_function, input_signature)
        self._name = name
        self._autograph = autograph
        self._experimental_autograph_options = experimental_autograph_options
        self.experimental_relax_shapes = experimental_relax_shapes
        self._experimental_compile = experimental_compile
        self._created_variables: list = []
        self._stateful_fn: Any = None  # which may make variables
        self._stateless_fn: Any = None
        self._of_instances: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()

    @property
    def python_function(self):
        """The Python function."""
        return self._python_function

    @property
    def input_signature(self):
        """The specifications of the arguments, or None."""
        return self._function_spec.input_signature

    @property
    def function_spec(self):
        return self._function_spec

    def __call__(self, *args, **kwds):
        """What the Python function returns.

        Raises ValueError if it makes variables in any but its first call.
        """
        if _mode.runs_eagerly:
            return self._python_function(*args, **kwds)
        if self._created_variables:
            return self._stateless_fn(*args, **kwds)
        if self._stateful_fn is not None:
            results = self._stateful_fn(*args, **kwds)
            if self._created_variables:
                raise ValueError(_NOT_FIRST_CALL)
            return results
        if self.input_signature is not None:  # by which values become tensors
            args, kwds = self._function_spec.canonicalize_function_inputs(*args, **kwds)
        concrete = self._initialize(args, kwds)
        if self._created_variables:
            return self._stateless_fn(*args, **kwds)
        args, kwds = self._function_spec.canonicalize_function_inputs(*args, **kwds)
        return concrete._filtered_call(args, kwds)

    def _initialize(self, args, kwds):
        """Traces the function for the first time, and gives the variables that it makes their values."""
        values = [leaf for leaf in nest.flatten((args, kwds), True) if isinstance(leaf, Tensor)]
        creator = _Creator(values)
        self._created_variables = creator.created
        self._stateful_fn = self._traced(creator)
        self._stateless_fn = self._traced(_refuse)
        try:
            return self._stateful_fn._get_concrete_function_internal(*args, **kwds)
        except BaseException:
            self._stateful_fn = self._stateless_fn = None
            self._created_variables = []
            raise

    def _traced(self, creator):
        """The function, with a say of `creator` in how it makes variables."""

        def call(*args, **kwds):
            with variable_creator_scope(creator):
                return in_scope._tf_decorator.decorated_target(*args, **kwds)

        in_scope: Any = call
        compiled = self._experimental_compile
        return polymorphic.Function(
            decorators.make_decorator(self._python_function, in_scope, "function"), self._name, self.input_signature,
            None if compiled is None else {"_XlaCompile": bool(compiled)}, self._autograph,
            self._experimental_autograph_options, self.experimental_relax_shapes,
        )  # fmt: skip

    def _decorate(self, decorator):
        """Puts a decorator around the Python function. Raises ValueError if it has been traced."""
        if self._stateful_fn is not None:
            raise ValueError("Functions cannot be decorated after they have been traced.")
        self._python_function = decorator(self._python_function)
        self._function_spec = FunctionSpec.from_function_and_signature(self._python_function, self.input_signature)

    def get_concrete_function(self, *args, **kwargs):
        """The polymorphic.ConcreteFunction for such arguments, of which tf.TensorSpec objects stand for tensors.

        Raises ValueError for specifications that do not fit the signature, and for new variables.
        """
        if self._stateful_fn is None:
            self._initialize(args, kwargs)
        if self._created_variables:
            return self._stateless_fn.get_concrete_function(*args, **kwargs)
        concrete = self._stateful_fn.get_concrete_function(*args, **kwargs)
        if self._created_variables:
            raise ValueError(_NOT_FIRST_CALL)
        return concrete

    def get_initialization_function(self, *args, **kwargs):
        """A ConcreteFunction that gives the variables of the function their initial values again.

        Raises RuntimeError if the function has been used.
        """
        if self._stateful_fn is not None:
            raise RuntimeError("get_initialization_function cannot be called after the function has been used")
        self._initialize(args, kwargs)
        created = [(reference(), value) for reference, value in zip(
            self._created_variables, _initial_values(self._created_variables), strict=True)]  # fmt: skip

        def initialize_variables():
            for variable, value in created:
                variable.assign(value)

        return polymorphic.defun(initialize_variables, autograph=False).get_concrete_function()

    def _list_all_concrete_functions_for_serialization(self):
        """The traces that a SavedModel keeps: those of calls with nothing but tensors and plain values."""
        from stillflow.traced_functions.arguments import UnknownArgument

        if self.input_signature is not None:
            self.get_concrete_function()
        traces: list = []
        for function in (self._stateful_fn, self._stateless_fn):
            traces += [] if function is None else function._all_traces()
        signatures: list = []
        for trace in traces:
            signature = trace.structured_input_signature
            unknown = any(isinstance(leaf, UnknownArgument) for leaf in nest.flatten(signature))
            if not unknown and signature not in signatures:
                signatures.append(signature)
        return [self.get_concrete_function(*args, **kwargs) for args, kwargs in signatures]

    def __get__(self, instance, owner):
        """The function of an object, where this one is an attribute of its class."""
        if instance is None:
            return self
        if instance not in self._of_instances:
            bound = polymorphic.bound_weakly(self._python_function, instance)
            made = type(self)(
                bound, self._name, self.input_signature, self._autograph, self._experimental_autograph_options,
                self.experimental_relax_shapes, self._experimental_compile,
            )  # fmt: skip
            self._of_instances[instance] = decorators.make_decorator(self._python_function, made, "function")
        return self._of_instances[instance]


_NOT_FIRST_CALL = "Creating variables on a non-first call to a function decorated with tf.function."


def _refuse(next_creator, **options):
    raise ValueError("tf.function-decorated function tried to create variables on non-first call.")


class _Creator:
    """Makes variables outside of the function that asks for them, with initial values that it computes."""

    def __init__(self, values):
        self.created: list = []  # weak references
        self._values = values  # of the tensors among the arguments of the call

    def __call__(self, next_creator, **options):
        graph = get_default_graph()
        initial_value = options["initial_value"]
        if not graph.building_function or initial_value is None:
            variable = next_creator(**options)
        else:
            is_function = callable(initial_value)
            given = [] if is_function else [initial_value]
            with name_scope(options.get("name"), "Variable", given) as scope, name_scope("Initializer"):
                value = initial_value() if is_function else initial_value
                value = convert_to_tensor(value, options.get("dtype"), "initial_value")
            with init_scope():
                options["initial_value"] = self._lifted(value, graph) if value.graph is graph else value
                options["name"] = scope[:-1].rsplit("/", 1)[-1]
                if options.get("shape") is None and not value.shape.is_fully_defined():
                    options["shape"] = value.shape  # later values may have another one
                variable = next_creator(**options)
            variable._value_in_function = value
        self.created.append(weakref.ref(variable))
        return variable

    def _lifted(self, value, graph):
        try:
            return lift(value)
        except UnliftableError:
            arguments = [tensor for tensor in graph.get_operations() if "_user_specified_name" in tensor._attrs]
            if any(value._value is None for value in self._values):
                raise
            return lift(value, dict(zip([op.outputs[0] for op in arguments], self._values, strict=False)))


def _initial_values(references):
    return [reference()._value_in_function for reference in references]


@public("function", "contrib.eager.function", "python.eager.def_function.function")
def function(
    func=None, input_signature=None, autograph=True, experimental_autograph_options=None,
    experimental_relax_shapes=False, experimental_compile=None,
):  # fmt: skip
    """Makes a function of tensors of a Python function, or returns a decorator that does.

    The Python function is called once for each kind of arguments: types and shapes of tensors, and values of other
    things. What it adds is a function of the graph; calls are nodes, or run it where operations are executed eagerly.
    What has effects runs in program order.

        @tf.function
        def squares(x):
            return x * x

    Args:
      func: the Python function.
      input_signature: a nested sequence of tf.TensorSpec; with it there is one trace, for all calls.
      autograph: whether to convert Python's control flow on tensors; see tf.autograph.
      experimental_autograph_options: a tuple of tf.autograph.experimental.Feature.
      experimental_relax_shapes: whether arguments of other sizes get a trace for all sizes.
      experimental_compile: noted in the function's attributes, for TensorFlow.

    Raises TypeError for a signature of other things than specifications.
    """
    if input_signature is not None:
        validate_signature(input_signature)

    def decorated(inner):
        name = getattr(inner, "__name__", "function")
        made = Function(
            inner, name, input_signature, autograph, experimental_autograph_options, experimental_relax_shapes,
            experimental_compile,
        )  # fmt: skip
        return decorators.make_decorator(inner, made, "tf.function")

    return decorated if func is None else decorated(func)
