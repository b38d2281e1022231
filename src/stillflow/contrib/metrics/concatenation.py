"""Values kept over the batches of an evaluation, and the exact area under a curve that is computed from them."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.checks import assert_comparison
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.metrics.state import collect, metric_variable
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.dependencies import group
from stillflow.variables.assignments import assign
from stillflow.variables.scope import variable_scope

_GROWTH = 1.5


@public("contrib.metrics.streaming_concat")
def streaming_concat(values, axis=0, max_size=None, metrics_collections=None, updates_collections=None, name=None):
    """All values so far, concatenated; and an operation that appends to them.

    Args:
      values: a tensor of a known rank, with known sizes but along `axis`.
      axis: the dimension along which they are concatenated.
      max_size: how many to keep; None for all.
      metrics_collections, updates_collections: collections to add the first and the second result to.
      name: of the variable scope.

    Raises:
      ValueError: for values of unknown shape, or another axis.
    """
    with variable_scope(name, "streaming_concat", (values,)):
        axis, fixed = _checked(values.get_shape(), axis)
        rank = len(fixed) + 1
        shape = [0 if max_size is None else max_size, *fixed]
        array = metric_variable(shape, values.dtype, validate_shape=False, name="array")
        size = metric_variable([], dtypes.int32, name="size")
        valid = array[:size]
        valid.set_shape([None, *fixed])
        order = [0 if i == axis else i + 1 if i < axis else i for i in range(rank)]
        value = ops.transpose(valid, order, name="concat")
        batch_size = ops.shape(values)[axis]
        if max_size is not None:
            batch_size = ops.minimum(batch_size, max_size - size)
        batch = ops.transpose(values, [axis, *(i for i in range(rank) if i != axis)])[:batch_size]
        new_size = size + batch_size
        room = ops.shape_internal(array, optimize=False)[0]
        grown = cond(new_size > room, lambda: _grow(array, size, new_size, fixed, values.dtype), ops.no_op)
        with control_dependencies([grown]):
            appended = array[size:new_size].assign(batch)
        with control_dependencies([appended]):
            update = size.assign(new_size)
        return collect(value, metrics_collections), collect(update, updates_collections)


def _checked(shape, axis):
    """(the axis, counted from the first; the other sizes)."""
    if shape.dims is None:
        raise ValueError("`values` must have known statically known rank")
    rank = len(shape)
    if axis < 0:
        axis += rank
    if not 0 <= axis < rank:
        raise ValueError(f"axis = {axis!r} not in [0, {rank!r})")
    fixed = [size for i, size in enumerate(shape.as_list()) if i != axis]
    if any(size is None for size in fixed):
        raise ValueError(
            "all dimensions of `values` other than the dimension to concatenate along must have statically known size"
        )
    return axis, fixed


def _grow(array, size, new_size, fixed, dtype):
    """Makes the variable larger, by powers of 1.5."""
    steps = ops.ceil(ops.log(ops.cast(new_size, dtypes.float32)) / ops.log(ops.cast(_GROWTH, dtypes.float32)))
    next_size = ops.cast(ops.ceil(_GROWTH**steps), dtypes.int32)
    new_value = ops.zeros(ops.stack([next_size, *fixed]), dtype=dtype)
    old_value = array.value()
    with control_dependencies([old_value]):
        made = assign(array, new_value, validate_shape=False)
    with control_dependencies([made]):
        copied = array[:size].assign(old_value[:size])
    with control_dependencies([copied]):
        return ops.no_op()


@public("contrib.metrics.streaming_dynamic_auc")
def streaming_dynamic_auc(
    labels, predictions, curve="ROC", metrics_collections=(), updates_collections=(), name=None, weights=None
):
    """The area under a curve, exactly, from all predictions, which are kept; and an update.

    Args:
      labels: 0 or 1.
      predictions: scores, of the same shape.
      curve: "ROC" for true positives over false ones, "PR" for precision over recall.
      metrics_collections, updates_collections: collections to add the first and the second result to.
      name: of the variable scope.
      weights: a tensor of the same shape; 1 by default.

    Raises:
      ValueError: for another curve, or shapes that do not fit.
      At run time: tf.errors.InvalidArgumentError for other labels.
    """
    if curve not in ("PR", "ROC"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    with variable_scope(name, default_name="dynamic_auc"):
        labels.get_shape().assert_is_compatible_with(predictions.get_shape())
        predictions = ops.reshape(ops.cast(predictions, dtypes.float64), [-1])
        labels = ops.reshape(ops.cast(labels, dtypes.int64), [-1])
        with control_dependencies(checks_of_labels(labels)):
            all_predictions, add_predictions = streaming_concat(predictions, name="concat_preds")
            all_labels, add_labels = streaming_concat(labels, name="concat_labels")
            all_weights, added = None, [add_labels, add_predictions]
            if weights is not None:
                weights = ops.reshape(ops.cast(weights, dtypes.float64), [-1])
                all_weights, add_weights = streaming_concat(weights, name="concat_weights")
                added.append(add_weights)
            update = group(*added)
            area = _area(all_labels, all_predictions, curve, all_weights)
            collect(update, updates_collections)
            return collect(area, metrics_collections), update


def checks_of_labels(labels):
    """Assertions that all labels are 0 or 1."""
    return [
        assert_comparison("assert_greater_equal", labels, ops.zeros_like(labels, dtypes.int64),
                          message="labels must be 0 or 1, at least one is <0"),
        assert_comparison("assert_less_equal", labels, ops.ones_like(labels, dtypes.int64),
                          message="labels must be 0 or 1, at least one is >1"),
    ]  # fmt: skip


def _area(labels, predictions, curve, weights):
    count = ops.size(predictions)
    if weights is None:
        weights = ops.ones_like(labels, dtype=dtypes.float64)
    total = ops.reduce_sum(weights)
    are_positive = ops.greater(labels, 0)
    positive = ops.reduce_sum(ops.where(are_positive, weights, ops.zeros_like(labels, dtype=dtypes.float64)))

    def summed(values, at):
        return ops.gather(ops.pad(ops.cumsum(values), paddings=[[1, 0]]), at)

    def area():
        ordered, indices = ops.top_k(predictions, k=count)
        ordered_labels, ordered_weights = ops.gather(labels, indices), ops.gather(weights, indices)
        counts = ops.unique_with_counts(ordered)[2]
        splits = ops.cast(ops.pad(ops.cumsum(counts), paddings=[[1, 0]]), dtypes.int32)

        def of(are_wanted):
            return summed(
                ops.where(are_wanted, ordered_weights, ops.zeros_like(ordered_labels, dtype=dtypes.float64)), splits
            )

        true = of(ops.greater(ordered_labels, 0))
        if curve == "ROC":
            false = of(ops.less(ordered_labels, 1))
            negative = total - positive
            x, y = ops.truediv(false, negative), ops.truediv(true, positive)
        else:
            x = ops.truediv(true, positive)
            predicted = summed(ordered_weights, splits)
            is_any = ops.greater(splits, 0)
            y = ops.where(is_any, ops.truediv(true, predicted), ops.ones_like(true, dtype=dtypes.float64))
        heights = ops.add(y[1:], y[:-1]) / 2.0
        return ops.reduce_sum(ops.mul(heights, ops.abs(ops.sub(x[1:], x[:-1]))))

    is_trivial = ops.logical_or(ops.equal(positive, 0), ops.equal(positive, total))
    return cond(is_trivial, lambda: ops.constant(0, dtypes.float64), area)
