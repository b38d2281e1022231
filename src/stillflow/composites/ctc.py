"""Connectionist temporal classification: its loss, its decoders, and what prepares labels."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.functional import map_fn
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.nn.ctc_decoder import ctc_beam_search_decoder as beam_search_op
from stillflow.ops.nn.ctc_decoder import ctc_greedy_decoder as greedy_op
from stillflow.ops.nn.ctc_loss import ctc_loss as loss_op
from stillflow.ops.sparse_tensor import SparseTensor


@public("nn.ctc_loss")
def ctc_loss(
    labels, inputs=None, sequence_length=None, preprocess_collapse_repeated=False, ctc_merge_repeated=True,
    ignore_longer_outputs_than_inputs=False, time_major=True, logits=None,
):  # fmt: skip
    """Minus the logarithm of the probability that scores over time spell the labels, in one of all ways.

    A. Graves, S. Fernandez, F. Gomez, J. Schmidhuber, "Connectionist temporal classification", ICML 2006. The last
    class is the blank, which stands between equal labels, and may stand anywhere else.

    Args:
      labels: an int32 SparseTensor [batch, length].
      inputs: float32 or float64 [time, batch, classes], scores whose softmax are probabilities.
      sequence_length: int32 [batch]: how much of the time counts.
      preprocess_collapse_repeated: whether equal labels in a row are one.
      ctc_merge_repeated: whether equal classes in a row spell one label.
      ignore_longer_outputs_than_inputs: whether more labels than time cost nothing, and are no error.
      time_major: whether time comes before the batch in `inputs`.
      logits: another name of `inputs`.

    Returns:
      [batch].

    Raises:
      TypeError: if the labels are not a SparseTensor.
      InvalidArgumentError: for labels out of range, or with no time for them, and for sequences without labels.
    """
    if not isinstance(labels, SparseTensor):
        raise TypeError("Expected labels (first argument) to be a SparseTensor")
    inputs = renamed("logits", logits, "inputs", inputs)
    if not time_major:
        inputs = ops.transpose(inputs, [1, 0, 2])
    loss, _ = loss_op(
        inputs, labels.indices, labels.values, sequence_length,
        preprocess_collapse_repeated=preprocess_collapse_repeated, ctc_merge_repeated=ctc_merge_repeated,
        ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs,
    )  # fmt: skip
    return loss


@public("nn.ctc_greedy_decoder")
def ctc_greedy_decoder(inputs, sequence_length, merge_repeated=True):
    """The most likely class at each time, without blanks.

    Args:
      inputs: float32 or float64 [time, batch, classes]: scores; the last class is the blank.
      sequence_length: int32 [batch]: how much of the time counts.
      merge_repeated: whether equal classes in a row are one.

    Returns:
      (a list of one int64 SparseTensor [batch, length], [batch, 1]: the sums of the largest scores, negated).

    Raises:
      InvalidArgumentError, FailedPreconditionError: without time, and for lengths that do not fit.
    """
    indices, values, shape, scores = greedy_op(inputs, sequence_length, merge_repeated=merge_repeated)
    return [SparseTensor(indices, values, shape)], scores


@public("nn.ctc_beam_search_decoder")
def ctc_beam_search_decoder(inputs, sequence_length, beam_width=100, top_paths=1, merge_repeated=True):
    """The label sequences that scores over time spell most likely, as a search by beams finds them.

    Args:
      inputs: float32 or float64 [time, batch, classes]: scores; the last class is the blank.
      sequence_length: int32 [batch]: how much of the time counts.
      beam_width: how many sequences are followed.
      top_paths: how many are returned, no more than those.
      merge_repeated: whether equal labels in a row of what is found become one, which makes other sequences of them;
        ctc_beam_search_decoder_v2 does no such thing.

    Returns:
      (a list of `top_paths` int64 SparseTensors [batch, length], [batch, top_paths]: logarithms of probabilities).

    Raises:
      InvalidArgumentError, FailedPreconditionError: without time, for lengths that do not fit, and for more paths
        than there are.
    """
    indices, values, shapes, logs = beam_search_op(
        inputs, sequence_length, beam_width=beam_width, top_paths=top_paths, merge_repeated=merge_repeated
    )
    return [SparseTensor(*parts) for parts in zip(indices, values, shapes, strict=True)], logs


@public("nn.ctc_beam_search_decoder_v2")
def ctc_beam_search_decoder_v2(inputs, sequence_length, beam_width=100, top_paths=1):
    """ctc_beam_search_decoder, which see, that leaves equal labels in a row as they are."""
    return ctc_beam_search_decoder(
        inputs, sequence_length=sequence_length, beam_width=beam_width, top_paths=top_paths, merge_repeated=False
    )


def size_of(tensor, axis):
    """The size along an axis: an int if it is known, else a tensor."""
    return tensor.shape.dims[axis].value or ops.shape(tensor)[axis]


@public("nn.collapse_repeated")
def collapse_repeated(labels, seq_length, name=None):
    """Makes one of equal labels in a row.

    Args:
      labels: [batch, length].
      seq_length: integers [batch]: how many labels count.
      name: the scope of the new nodes.

    Returns:
      (labels [batch, length of the longest], zeros behind them, and how many there are, as `seq_length` was).
    """
    with name_scope(name, "collapse_repeated_labels", [labels, seq_length]):
        labels = convert_to_tensor(labels, name="labels")
        seq_length = convert_to_tensor(seq_length, name="seq_length")
        first = ops.ones_like(labels[:, :1], dtypes.bool_)
        mask = ops.concat([first, ops.not_equal(labels[:, 1:], labels[:, :-1])], axis=1)
        mask = ops.logical_and(mask, ops.sequence_mask(seq_length, maxlen=size_of(labels, 1)))
        lengths = ops.reduce_sum(ops.cast(mask, dtypes.int32), axis=1)
        longest = ops.reduce_max(lengths)
        places = ops.sequence_mask(lengths, maxlen=longest)
        flat_labels = ops.reshape(labels, [-1])
        flat_mask = ops.reshape(mask, [-1])
        flat_places = ops.reshape(places, [-1])
        numbers = ops.range(size_of(flat_places, 0))
        flat = ops.scatter_nd(
            indices=ops.expand_dims(ops.boolean_mask(numbers, flat_places), axis=1),
            updates=ops.boolean_mask(flat_labels, flat_mask),
            shape=ops.shape(flat_places),
        )
        shape = [size_of(labels, 0), longest]
        return ops.reshape(flat, shape), ops.cast(lengths, seq_length.dtype)


@public("nn.ctc_unique_labels")
def ctc_unique_labels(labels, name=None):
    """The different labels of each sequence, which make ctc_loss_v2 faster.

    Args:
      labels: [batch, length], padded with zeros.
      name: the scope of the new nodes.

    Returns:
      (int64 [batch, length]: the different labels in their order, zeros behind them;
      int32 [batch, length]: the number of each label in its row of the first).
    """
    with name_scope(name, "ctc_unique_labels", [labels]):
        labels = convert_to_tensor(labels, name="labels")

        def unique(row):
            values, numbers = ops.unique(row)
            values = ops.pad(values, [[0, size_of(numbers, 0) - size_of(values, 0)]])
            return [ops.cast(values, dtypes.int64), numbers]

        return map_fn(unique, labels, dtype=[dtypes.int64, dtypes.int32])
