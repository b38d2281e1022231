"""Ragged tensors as what metrics are computed of: their values, once it is sure that their rows are as long."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.contexts import control_dependencies
from stillflow.names import public
from stillflow.ragged.elementwise import assert_splits_match
from stillflow.ragged.tensor import RaggedTensor


@public("python.keras.utils.metrics_utils.ragged_assert_compatible_and_get_flat_values")
def flat_values(values, mask=None):
    """The values of ragged tensors and of a mask, as columns; tensors that are not ragged are returned as they are.

    Args:
      values: a list of tensors, or one.
      mask: weights, or None; ragged where the values are.

    Returns:
      (values, mask)

    Raises:
      TypeError: if only some are ragged.
      ValueError: if they are ragged in other dimensions. That rows are as long is checked when they are computed.
    """
    listed = values if isinstance(values, list) else [values]
    are_ragged = [isinstance(each, RaggedTensor) for each in listed]
    if not any(are_ragged):
        if isinstance(mask, RaggedTensor):
            raise TypeError("Ragged mask is not allowed with non-ragged inputs.")
        return values, mask
    if not all(are_ragged) or not (mask is None or isinstance(mask, RaggedTensor)):
        raise TypeError("One of the inputs does not have acceptable types.")
    splits = [each.nested_row_splits for each in listed]
    checks = assert_splits_match(splits)
    if mask is not None:
        mask = _column(mask, assert_splits_match([splits[0], mask.nested_row_splits]))
    columns = [_column(each, checks) for each in listed]
    return columns if isinstance(values, list) else columns[0], mask


def _column(ragged, checks):
    with control_dependencies([check for check in checks if check is not None]):
        return ops.expand_dims(ops.identity(ragged.flat_values), -1)
