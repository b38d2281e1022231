"""Gradients and hessians of losses of examples."""

from __future__ import annotations

from stillflow import ops
from stillflow.autodiff.reverse import gradients as gradients_of


def gradients_by(tensor, predictions, name):
    """The derivatives of a tensor's sum."""
    return gradients_of(tensor, predictions, name=name, colocate_gradients_with_ops=False, gate_gradients=0)[0]


def _hessian_rows(gradients, predictions, size):
    """For each logit the derivatives of its gradient, [n, size]."""
    for row, column in enumerate(ops.unstack(gradients, num=size, axis=1)):
        yield gradients_by(column, predictions, f"Hessian_{row}")


def full_hessian(gradients, predictions, size):
    """[n, size, size], the rows of the matrix of each example."""
    return ops.stack(list(_hessian_rows(gradients, predictions, size)), axis=1)


def diagonal_hessian(gradients, predictions, size):
    """[n, size], the diagonal of the matrix of each example."""
    rows = _hessian_rows(gradients, predictions, size)
    return ops.stack([ops.transpose(row)[i] for i, row in enumerate(rows)], axis=1)


def column_at(tensor, index):
    """The column of a matrix that an int32 scalar says, as a vector."""
    shape = ops.shape(tensor)
    flat = ops.reshape(tensor, [-1])
    starts = ops.reshape(ops.range(0, shape[0]) * shape[1], [-1, 1])
    places = ops.reshape(starts + index, [-1])
    return ops.squeeze(ops.reshape(ops.gather(flat, places), [shape[0], -1]))
