"""tf.nn: softmax, biases, normalization, lookups and the largest elements."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import dense_layer, normalization
from stillflow.composites import dropout as _dropout
from stillflow.composites import embedding_lookup as _embedding_lookup
from stillflow.composites import embedding_lookup_sparse as _embedding_lookup_sparse
from stillflow.facade.arguments import renamed

__all__ = [
    "batch_norm_with_global_normalization",
    "batch_normalization",
    "bias_add",
    "dropout",
    "embedding_lookup",
    "embedding_lookup_sparse",
    "in_top_k",
    "l2_normalize",
    "log_softmax",
    "moments",
    "normalize_moments",
    "relu_layer",
    "safe_embedding_lookup_sparse",
    "softmax",
    "sufficient_statistics",
    "top_k",
    "weighted_moments",
    "xw_plus_b",
]


def softmax(logits, axis=None, name=None, dim=None):
    """exp(x) / sum(exp(x)) along `axis`, the last one by default.

    Args:
      logits: a floating-point tensor of one dimension or more.

    Raises:
      InvalidArgumentError: if there is no such axis.
    """
    axis = renamed("axis", axis, "dim", dim)
    return ops.softmax(logits, -1 if axis is None else axis, name)


def log_softmax(logits, axis=None, name=None, dim=None):
    """log(softmax(x)) along `axis`, the last one by default, without underflow. Raises as `softmax` does."""
    axis = renamed("axis", axis, "dim", dim)
    return ops.log_softmax(logits, -1 if axis is None else axis, name)


def bias_add(value, bias, data_format=None, name=None):
    """`value` with bias[i] added to its channel i.

    Args:
      value: a tensor of two dimensions or more.
      bias: a vector of the same type, with a number for each channel.
      data_format: "N...C", the default: channels are the last dimension; or "NC...": they are the second.

    Raises:
      ValueError: for another format, or if there are not as many biases as channels.
    """
    return ops.bias_add(value, bias, data_format, name)


def xw_plus_b(x, weights, biases, name=None):
    """matmul(x, weights) + biases, of matrices and a vector."""
    return dense_layer.xw_plus_b(x, weights, biases, name)


def relu_layer(x, weights, biases, name=None):
    """max(matmul(x, weights) + biases, 0), of matrices and a vector."""
    return dense_layer.relu_layer(x, weights, biases, name)


def dropout(x, keep_prob=None, noise_shape=None, seed=None, name=None, rate=None):
    """Random elements of x set to 0, and the others divided by 1 - rate.

    Args:
      x: a floating-point tensor.
      keep_prob: 1 - rate, the older way to say it.
      noise_shape: the shape of what is decided at random, which is broadcast to that of x; by default that of x.
      seed: an integer; with it or a graph-level seed the choice is the same in every session.
      rate: a number or scalar in [0, 1), the share of elements to drop.

    Raises:
      ValueError: if neither or both of `rate` and `keep_prob` are given, the rate is out of range, or x is not of a
        floating-point type.
    """
    try:
        drop_rate = None if keep_prob is None else 1.0 - keep_prob
    except TypeError:
        raise ValueError(f"keep_prob must be a floating point number or Tensor (got {keep_prob!r})") from None
    rate = renamed("rate", rate, "keep_prob", drop_rate)
    if rate is None:
        raise ValueError("You must provide a rate to dropout.")
    return _dropout.dropout(x, rate, noise_shape, seed, name)


def embedding_lookup(params, ids, partition_strategy="mod", name=None, validate_indices=True, max_norm=None):
    """The rows `ids` of a table.

    Args:
      params: a tensor or variable [rows, ...], or its parts: a list of them or a partitioned variable.
      ids: an integer tensor of any shape.
      partition_strategy: "mod": id i is in part i % parts; "div": parts hold neighbouring ids.
      validate_indices: not used.
      max_norm: rows that are longer are scaled down to this norm.

    Returns:
      A tensor of the shape of `ids`, followed by that of a row.

    Raises:
      ValueError: if there is no table, or the strategy is neither.
      InvalidArgumentError: when run, if an id is not in the table.
    """
    return _embedding_lookup.embedding_lookup(params, ids, partition_strategy, name, max_norm)


def embedding_lookup_sparse(
    params, sp_ids, sp_weights, partition_strategy="mod", name=None, combiner=None, max_norm=None
):
    """For each row of `sp_ids` the rows of a table that it lists, combined into one.

    Args:
      params: the table, or a list of its parts, as for `embedding_lookup`.
      sp_ids: a SparseTensor of integers, [n, any]; rows must be in order, and none but the last may be empty.
      sp_weights: a SparseTensor of the same entries with their weights, or None for weights of 1.
      partition_strategy: "mod" or "div".
      combiner: "sum", "mean" (divided by the sum of the weights; None too) or "sqrtn" (by the root of the sum
        of their squares).
      max_norm: the largest norm of a row of the table; longer ones are scaled down.

    Raises:
      TypeError: if `sp_ids` or `sp_weights` is no SparseTensor.
      ValueError: for another combiner, or weights that are not at the same places.
    """
    return _embedding_lookup_sparse.embedding_lookup_sparse(
        params, sp_ids, sp_weights, partition_strategy, name, combiner, max_norm
    )


def safe_embedding_lookup_sparse(
    embedding_weights,
    sparse_ids,
    sparse_weights=None,
    combiner="mean",
    default_id=None,
    name=None,
    partition_strategy="div",
    max_norm=None,
):
    """`embedding_lookup_sparse` without negative ids and without weights that are not positive.

    A row without ids gets the row `default_id` of the table, or zeros if that is None. `sparse_ids` may have more
    than two dimensions; the result has all but its last, and then those of a row.

    Raises ValueError without a table.
    """
    return _embedding_lookup_sparse.safe_embedding_lookup_sparse(
        embedding_weights, sparse_ids, sparse_weights, combiner, default_id, name, partition_strategy, max_norm
    )


def top_k(input, k=1, sorted=True, name=None):
    """(values, int32 indices) of the k largest elements along the last dimension.

    Args:
      input: a tensor of real numbers with k elements or more in its last dimension.
      k: an int32 scalar.
      sorted: whether the elements must come in descending order.

    Returns:
      Two tensors [..., k]. Of equal elements the first comes first.

    Raises:
      ValueError or InvalidArgumentError: if there are fewer than k elements.
    """
    return ops.top_k(input, k, sorted, name)


def in_top_k(predictions, targets, k, name=None):
    """Whether the target is among the k classes with the largest predictions, or as large as the last of them.

    Args:
      predictions: float32 [batch, classes].
      targets: int32 or int64 [batch].
      k: an integer scalar.

    Returns:
      bool [batch]; false where the target is no class or a prediction is not finite.
    """
    return ops.in_top_k(predictions, targets, k, name)


# ---- Normalization ------------------------------------------------------------------------------------------


def l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None):
    """x / sqrt(max(sum(x * x), epsilon)), the sum over `axis` (an integer or several) or everything."""
    return normalization.l2_normalize(x, renamed("axis", axis, "dim", dim), epsilon, name)


def sufficient_statistics(x, axes, shift=None, keep_dims=None, name=None, keepdims=None):
    """(count, sum, sum of squares, shift) of x - shift over `axes`, for `normalize_moments`."""
    keepdims = renamed("keepdims", keepdims, "keep_dims", keep_dims)
    return normalization.sufficient_statistics(x, axes, shift, bool(keepdims), name)


def normalize_moments(counts, mean_ss, variance_ss, shift, name=None):
    """(mean, variance) from what `sufficient_statistics` returns."""
    return normalization.normalize_moments(counts, mean_ss, variance_ss, shift, name)


def moments(x, axes, shift=None, name=None, keep_dims=None, keepdims=None):
    """(mean, variance) of x over `axes`, a list of integers. `shift` is not used."""
    keepdims = renamed("keepdims", keepdims, "keep_dims", keep_dims)
    return normalization.moments(x, axes, bool(keepdims), name)


def weighted_moments(x, axes, frequency_weights, name=None, keep_dims=None, keepdims=None):
    """(mean, variance) of x over `axes`, where elements count as often as `frequency_weights` says."""
    keepdims = renamed("keepdims", keepdims, "keep_dims", keep_dims)
    return normalization.weighted_moments(x, axes, frequency_weights, bool(keepdims), name)


def batch_normalization(x, mean, variance, offset, scale, variance_epsilon, name=None):
    """(x - mean) / sqrt(variance + variance_epsilon) * scale + offset; scale and offset may be None."""
    return normalization.batch_normalization(x, mean, variance, offset, scale, variance_epsilon, name)


def batch_norm_with_global_normalization(
    t=None, m=None, v=None, beta=None, gamma=None, variance_epsilon=None, scale_after_normalization=None, name=None,
    input=None, mean=None, variance=None,
):  # fmt: skip
    """`batch_normalization` with other argument names; gamma counts only if `scale_after_normalization`."""
    t, m, v = renamed("input", input, "t", t), renamed("mean", mean, "m", m), renamed("variance", variance, "v", v)
    scale = gamma if scale_after_normalization else None
    return normalization.batch_normalization(t, m, v, beta, scale, variance_epsilon, name)
