"""Candidate samplers with their seeds."""

from __future__ import annotations

from stillflow import ops
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


def compute_accidental_hits(true_classes, sampled_candidates, num_true, seed=None, name=None):
    """Where sampled candidates are true classes: (rows, positions among the candidates, -FLT_MAX for each)."""
    seed, seed2 = get_seed(seed)
    return ops.compute_accidental_hits(
        true_classes, sampled_candidates, num_true=num_true, seed=seed, seed2=seed2, name=name
    )
