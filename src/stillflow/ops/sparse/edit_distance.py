"""EditDistance: the Levenshtein distance between sequences."""

from __future__ import annotations

from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op
from stillflow.ops.sparse_tensor import SparseTensor, SparseTensorValue, parts

edit_distance_op = define_op(
    "EditDistance(hypothesis_indices: int64, hypothesis_values: T, hypothesis_shape: int64, truth_indices: int64, "
    "truth_values: T, truth_shape: int64) -> (output: float32)",
    "normalize: bool = true; T: type",
    kernel="edit_distance(hypothesis_indices, hypothesis_values, hypothesis_shape, truth_indices, truth_values, "
    "truth_shape | normalize)",
    differentiable=False,
)


@edit_distance_op.shape_rule
def _(context):
    for i in (0, 3):
        indices = plain.with_rank(context.shapes[i], 2)
        values = plain.with_rank(context.shapes[i + 1], 1)
        shape = plain.with_rank(context.shapes[i + 2], 1)
        plain.merged_size(indices[0], values[0])
        plain.merged_size(indices[1], shape[0])
    hypothesis, truth = context.value(2), context.value(5)
    if hypothesis is None or truth is None or len(hypothesis) != len(truth):
        return None
    return tuple(max(sizes) for sizes in zip(hypothesis.tolist()[:-1], truth.tolist()[:-1], strict=True))


@public("edit_distance")
def edit_distance(hypothesis, truth, normalize=True, name="edit_distance"):
    """How many elements of sequences have to be put in, taken out or changed to make others of them.

    Args:
      hypothesis, truth: SparseTensors of any one type, whose last dimension is that of the sequences.
      normalize: whether to divide by the lengths of the true sequences.

    Returns:
      float32, of the shape without the last dimension.

    Raises:
      TypeError: for other tensors.
    """
    for what, value in (("Hypothesis", hypothesis), ("Truth", truth)):
        if not isinstance(value, (SparseTensor, SparseTensorValue)):
            raise TypeError(f"{what} must be a SparseTensor.")
    return edit_distance_op(*parts(hypothesis), *parts(truth), normalize=normalize, name=name)
