"""Candidate samplers with their seeds."""

from __future__ import annotations

from stillflow import ops
from stillflow.names import public
from stillflow.random.seeds import get_seed


def _sample(op, true_classes, num_true, num_sampled, unique, seed, name, **attrs):
    seed, seed2 = get_seed(seed)
    return op(
        true_classes, num_true=num_true, num_sampled=num_sampled, unique=unique, seed=seed, seed2=seed2, name=name,
        **attrs,
    )  # fmt: skip


@public("nn.compute_accidental_hits")
def compute_accidental_hits(true_classes, sampled_candidates, num_true, seed=None, name=None):
    """Where sampled classes are true ones.

    Args:
      true_classes: int64 [batch, num_true].
      sampled_candidates: int64 [num_sampled].
      num_true: how many true classes each row has.

    Returns:
      (int32 [hits] rows, int64 [hits] positions among the candidates, float32 [hits], all the lowest number).
    """
    seed, seed2 = get_seed(seed)
    return ops.compute_accidental_hits(
        true_classes, sampled_candidates, num_true=num_true, seed=seed, seed2=seed2, name=name
    )


@public("nn.uniform_candidate_sampler", "random.uniform_candidate_sampler")
def uniform_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None):
    """Classes sampled from [0, range_max), all equally likely.

    Args:
      true_classes: int64 [batch, num_true].
      num_true: how many true classes each row has.
      num_sampled: how many classes to sample.
      unique: whether they must all be different.
      range_max: how many classes there are.
      seed: an integer; with it or a graph-level seed the samples are the same in every session.

    Returns:
      (int64 [num_sampled] sampled classes, float32 [batch, num_true] how often each true class is expected among
      the samples, float32 [num_sampled] the same of the sampled ones).
    """
    return _sample(
        ops.uniform_candidate_sampler,
        true_classes,
        num_true,
        num_sampled,
        unique,
        range_max=range_max,
        seed=seed,
        name=name,
    )


@public("nn.log_uniform_candidate_sampler", "random.log_uniform_candidate_sampler")
def log_uniform_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None):
    """Like uniform_candidate_sampler, but class c has the probability log((c + 2) / (c + 1)) / log(range_max + 1)."""
    return _sample(
        ops.log_uniform_candidate_sampler,
        true_classes,
        num_true,
        num_sampled,
        unique,
        range_max=range_max,
        seed=seed,
        name=name,
    )


@public("nn.learned_unigram_candidate_sampler", "random.learned_unigram_candidate_sampler")
def learned_unigram_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None):
    """Like uniform_candidate_sampler, but classes are as likely as they have been among the true classes so far."""
    return _sample(
        ops.learned_unigram_candidate_sampler,
        true_classes,
        num_true,
        num_sampled,
        unique,
        range_max=range_max,
        seed=seed,
        name=name,
    )


@public("nn.fixed_unigram_candidate_sampler", "random.fixed_unigram_candidate_sampler")
def fixed_unigram_candidate_sampler(
    true_classes, num_true, num_sampled, unique, range_max, vocab_file="", distortion=1.0, num_reserved_ids=0,
    num_shards=1, shard=0, unigrams=(), seed=None, name=None,
):  # fmt: skip
    """Like uniform_candidate_sampler, but classes are as likely as a file or list says.

    Args:
      vocab_file: a file with a line per class; the number after the last comma is its weight.
      distortion: the power that weights are raised to.
      num_reserved_ids: so many classes before the given ones are never sampled.
      num_shards, shard: the sampler takes only each num_shards-th class, from `shard` on.
      unigrams: weights, instead of a file.
    """
    return _sample(
        ops.fixed_unigram_candidate_sampler, true_classes, num_true, num_sampled, unique, seed=seed, name=name,
        range_max=range_max, vocab_file=vocab_file, distortion=distortion, num_reserved_ids=num_reserved_ids,
        num_shards=num_shards, shard=shard, unigrams=unigrams,
    )  # fmt: skip


@public("nn.all_candidate_sampler", "random.all_candidate_sampler")
def all_candidate_sampler(true_classes, num_true, num_sampled, unique, seed=None, name=None):
    """All of [0, num_sampled), in the form of what the other samplers return."""
    return _sample(ops.all_candidate_sampler, true_classes, num_true, num_sampled, unique, seed=seed, name=name)
