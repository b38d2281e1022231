"""tf.hessians: second derivatives."""

from __future__ import annotations

from stillflow import ops
from stillflow.gradients import UnconnectedGradients, _as_list, gradients
from stillflow.ops.convert import convert_n_to_tensor_or_indexed_slices


def hessians(
    ys, xs, name="hessians", colocate_gradients_with_ops=False, gate_gradients=False, aggregation_method=None
):
    """The second derivatives of the sum of `ys` with respect to each of `xs`.

    Args:
      ys: a tensor or a list of tensors.
      xs: a tensor or variable of known shape, or a list of them.
      name: not used.
      colocate_gradients_with_ops, gate_gradients, aggregation_method: as for gradients.

    Returns:
      A list with a tensor of shape x.shape + x.shape for each of `xs`.

    Raises:
      LookupError: if an op on the way has no gradient.
      ValueError: if `ys` does not depend on an x, or the shape of an x is not known.
    """
    options = {
        "colocate_gradients_with_ops": colocate_gradients_with_ops,
        "gate_gradients": gate_gradients,
        "aggregation_method": aggregation_method,
    }
    xs = convert_n_to_tensor_or_indexed_slices(_as_list(xs), name="x", as_ref=True)
    found = []
    for x, gradient in zip(xs, gradients(ys, xs, **options), strict=True):
        count = x.shape.num_elements()
        if count is None:
            raise ValueError(f"The shape of {x} must be known for its second derivatives")
        flat = ops.reshape(gradient, [-1])
        rows = [
            gradients(flat[i], x, unconnected_gradients=UnconnectedGradients.ZERO, **options)[0] for i in range(count)
        ]
        shape = x.shape.as_list() * 2
        found.append(ops.reshape(ops.stack(rows), shape) if rows else ops.zeros(shape, x.dtype.base_dtype))
    return found
