"""Candidate samplers with their seeds."""

from __future__ import annotations

from stillflow import ops
from stillflow.names import public
from stillflow.random.seeds import get_seed


def _sampler(op_name):
    def sample(true_classes, num_true, num_sampled, unique, *range_max, seed=None, name=None, **attrs):
        seed, seed2 = get_seed(seed)
        if range_max:
            (attrs["range_max"],) = range_max
        return getattr(ops, op_name)(
            true_classes,
            num_true=num_true,
            num_sampled=num_sampled,
            unique=unique,
            seed=seed,
            seed2=seed2,
            name=name,
            **attrs,
        )

    return sample


uniform_candidate_sampler = _sampler("uniform_candidate_sampler")
log_uniform_candidate_sampler = _sampler("log_uniform_candidate_sampler")
learned_unigram_candidate_sampler = _sampler("learned_unigram_candidate_sampler")
fixed_unigram_candidate_sampler = _sampler("fixed_unigram_candidate_sampler")
all_candidate_sampler = _sampler("all_candidate_sampler")


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
