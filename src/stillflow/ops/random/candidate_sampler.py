"""Candidate samplers: classes sampled from a large set, for sampled losses."""

from __future__ import annotations

from stillflow.graph.shape_inference import ShapeError
from stillflow.ops.registry import define_op

_SEEDS = "seed: int = 0; seed2: int = 0"


def _sampler(name, attrs, kernel, state="random"):
    return define_op(
        f"{name}(true_classes: int64) -> (sampled_candidates: int64, true_expected_count: float32, "
        "sampled_expected_count: float32)",
        f"num_true: int >= 1; num_sampled: int >= 1; unique: bool; {attrs}",
        kernel=kernel,
        state=state,
        stateful=True,
        differentiable=False,
    )


_RANGE = f"range_max: int >= 1; {_SEEDS}"
_LEARNED = "learned_unigram_candidate_sampler(true_classes | num_true, num_sampled, unique, range_max, seed, seed2)"

log_uniform_candidate_sampler = _sampler(
    "LogUniformCandidateSampler",
    _RANGE,
    "log_uniform_candidate_sampler(true_classes | num_true, num_sampled, unique, range_max)",
)
uniform_candidate_sampler = _sampler(
    "UniformCandidateSampler",
    _RANGE,
    "uniform_candidate_sampler(true_classes | num_true, num_sampled, unique, range_max)",
)
learned_unigram_candidate_sampler = _sampler("LearnedUnigramCandidateSampler", _RANGE, _LEARNED, "op")
thread_unsafe_unigram_candidate_sampler = _sampler("ThreadUnsafeUnigramCandidateSampler", _RANGE, _LEARNED, "op")
fixed_unigram_candidate_sampler = _sampler(
    "FixedUnigramCandidateSampler",
    "range_max: int >= 1; vocab_file: string = ''; distortion: float = 1.0; num_reserved_ids: int = 0; "
    f"num_shards: int >= 1 = 1; shard: int >= 0 = 0; unigrams: list(float) = []; {_SEEDS}",
    "fixed_unigram_candidate_sampler(true_classes | num_true, num_sampled, unique, range_max, vocab_file, "
    "distortion, num_reserved_ids, num_shards, shard, unigrams)",
)
all_candidate_sampler = _sampler(
    "AllCandidateSampler", _SEEDS, "all_candidate_sampler(true_classes | num_true, num_sampled, unique)"
)
compute_accidental_hits = define_op(
    "ComputeAccidentalHits(true_classes: int64, sampled_candidates: int64) -> (indices: int32, ids: int64, "
    "weights: float32)",
    f"num_true: int; {_SEEDS}",
    kernel="compute_accidental_hits(true_classes, sampled_candidates | num_true)",
    differentiable=False,
)


def _sampler_rule(context):
    classes = context.shapes[0]
    if classes is not None and len(classes) != 2:
        raise ShapeError(f"Shape must be rank 2 but is rank {len(classes)}")
    sampled = (context.attrs["num_sampled"],)
    rows = None if classes is None else classes[0]
    return [sampled, (rows, context.attrs["num_true"]), sampled]


for _op in (
    log_uniform_candidate_sampler, uniform_candidate_sampler, learned_unigram_candidate_sampler,
    thread_unsafe_unigram_candidate_sampler, fixed_unigram_candidate_sampler, all_candidate_sampler,
):  # fmt: skip
    _op.shape_rule(_sampler_rule)


@compute_accidental_hits.shape_rule
def _(context):
    classes = context.shapes[0]
    if classes is not None and len(classes) != 2:
        raise ShapeError(f"Shape must be rank 2 but is rank {len(classes)}")
    if classes is not None and classes[1] not in (None, context.attrs["num_true"]):
        raise ShapeError(f"Dimension must be {context.attrs['num_true']} but is {classes[1]}")
    return [(None,), (None,), (None,)]
