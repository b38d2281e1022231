"""Losses over lists of logits and targets, and models of several lengths."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.cross_entropy import sparse_softmax_cross_entropy_with_logits
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.variables.scope import get_variable_scope, variable_scope


@public("contrib.legacy_seq2seq.sequence_loss_by_example", "nn.seq2seq.sequence_loss_by_example")
def sequence_loss_by_example(
    logits, targets, weights, average_across_timesteps=True, softmax_loss_function=None, name=None
):
    """The weighted cross entropy of sequences: one number for each.

    Args:
      logits: a list of tensors [batch, symbols].
      targets: a list of int32 tensors [batch].
      weights: a list of float tensors [batch].
      average_across_timesteps: whether sums are divided by the sums of weights.
      softmax_loss_function: a function of `labels` and `logits` instead of softmax cross entropy.
      name: the scope of the new nodes.

    Returns a float tensor [batch], the logarithm of each sequence's perplexity.

    Raises ValueError for lists of different lengths.
    """
    if len(targets) != len(logits) or len(weights) != len(logits):
        raise ValueError(
            f"Lengths of logits, weights, and targets must be the same {len(logits)}, {len(weights)}, {len(targets)}."
        )
    with name_scope(name, "sequence_loss_by_example", [*logits, *targets, *weights]):
        terms = []
        for logit, target, weight in zip(logits, targets, weights, strict=True):
            if softmax_loss_function is None:
                labels = ops.reshape(target, [-1])
                loss = sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logit)
            else:
                loss = softmax_loss_function(labels=target, logits=logit)
            terms.append(loss * weight)
        losses = ops.add_n(terms)
        if average_across_timesteps:
            losses /= ops.add_n(weights) + 1e-12  # all weights may be 0
        return losses


@public("contrib.legacy_seq2seq.sequence_loss", "nn.seq2seq.sequence_loss")
def sequence_loss(
    logits, targets, weights, average_across_timesteps=True, average_across_batch=True, softmax_loss_function=None,
    name=None,
):  # fmt: skip
    """The weighted cross entropy of sequences, one number for the batch.

    Arguments are those of sequence_loss_by_example, but for `average_across_batch`, whether the sum over sequences is
    divided by their number. Raises ValueError for lists of different lengths.
    """
    with name_scope(name, "sequence_loss", [*logits, *targets, *weights]):
        cost = ops.reduce_sum(
            sequence_loss_by_example(
                logits, targets, weights, average_across_timesteps=average_across_timesteps,
                softmax_loss_function=softmax_loss_function,
            )
        )  # fmt: skip
        if average_across_batch:
            return cost / ops.cast(ops.shape(targets[0])[0], cost.dtype)
        return cost


@public("contrib.legacy_seq2seq.model_with_buckets", "nn.seq2seq.model_with_buckets")
def model_with_buckets(
    encoder_inputs, decoder_inputs, targets, weights, buckets, seq2seq, softmax_loss_function=None,
    per_example_loss=False, name=None,
):  # fmt: skip
    """The same model for several lengths of inputs, with the same variables.

    Args:
      encoder_inputs, decoder_inputs: lists of tensors, as many as the longest need.
      targets, weights: lists of tensors [batch], for the loss.
      buckets: a list of (length of encoder inputs, length of decoder inputs), in ascending order.
      seq2seq: a function of encoder inputs and decoder inputs that returns (outputs, states).
      softmax_loss_function, per_example_loss: see sequence_loss_by_example, which is used if the latter is true.
      name: the scope of the new nodes.

    Returns (list of outputs, list of losses), one for each bucket.

    Raises ValueError for lists that are shorter than the last bucket.
    """
    longest_input, longest_output = buckets[-1]
    for what, found, wanted in (
        ("encoder_inputs", len(encoder_inputs), longest_input),
        ("targets", len(targets), longest_output),
        ("weights", len(weights), longest_output),
    ):
        if found < wanted:
            raise ValueError(f"Length of {what} ({found}) must be at least that of last bucket ({wanted}).")
    loss_of = sequence_loss_by_example if per_example_loss else sequence_loss
    outputs, losses = [], []
    with name_scope(name, "model_with_buckets", [*encoder_inputs, *decoder_inputs, *targets, *weights]):
        for number, (input_length, output_length) in enumerate(buckets):
            with variable_scope(get_variable_scope(), reuse=True if number > 0 else None):
                found, _ = seq2seq(encoder_inputs[:input_length], decoder_inputs[:output_length])
                outputs.append(found)
                losses.append(
                    loss_of(
                        found, targets[:output_length], weights[:output_length],
                        softmax_loss_function=softmax_loss_function,
                    )
                )  # fmt: skip
    return outputs, losses
