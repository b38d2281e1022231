"""ctc_loss_v2: connectionist temporal classification with labels in a matrix, as a graph of plain ops."""

from __future__ import annotations

import math

from stillflow import ops
from stillflow.autodiff.custom_gradient import custom_gradient
from stillflow.composites.ctc import ctc_loss, size_of
from stillflow.composites.functional import scan
from stillflow.composites.statistics import reduce_logsumexp
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import SparseTensor

# The logarithm of a probability that is as good as zero, where others are added to it.
_LOG_TINY = math.log(1e-307)
_LOG_ZERO = -math.inf


@public("nn.ctc_loss_v2")
def ctc_loss_v2(
    labels, logits, label_length, logit_length, logits_time_major=True, unique=None, blank_index=None, name=None
):
    """Minus the logarithm of the probability that scores over time spell the labels, in one of all ways.

    See ctc_loss. Labels that are a SparseTensor are what that op takes; those in a matrix are computed with here.

    Args:
      labels: an int32 SparseTensor, or integers [batch, length].
      logits: float32 [time, batch, classes]: scores whose softmax are probabilities.
      label_length: integers [batch]: how many labels count. What a SparseTensor has counts anyway.
      logit_length: int32 [batch]: how much of the time counts.
      logits_time_major: whether time comes before the batch in `logits`.
      unique: what ctc_unique_labels(labels) returns, which makes it faster.
      blank_index: the class of the blank; negative ones count from the end. By default 0, for a matrix.
      name: the scope of the new nodes.

    Returns:
      [batch].

    Raises:
      ValueError: if labels are a SparseTensor and `blank_index` is not given.
    """
    if isinstance(labels, SparseTensor):
        if blank_index is None:
            raise ValueError("blank_index must be given when using SparseTensor labels.")
        if blank_index < 0:
            blank_index += size_of(logits, 2)
        if blank_index != size_of(logits, 2) - 1:
            before, behind = logits[:, :, :blank_index], logits[:, :, blank_index + 1 :]
            logits = ops.concat([before, behind, logits[:, :, blank_index : blank_index + 1]], axis=2)
            values = ops.where(labels.values < blank_index, labels.values, labels.values - 1)
            labels = SparseTensor(labels.indices, values, labels.dense_shape)
        return ctc_loss(labels=labels, inputs=logits, sequence_length=logit_length, time_major=logits_time_major)
    return ctc_loss_dense(
        labels, logits, label_length, logit_length, logits_time_major, unique, blank_index or 0, name
    )


@public("python.ops.ctc_ops.ctc_loss_dense")
def ctc_loss_dense(
    labels, logits, label_length, logit_length, logits_time_major=True, unique=None, blank_index=0, name=None
):
    """ctc_loss_v2 of labels in a matrix."""
    with name_scope(name, "ctc_loss_dense", [logits, labels, label_length, logit_length]):
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        label_length = convert_to_tensor(label_length, name="label_length")
        logit_length = convert_to_tensor(logit_length, name="logit_length")
        if not logits_time_major:
            logits = ops.transpose(logits, perm=[1, 0, 2])
        if blank_index != 0:
            if blank_index < 0:
                blank_index += size_of(logits, 2)
            blank = logits[:, :, blank_index : blank_index + 1]
            logits = ops.concat([blank, logits[:, :, :blank_index], logits[:, :, blank_index + 1 :]], axis=2)
            labels = ops.where(labels < blank_index, labels + 1, labels)
        args = [logits, labels, label_length, logit_length, *(unique or ())]

        @custom_gradient
        def loss(logits, labels, label_length, logit_length, *unique):
            result, gradient = _loss_and_gradient(logits, labels, label_length, logit_length, unique)

            def grad(upstream):
                return [ops.reshape(upstream, [1, -1, 1]) * gradient, *[None] * (len(args) - 1)]

            return result, grad

        return loss(*args)


@public("python.ops.ctc_ops.dense_labels_to_sparse")
def dense_labels_to_sparse(dense, length):
    """The first `length[i]` labels of each row of a matrix as a SparseTensor: what ctc_loss takes."""
    dense = convert_to_tensor(dense)
    length = convert_to_tensor(length)
    indices = ops.where(ops.sequence_mask(length, maxlen=size_of(dense, 1)))
    longest = ops.cast(ops.reduce_max(length), dtypes.int64)
    batch = ops.shape(dense, out_type=dtypes.int64)[0]
    return SparseTensor(indices, ops.gather_nd(dense, indices), ops.stack([batch, longest]))


def _loss_and_gradient(logits, labels, label_length, logit_length, unique):
    """The loss, and its gradient by the scores. The blank is class 0 here.

    The states of a path are the start and the labels, then the start and the blanks behind each: 2 (length + 1).
    """
    classes = size_of(logits, 2)
    logs = ops.log_softmax(logits)
    first, last = _end_logs(label_length, size_of(labels, 1))
    occupied, likelihood = _occupied(
        ops.log(_transitions(labels)), first, last, _state_logs(labels, classes, logs), logit_length
    )
    if unique:
        spelled = _class_logs_of_unique(labels, classes, occupied, unique)
    else:
        spelled = _class_logs(labels, classes, occupied)
    return -likelihood, ops.exp(logs) - ops.exp(spelled)


def _transitions(labels):
    """[batch, states, states]: 1 where a path may go from the second state to the first one, else 0."""
    with name_scope("ctc_state_trans"):
        batch = size_of(labels, 0)
        label_states = size_of(labels, 1) + 1
        states = 2 * label_states
        label = ops.range(label_states)
        blank = label + label_states
        pairs = [[[1, 0]], ops.stack([label[1:], blank[:-1]], 1), ops.stack([blank, label], 1)]
        indices = ops.concat(pairs, 0)
        common = ops.scatter_nd(indices, ops.ones([size_of(indices, 0)]), shape=[states, states])
        common += ops.diag(ops.ones([states]))
        # From a label straight to the next one, if that is another.
        pairs = ops.stack([ops.zeros_like(label[2:]), label[2:], label[1:-1]], 1)
        indices = ops.tile(ops.expand_dims(pairs, 0), [batch, 1, 1])
        indices += ops.expand_dims(ops.expand_dims(ops.range(batch), 1) * [1, 0, 0], 1)
        differ = 1.0 - ops.cast(ops.equal(labels[:, :-1], labels[:, 1:]), dtypes.float32)
        return ops.expand_dims(common, 0) + ops.scatter_nd(indices, differ, [batch, states, states])


def _end_logs(label_length, longest):
    """The logarithms of the probabilities of states before the first and behind the last time: [batch, states]."""
    batch = size_of(label_length, 0)
    label_states = longest + 1
    first = ops.one_hot(
        ops.zeros([batch], dtype=dtypes.int32), depth=2 * label_states, on_value=0.0, off_value=_LOG_TINY, axis=1
    )
    is_last = ops.ones([2, 1, batch]) * ops.one_hot(label_length, depth=label_states, axis=0)
    last = ops.reshape((1.0 - is_last) * _LOG_TINY, [2 * label_states, batch])
    return first, ops.transpose(last)


def _state_logs(labels, classes, logs):
    """[time, batch, states], of [time, batch, classes]: those of the states' classes; the start has none."""
    blank = ops.tile(logs[:, :, :1], [1, 1, size_of(labels, 1) + 1])
    chosen = ops.expand_dims(ops.one_hot(labels, depth=classes), axis=0)
    of_labels = ops.reduce_sum(ops.expand_dims(logs, axis=2) * chosen, axis=3)
    return ops.pad(ops.concat([of_labels, blank], axis=2), [[0, 0], [0, 0], [1, 0]], constant_values=_LOG_ZERO)


def _blank_logs(states, label_states):
    return reduce_logsumexp(states[:, :, label_states:], axis=2, keepdims=True)


@public("python.ops.ctc_ops._state_to_olabel")
def _class_logs(labels, classes, states):
    """[time, batch, classes], of [time, batch, states]."""
    label_states = size_of(labels, 1) + 1
    chosen = ops.one_hot(labels - 1, depth=classes - 1, on_value=0.0, off_value=_LOG_ZERO)
    of_labels = ops.expand_dims(states[:, :, 1:label_states], axis=3) + ops.expand_dims(chosen, axis=0)
    return ops.concat([_blank_logs(states, label_states), reduce_logsumexp(of_labels, axis=2)], axis=-1)


@public("python.ops.ctc_ops._state_to_olabel_unique")
def _class_logs_of_unique(labels, classes, states, unique):
    """The same with a place for each different label, and not for each class, in between."""
    values, numbers = unique
    length = size_of(labels, 1)
    frames, batch = size_of(states, 0), size_of(states, 1)
    sums = _sums_of_same(numbers, states[:, :, 1 : length + 1])
    updates = ops.reshape(ops.transpose(sums, perm=[1, 2, 0]), [batch * length, frames])
    rows = values + ops.expand_dims(ops.range(batch, dtype=values.dtype) * classes, axis=-1)
    spread = ops.scatter_nd(ops.reshape(rows, [-1, 1]), updates, shape=[batch * classes, frames])
    spread = ops.reshape(spread, [batch, classes, frames])
    spread = ops.where(ops.equal(spread, 0.0), ops.fill(ops.shape(spread), _LOG_ZERO), spread)
    of_labels = ops.transpose(spread, [2, 0, 1])[:, :, 1:]
    return ops.concat([_blank_logs(states, length + 1), of_labels], axis=-1)


@public("python.ops.ctc_ops._sum_states")
def _sums_of_same(numbers, states):
    """Of [time, batch, length], logarithms of the sums over the places with each number of [batch, length]."""
    with name_scope("sum_states"):
        numbers = convert_to_tensor(numbers)
        chosen = ops.one_hot(numbers, depth=size_of(states, 2), on_value=0.0, off_value=_LOG_ZERO, axis=1)
        return reduce_logsumexp(ops.expand_dims(states, axis=2) + chosen, axis=-1)


def _normalized(logs):
    sums = reduce_logsumexp(logs, axis=-1, keepdims=True)
    return logs - sums, sums


def _moved(logs, transitions):
    return reduce_logsumexp(ops.expand_dims(logs, axis=1) + transitions, axis=-1)


def _occupied(transitions, first, last, observed, lengths):
    """The logarithms of the parts of all paths in each state at each time, [time, batch, states], and the likelihood.

    Both directions are normalized at each time; what the backward one has taken out is the likelihood.
    """
    mask = ops.transpose(ops.sequence_mask(lengths, size_of(observed, 0), dtypes.float32), perm=[1, 0])

    def forward(before, observed):
        return _normalized(_moved(before, transitions) + observed)[0]

    ahead = scan(forward, observed, first)
    back = ops.transpose(transitions, [0, 2, 1])

    def backward(after, at):
        logs, total = after
        observed, counts = at
        logs, sums = _normalized(_moved(logs + observed, back))
        total += ops.squeeze(sums, axis=[1]) * counts
        return ops.where(counts > 0.0, logs, last), total  # behind the end all is as it is there

    logs, totals = scan(backward, (observed, mask), (last, ops.zeros([size_of(observed, 1)])), reverse=True)
    behind = ops.concat([logs[1:], ops.expand_dims(last, 0)], 0)
    occupied, _ = _normalized(ahead + behind)
    return occupied + ops.log(ops.expand_dims(mask, axis=2)), logs[0, :, 0] + totals[0]
