"""tf.test.compute_gradient and compute_gradient_error: symbolic against numeric gradients."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.autodiff.reverse import gradients
from stillflow.graph import dtypes, scopes
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.names import public

_TYPES = (
    dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128,
)  # fmt: skip


@public("test.compute_gradient")
def compute_gradient(
    x, x_shape, y, y_shape, x_init_value=None, delta=1e-3, init_targets=None, extra_feed_dict=None
):  # fmt: skip
    """The Jacobian dy/dx by the graph's gradients, and by central differences, in the default session.

    Args:
      x: a tensor, or a list of tensors.
      x_shape: its shape, or the list of the shapes.
      y: a tensor that depends on `x`.
      y_shape: its shape.
      x_init_value: an array, or a list of them: where to take the derivative; by default at random.
      delta: how far to move an element of `x` for the differences.
      init_targets: operations to run before.
      extra_feed_dict: values of other tensors.

    Returns:
      Two matrices with a row for each element of `x` and a column for each of `y`; of complex numbers, the real and
      the imaginary parts have their own. For a list of tensors a list of such pairs.

    Raises:
      AssertionError: for types without derivatives, and values that do not have the shape.
      ValueError: if there are no elements of `y` and still a gradient.
    """
    if init_targets is not None:
        assert isinstance(init_targets, (list, tuple))
    if isinstance(x, list):
        pairs = [_add_gradient(item, y, y_shape) for item in x]
        _run_all(init_targets)
        values = [None] * len(x) if x_init_value is None else x_init_value
        return [
            _jacobians(item, shape, dx, y, y_shape, dy, value, delta, extra_feed_dict or {})
            for item, shape, (dx, dy), value in zip(x, x_shape, pairs, values, strict=True)
        ]
    _run_all(init_targets)
    dx, dy = _add_gradient(x, y, y_shape)
    return _jacobians(x, x_shape, dx, y, y_shape, dy, x_init_value, delta, extra_feed_dict or {})


@public("test.compute_gradient_error")
def compute_gradient_error(
    x, x_shape, y, y_shape, x_init_value=None, delta=1e-3, init_targets=None, extra_feed_dict=None
):  # fmt: skip
    """The largest difference between the two Jacobians of compute_gradient, which has the same arguments."""
    found = compute_gradient(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict)
    error = 0
    for by_graph, by_differences in [found] if isinstance(found, tuple) else found:
        if by_graph.size or by_differences.size:
            error = np.maximum(error, np.fabs(by_graph - by_differences).max())
    return error


def _run_all(init_targets):
    for target in init_targets or ():
        target.run()


def _add_gradient(x, y, y_shape):
    """Adds the gradient of `y` by `x`; returns it, and the tensor to feed with that of `y`."""
    with x.graph.as_default():
        dy = ops.constant(1.0, shape=y_shape, dtype=y.dtype)
        # Where the gradient hands on what it is given, something must lie between what is fed and what is fetched.
        identity = ops.identity(dy)
    (dx,) = gradients(y, x, identity)
    return dx, dy


def _jacobians(x, x_shape, dx, y, y_shape, dy, x_data, delta, feeds):
    for name, tensor in (("x", x), ("y", y)):
        assert tensor.dtype.base_dtype in _TYPES, f"Don't support type {tensor.dtype.name} for {name}"
    if x_data is None:
        x_data = np.random.random_sample(x_shape).astype(x.dtype.as_numpy_dtype)
        if x.dtype.is_complex:
            x_data.imag = np.random.random_sample(x_shape)
    else:
        assert list(x_shape) == list(x_data.shape), f"x_shape = {x_shape}, init_data shape = {list(x_data.shape)}"
    by_graph = _jacobian_by_graph(x, x_data, dx, dy, y_shape, feeds)
    return by_graph, _jacobian_by_differences(x, x_data, y, y_shape, delta, feeds)


def _jacobian_by_graph(x, x_data, dx, dy, y_shape, feeds):
    """Runs the gradient once for each element of `y`."""
    session = scopes.get_default_session()
    dy_data = np.zeros(y_shape, dy.dtype.as_numpy_dtype)
    dy_parts = dy_data.reshape(-1).view(dy.dtype.real_dtype.as_numpy_dtype)
    x_parts = np.zeros_like(x_data, x.dtype.as_numpy_dtype).reshape(-1).view(x.dtype.real_dtype.as_numpy_dtype)
    jacobian = np.zeros((x_parts.size, dy_parts.size), x_parts.dtype)
    for column in range(dy_parts.size):
        dy_parts[column] = 1
        jacobian[:, column] = _dense(session, dx, x_data, {**feeds, x: x_data, dy: dy_data}).view(x_parts.dtype)
        dy_parts[column] = 0
    if not dy_parts.size:
        gradient = session.run(dx, {**feeds, x: x_data, dy: dy_data})
        if gradient.shape != x_data.shape:
            raise ValueError(f"Empty gradient has wrong shape: expected {x_data.shape}, got {gradient.shape}")
        if np.any(gradient):
            raise ValueError("Empty tensor with nonzero gradients")
    return jacobian


def _dense(session, dx, x_data, feeds):
    """The value of a gradient as a vector, also of one that has only some rows."""
    if not isinstance(dx, IndexedSlices):
        return session.run(dx, feeds).reshape(-1)
    indices, values = session.run([dx.indices, dx.values], feeds)
    dense = np.zeros(x_data.shape, values.dtype)
    np.add.at(dense, indices, values)
    return dense.reshape(-1)


def _jacobian_by_differences(x, x_data, y, y_shape, delta, feeds):
    """Moves each element of `x` a little up and down."""
    if x.dtype == dtypes.bfloat16:
        x = ops.cast(x, dtypes.float32)
        x_data = x_data.astype(np.float32)
    if y.dtype == dtypes.bfloat16:
        y = ops.cast(y, dtypes.float32)
    x_type, y_type = x.dtype.real_dtype.as_numpy_dtype, y.dtype.real_dtype.as_numpy_dtype
    x_data = np.ascontiguousarray(x_data, x.dtype.as_numpy_dtype).reshape(np.shape(x_data))
    width = np.asarray(2 * delta, y_type)[()]
    y_size = int(np.prod(y_shape)) * (2 if y.dtype.is_complex else 1)
    rows = []
    for row in range(x_data.size * (2 if x.dtype.is_complex else 1)):
        values = []
        for sign in (1, -1):
            moved = x_data.copy()
            moved.reshape(-1).view(x_type)[row] += sign * delta
            values.append(np.asarray(y.eval({**feeds, x: moved})))
        rows.append(((values[0] - values[1]) / width).reshape(-1).view(y_type))
    return np.array(rows, x_type).reshape(len(rows), y_size)
