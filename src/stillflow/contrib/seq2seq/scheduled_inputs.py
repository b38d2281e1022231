"""What scheduled sampling feeds, https://arxiv.org/abs/1506.03099: inputs that are given, with some from outputs."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.seq2seq.sampling import bernoulli_sample, categorical_sample
from stillflow.graph import dtypes
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.convert import convert_to_tensor


def checked_probability(value):
    """A probability as a tensor. Raises ValueError for one that is neither a scalar nor a vector."""
    probability = convert_to_tensor(value, name="sampling_probability")
    if probability.shape.ndims not in (0, 1):
        raise ValueError(f"sampling_probability must be either a scalar or a vector. saw shape: {probability.shape}")
    return probability


def some_ids(logits, probability, batch_size, seed, scheduling_seed):
    """Ids drawn from logits where, at random, outputs are to be fed; else -1."""
    is_chosen = bernoulli_sample(probability, dtype=dtypes.bool_, sample_shape=batch_size, seed=scheduling_seed)
    ids = categorical_sample(logits, seed=seed)
    return ops.where(is_chosen, ids, ops.fill([batch_size], -1))


def _places(condition):
    return ops.cast(ops.where(condition), dtypes.int32)


def _mixed(chosen, others, values, base_inputs):
    """Inputs of which those at the places `chosen` are `values`, those at `others` what is given."""
    given = ops.gather_nd(base_inputs, others)
    values = values()
    shape = ops.shape(base_inputs)
    return ops.scatter_nd(indices=chosen, updates=values, shape=shape) + ops.scatter_nd(
        indices=others, updates=given, shape=shape
    )


def with_embeddings(embedding_fn, sample_ids, finished, base_inputs):
    """The next inputs: embeddings of what was sampled where that is not -1, else what is given."""

    def mixed():
        chosen, others = _places(sample_ids > -1), _places(sample_ids <= -1)
        ids = ops.gather_nd(sample_ids, chosen)
        return _mixed(chosen, others, lambda: embedding_fn(ids), base_inputs)

    return cond(ops.reduce_all(finished), lambda: base_inputs, mixed)


def with_outputs(next_inputs_fn, auxiliary_array, time, outputs, sample_ids, finished, base_inputs):
    """The next inputs: what a function makes of outputs where 1 was sampled, else what is given.

    `next_inputs_fn` may be None: inputs are outputs. What every input is followed by is in a TensorArray, or None.
    """

    def followed(values, indices=None):
        if auxiliary_array is None:
            return values
        auxiliary = auxiliary_array.read(time + 1)
        if indices is not None:
            auxiliary = ops.gather_nd(auxiliary, indices)
        return ops.concat((values, auxiliary), -1)

    def mixed():
        if next_inputs_fn is None:
            return ops.where(is_chosen, followed(outputs), base_inputs)
        chosen, others = _places(is_chosen), _places(ops.logical_not(is_chosen))
        picked = ops.gather_nd(outputs, chosen)
        return _mixed(chosen, others, lambda: followed(next_inputs_fn(picked), chosen), base_inputs)

    is_chosen = ops.cast(sample_ids, dtypes.bool_)
    all_finished = ops.reduce_all(finished)
    none_chosen = ops.logical_not(ops.reduce_any(is_chosen))
    return cond(ops.logical_or(all_finished, none_chosen), lambda: base_inputs, mixed)
