"""tf.hessians and products with a Hessian: second derivatives."""

from __future__ import annotations

from stillflow import ops
from stillflow.autodiff.reverse import gradients
from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.ops.control_flow.while_loop import while_loop


@public("hessians")
def hessians(
    ys, xs, name="hessians", colocate_gradients_with_ops=False, gate_gradients=False, aggregation_method=None
):
    """The second derivatives of the sum of `ys` with respect to each of `xs`.

    Args:
      ys: a tensor or a list of tensors.
      xs: a tensor or variable, or a list of them.
      name: not used.
      colocate_gradients_with_ops, gate_gradients, aggregation_method: as for gradients.

    Returns:
      A list with a tensor of shape x.shape + x.shape for each of `xs`.

    Raises:
      LookupError: if an op on the way has no gradient.
      ValueError: if `ys` does not depend on an x, or its gradient does not.
    """
    xs = list(xs) if isinstance(xs, (list, tuple)) else [xs]
    firsts = gradients(
        ys, xs, colocate_gradients_with_ops=colocate_gradients_with_ops, gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
    )  # fmt: skip
    return [_second(gradient, x) for gradient, x in zip(firsts, xs, strict=True)]


def _second(gradient, x):
    gradient = ops.reshape(gradient, [-1])
    count = ops.size(x)
    variables = [ops.constant(0, dtypes.int32), TensorArray(x.dtype, count)]

    def add_row(j, rows):
        following = j + 1
        (row,) = gradients(gradient[j], x)
        return following, rows.write(j, ops.zeros_like(x) if row is None else row)

    _, rows = while_loop(lambda j, _: j < count, add_row, variables)
    shape = ops.shape(x)
    return ops.reshape(rows.stack(), ops.concat((shape, shape), 0))


@public("python.ops.gradients_impl._hessian_vector_product")
def hessian_vector_product(ys, xs, v):
    """The products of the Hessian of the sum of `ys` by `xs` with `v`, without the Hessian.

    Args:
      ys: a tensor or a list of tensors.
      xs: a list of tensors or variables.
      v: a list of tensors of their shapes. No gradient goes into them.

    Returns:
      A list of a tensor, or None, for each of `xs`.

    Raises:
      ValueError: `xs` and `v` have different lengths.
    """
    if len(v) != len(xs):
        raise ValueError("xs and v must have the same length.")
    firsts = gradients(ys, xs)
    products = [
        ops.mul(first, ops.stop_gradient(factor))
        for first, factor in zip(firsts, v, strict=True)
        if first is not None
    ]
    return gradients(products, xs)
