"""Samples of Bernoulli and categorical distributions, as helpers draw them."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.distributions import multinomial
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.random.sampling import random_uniform


def _shaped(draw, sample_shape):
    """draw(count), with its first axis in the shape of `sample_shape`."""
    with name_scope(None, "call_sampler", values=[sample_shape]):
        sample_shape = convert_to_tensor(sample_shape, dtype=dtypes.int32, name="sample_shape")
        # A scalar becomes a vector.
        missing = ops.cast(ops.equal(ops.rank(sample_shape), 0), dtypes.int32)
        rank = ops.pad(ops.shape(sample_shape), paddings=[[missing, 0]], constant_values=1)
        sample_shape = ops.reshape(sample_shape, rank)
        samples = draw(ops.reduce_prod(sample_shape))
        event_shape = ops.shape(samples)[1:]
        return ops.reshape(samples, ops.concat([sample_shape, event_shape], 0))


@public("contrib.seq2seq.python.ops.helper.bernoulli_sample", "contrib.seq2seq.python.ops.sampler.bernoulli_sample")
def bernoulli_sample(probs=None, logits=None, dtype=dtypes.int32, sample_shape=(), seed=None):
    """1 with a probability that is given, or whose logit is; else 0. `sample_shape` comes first in the result's."""
    probs = ops.sigmoid(logits, name="probs") if probs is None else convert_to_tensor(probs, name="probs")
    batch_shape = ops.shape(probs)

    def draw(count):
        shape = ops.concat([[count], batch_shape], 0)
        return ops.cast(ops.less(random_uniform(shape, seed=seed, dtype=probs.dtype), probs), dtype)

    return _shaped(draw, sample_shape)


@public(
    "contrib.seq2seq.python.ops.helper.categorical_sample", "contrib.seq2seq.python.ops.sampler.categorical_sample"
)
def categorical_sample(logits, dtype=dtypes.int32, sample_shape=(), seed=None):
    """Numbers of classes whose logits are in the last axis. `sample_shape` comes first in the result's shape."""
    logits = convert_to_tensor(logits, name="logits")
    classes = ops.shape(logits)[-1]
    batch_shape = ops.shape(logits)[:-1]

    def draw(count):
        rows = logits if logits.shape.ndims == 2 else ops.reshape(logits, [-1, classes])
        drawn_dtype = dtypes.int64 if logits.dtype.size > 4 else dtypes.int32
        drawn = multinomial(rows, count, seed=seed, output_dtype=drawn_dtype)
        drawn = ops.transpose(drawn)
        return ops.cast(ops.reshape(drawn, ops.concat([[count], batch_shape], 0)), dtype)

    return _shaped(draw, sample_shape)
