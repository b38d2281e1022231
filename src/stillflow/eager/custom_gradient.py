"""tf.custom_gradient in eager execution."""

from __future__ import annotations

from stillflow import ops
from stillflow.autodiff.custom_gradient import call_with_gradient, takes_variables
from stillflow.eager.gradient_tape import GradientTape
from stillflow.eager.operation import ExecutedOperation
from stillflow.graph import nest, recording
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import eager_version_of
from stillflow.graph.op_def import OpDef
from stillflow.ops.convert import convert_to_tensor


@eager_version_of(call_with_gradient)
def call(f, args, kwargs):
    """What f(*args, **kwargs) returns first; tapes use the gradient function that it returns second.

    Raises:
      TypeError: if `f` uses variables and its gradient function does not take them.
      ValueError: when gradients are asked for, if there are more or fewer than arguments and variables.
    """
    with GradientTape() as tape:
        result, gradient = f(*args, **kwargs)
    given = [*args, *kwargs.values()]
    variables = [v for v in tape.watched_variables() if all(v is not value for value in given)]
    if variables and not takes_variables(gradient):
        raise TypeError(
            "If using @custom_gradient with a function that uses variables, then grad_fn must accept a keyword "
            "argument 'variables'."
        )
    inputs = [convert_to_tensor(value) for value in [*args, *variables]]
    with recording.paused():
        results = [ops.identity(value) for value in nest.flatten(result)]

    def differentiate(op, *gradients):
        if not variables:
            return _checked(gradient(*gradients), len(args))
        of_arguments, of_variables = gradient(*gradients, variables=variables)
        if len(of_variables) != len(variables):
            raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
        return _checked(of_arguments, len(args)) + list(of_variables)

    graph = get_default_graph()
    name = getattr(f, "__name__", "custom_gradient")
    recording.record(
        ExecutedOperation(graph, OpDef(name, (), (), {}), name, inputs, {}, results, differentiate=differentiate)
    )
    return nest.pack_sequence_as(result, results)


def _checked(gradients, count):
    found = nest.flatten(gradients)
    if len(found) != count:
        raise ValueError(
            f"custom_gradient function expected to return {count} gradients but returned {len(found)} instead."
        )
    return found
