"""tf.py_function: a Python function of tensors as a node of a graph, executed eagerly, with gradients."""

from __future__ import annotations

from stillflow import errors, ops
from stillflow.eager.gradient_tape import GradientTape
from stillflow.eager.modes import eager_mode
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.host import py_functions
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.resource_variable import ResourceVariable

_last_calls: dict = {}  # token -> (tape, arguments, results) of the last call, until its gradient has been asked for


class _EagerFunction:
    """A function that nodes call with arrays and that takes and returns tensors."""

    def __init__(self, function, input_types, output_types, is_gradient=False):
        self._function = function
        self._input_types = input_types
        self._output_types = output_types
        self._is_gradient = is_gradient
        self.token = None  # set when it has a node

    def _converted(self, value, dtype):
        if isinstance(value, ResourceVariable):
            raise RuntimeError(
                "Attempting to return a variable from an eagerly executed py_func. Only numeric data structures like "
                "Tensors or NumPy arrays should be returned; to return the value of a variable, make sure to obtain "
                f"the Tensor backing it by calling `.read_value()` on the variable in question: {value}"
            )
        if value is None and self._is_gradient:
            return ops.constant(0, dtype=dtype)
        return convert_to_tensor(value, dtype=dtype)

    def results(self, tensors):
        """What the function returns, as a list of tensors."""
        result = self._function(*tensors)
        if result is None:
            return []
        values = result if isinstance(result, (tuple, list)) else [result]
        return [self._converted(*pair) for pair in zip(values, self._output_types, strict=False)]

    def __call__(self, *arrays):
        with eager_mode(), GradientTape() as tape:
            tensors = [convert_to_tensor(*pair) for pair in zip(arrays, self._input_types, strict=True)]
            for tensor in tensors:
                if tensor.dtype.is_floating:
                    tape.watch(tensor)
            results = self.results(tensors)
        if not self._is_gradient:
            _last_calls[self.token] = tape, tensors, results
        return [result.numpy() for result in results]


def _node(function, tensors, types, name=None):
    function.token = py_functions.register(get_default_graph(), function)
    return ops.eager_py_func(tensors, token=function.token, Tout=types, name=name)


@public("py_function", "contrib.eager.py_func", "python.ops.script_ops.eager_py_func")
@by_mode
def py_function(func, inp, Tout, name=None):  # noqa: N803
    """A node that executes `func` eagerly with the values of `inp`, and has a gradient once.

    Args:
      func: takes as many tensors as there are in `inp`, and returns a tensor or a list of them, or None.
      inp: a list of tensors.
      Tout: the dtypes of what `func` returns: a list, or one dtype for one value.
      name: the name of the node.

    Returns:
      A tensor of unknown shape, or a list of them if `Tout` is a list; the operation if that is empty.

    Raises:
      ValueError: if `func` cannot be called.
      At run time the errors are those of tf.py_func.
    """
    _check(func)
    is_list = isinstance(Tout, (list, tuple))
    types = [dtypes.as_dtype(dtype) for dtype in (Tout if is_list else [Tout])]
    tensors = [convert_to_tensor(value) for value in inp]
    results = _node(
        _EagerFunction(func, [tensor.dtype.base_dtype for tensor in tensors], types), tensors, types, name
    )
    return results if is_list else results[0]


def _check(func):
    if not callable(func):
        raise ValueError(f"Expected func to be callable, got func of type {type(func)}")


@eager_version_of(py_function)
def call(func, inp, Tout, name=None):  # noqa: N803
    """What `func` returns for the tensors, as tensors; tapes see what it does."""
    _check(func)
    is_list = isinstance(Tout, (list, tuple))
    types = [dtypes.as_dtype(dtype) for dtype in (Tout if is_list else [Tout])]
    tensors = [convert_to_tensor(value) for value in inp]
    try:
        results = _EagerFunction(func, [tensor.dtype for tensor in tensors], types).results(tensors)
    except errors.OpError:
        raise
    except Exception as error:
        raise errors.make(*py_functions.code_and_message(error)) from error
    return results if is_list else results[0]


@ops.eager_py_func.gradient
def _(op, *gradients):
    token = op._attrs["token"]
    token = token.decode() if isinstance(token, bytes) else token

    def differentiate(*gradients):
        tape, arguments, results = _last_calls.pop(token)
        return tape.gradient(results, arguments, output_gradients=list(gradients))

    types = [tensor.dtype.base_dtype for tensor in op._inputs]
    given = [gradient.dtype for gradient in gradients]
    with get_default_graph().control_dependencies(op._outputs):
        return _node(_EagerFunction(differentiate, given, types, is_gradient=True), list(gradients), types)
