"""recompute_grad of tf.contrib.layers: a function whose values are computed again for its gradients."""

from __future__ import annotations

import functools
import inspect

import numpy as np

from stillflow import ops
from stillflow.autodiff.custom_gradient import custom_gradient
from stillflow.autodiff.reverse import gradients
from stillflow.contrib.framework.argument_scopes import arg_scope, current_arg_scope
from stillflow.eager.gradient_tape import GradientTape
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import tuple_of
from stillflow.variables.scope import get_variable_scope, variable_scope
from stillflow.variables.variable import Variable

_OTHER_VARIABLES = """\
The variables used on recompute were different than the variables originally
used. The function wrapped with @recompute_grad likley creates its own variable
scope with a default name and has been called twice in the same enclosing scope.
To fix, ensure each call to the function happens in its own unique variable
scope.
"""


@public("contrib.layers.recompute_grad")
def recompute_grad(fn=None, use_data_dep=False, tupleize_grads=False):
    """Decorates a function of tensors to one or several, whose values are computed again for its gradients.

    Args:
      fn: the function. It uses resource variables, and no tensors but its arguments. If it has an argument
        `is_recomputing`, that is True when it is called for gradients.
      use_data_dep: whether this waits for the gradients by data, where others would ignore control dependencies.
      tupleize_grads: whether its gradients are available only when all of them are.

    Raises:
      ValueError: for a function that uses other tensors or variables by their names; when it is called, for what is
        no tensor; when gradients are made, if other variables are used then.
    """
    if fn is None:
        return functools.partial(recompute_grad, use_data_dep=use_data_dep, tupleize_grads=tupleize_grads)
    for name, value in inspect.getclosurevars(fn).nonlocals.items():
        if isinstance(value, (Tensor, Variable)):
            raise ValueError(
                f"fn decorated with @recompute_grad closes over Tensor {value.name} (local variable name: {name}). "
                "The decorated fn must not close over Tensors or Variables because gradients will NOT be computed "
                "for them through fn. To ensure correct gradients, make the Tensor an input to fn."
            )

    @functools.wraps(fn)
    def call(*args):
        if not all(isinstance(arg, Tensor) for arg in args):
            raise ValueError("All inputs to function must be Tensors")
        return _recomputed(fn, args, use_data_dep, tupleize_grads)

    return call


def _recomputed(fn, args, use_data_dep, tupleize_grads):
    tells = "is_recomputing" in inspect.getfullargspec(fn).args

    @custom_gradient
    def with_gradient(*args):
        scopes = get_variable_scope(), current_arg_scope()
        with GradientTape() as tape:
            outputs = fn(*args, **({"is_recomputing": False} if tells else {}))
        used = set(tape.watched_variables())

        def again(*inputs):
            with arg_scope(scopes[1]), variable_scope(scopes[0], reuse=True), GradientTape() as tape:
                outputs = fn(*inputs, **({"is_recomputing": True} if tells else {}))
            if set(tape.watched_variables()) != used:
                raise ValueError(_OTHER_VARIABLES)
            return list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]

        def gradient_of(output_grads, variables):
            if set(variables) != used:
                raise ValueError(_OTHER_VARIABLES)
            inputs = [ops.identity(arg) for arg in args]
            with control_dependencies([each for each in output_grads if each is not None]):
                inputs = _after(output_grads, inputs) if use_data_dep else inputs
                outputs = again(*inputs)
            found = gradients(outputs, [*inputs, *variables], list(output_grads))
            if tupleize_grads:
                found = _after(found, found) if use_data_dep else tuple_of(found)
            return found[: len(inputs)], found[len(inputs) :]

        if not used:
            return outputs, lambda *output_grads: gradient_of(output_grads, [])[0]
        return outputs, lambda *output_grads, variables: gradient_of(output_grads, variables)

    return with_gradient(*args)


def _after(first, second):
    """The tensors of `second`, which are available when all of `first` are: these are part of them as zeros."""
    total = ops.add_n([_first_element(each) for each in first if each is not None])
    if not total.dtype.is_floating:
        raise ValueError("_force_data_dependency only supports floating dtypes.")
    zero = ops.stop_gradient(np.finfo(total.dtype.as_numpy_dtype).tiny * total)
    return [each if each is None else ops.identity(each) + zero for each in second]


def _first_element(tensor):
    rank = tensor.shape.rank
    if rank is None:
        raise ValueError(f"Rank of Tensor {tensor} must be known")
    return ops.reshape(ops.slice(tensor, [0] * rank, [1] * rank), [])
