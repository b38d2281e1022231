"""Checkpoints where operations run when they are called: without a session, and without nodes that are kept."""

from __future__ import annotations

from stillflow.ops.convert import convert_to_tensor
from stillflow.saver import saveable as saveables


def write(builder, variables, prefix):
    """Writes a checkpoint of variables, given as a list or as {name: variable}. Raises tf.errors.OpError."""
    builder.save_op(convert_to_tensor(prefix), saveables.saveables(variables))


def read(builder, variables, prefix, reshape=False):
    """Gives variables the values that a checkpoint has for them; none changes if one does not fit.

    Raises:
      ValueError: for a value of another shape, unless it is to be reshaped.
      tf.errors.OpError: if the checkpoint lacks a value or is damaged, and for types and numbers of elements that do
        not fit.
    """
    objects = saveables.saveables(variables)
    tensors = builder.bulk_restore(convert_to_tensor(prefix), objects, -1, False)
    assign(objects, tensors, reshape)


def assign(objects, tensors, reshape=False):
    """Gives SaveableObjects the values that have been read for them, in order; see `read`."""
    remaining = iter(tensors)
    changes = []
    for saveable in objects:
        values = [next(remaining) for _ in saveable.specs]
        shapes = [spec.tensor.shape for spec in saveable.specs] if reshape else None
        if isinstance(saveable, saveables.ResourceSaveable):
            saveable.fitting(values, shapes)
        changes.append((saveable, values, shapes))
    for saveable, values, shapes in changes:
        saveable.restore(values, shapes)
