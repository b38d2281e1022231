"""Candidate samplers and accidental hits: TensorFlow's bits, and what must not hang or crash."""

import numpy as np
import pytest
from random_vectors import assert_matches, case_id, cases, seeds

from stillflow import errors, ops
from stillflow.testing import assert_same_bits, new_session, sessions_of_all_isas

BUILDERS = {
    "LogUniformCandidateSampler": ops.log_uniform_candidate_sampler,
    "UniformCandidateSampler": ops.uniform_candidate_sampler,
    "LearnedUnigramCandidateSampler": ops.learned_unigram_candidate_sampler,
    "ThreadUnsafeUnigramCandidateSampler": ops.thread_unsafe_unigram_candidate_sampler,
    "FixedUnigramCandidateSampler": ops.fixed_unigram_candidate_sampler,
    "AllCandidateSampler": ops.all_candidate_sampler,
}
OPTIONS = (
    "num_true", "num_sampled", "unique", "range_max", "unigrams", "distortion", "num_reserved_ids", "num_shards",
    "shard",
)  # fmt: skip
RANGED = ("log_uniform", "uniform", "learned_unigram", "fixed_unigram")


@pytest.mark.parametrize("case", cases("candidate_sampler"), ids=case_id)
def test_runs_of_a_node_are_those_of_tensorflow(case):
    options = {key: case[key] for key in OPTIONS if key in case}
    if case["op"] == "AllCandidateSampler":
        options.pop("range_max", None)
    for session in sessions_of_all_isas():
        classes = ops.placeholder(dtype="int64")
        outputs = BUILDERS[case["op"]](classes, **options, **seeds(case))
        for run in case["runs"]:
            values = session.run(outputs, {classes: np.array(run["true_classes"], np.int64)})
            for name, value in values._asdict().items():
                assert_matches(run["out"][name], value)


@pytest.mark.parametrize("case", cases("accidental_hits"), ids=case_id)
def test_accidental_hits_are_those_of_tensorflow(case):
    with new_session() as session:
        hits = ops.compute_accidental_hits(
            case["true_classes"], case["sampled_candidates"], len(case["true_classes"][0])
        )
        for name, value in session.run(hits)._asdict().items():
            assert_matches(case["out"][0][name], value)


def test_the_last_position_of_a_class_counts():
    with new_session() as session:
        hits = session.run(ops.compute_accidental_hits([[7, 8], [9, 7]], [7, 7, 9, 7], 2))
    assert hits.indices.tolist() == [0, 1, 1]
    assert hits.ids.tolist() == [3, 2, 3]
    np.testing.assert_array_equal(hits.weights, np.finfo(np.float32).min)


def sample(name, classes=((0,),), **options):
    """What one run of a sampler over ten classes yields."""
    options = {"num_true": 1, "num_sampled": 3, "unique": True, "range_max": 10, "seed": 1, **options}
    if name == "fixed_unigram":
        options.setdefault("unigrams", [1.0] * 10)
    with new_session() as session:
        fed = ops.placeholder(dtype="int64")
        outputs = getattr(ops, f"{name}_candidate_sampler")(fed, **options)
        return session.run(outputs, {fed: np.array(classes, np.int64)})


@pytest.mark.parametrize("name", RANGED)
def test_all_classes_can_be_asked_for(name):
    assert sorted(sample(name, num_sampled=10).sampled_candidates) == list(range(10))


@pytest.mark.parametrize("name", RANGED)
def test_more_than_all_classes_are_refused(name):
    with pytest.raises(errors.InvalidArgumentError, match="Sampler's range is too small"):
        sample(name, num_sampled=11)


def test_classes_without_weight_do_not_keep_it_drawing():
    unigrams = [0.0, 1.0, 0.0, 1.0, 1.0] + [0.0] * 5
    drawn = sample("fixed_unigram", unigrams=unigrams)
    assert sorted(drawn.sampled_candidates) == [1, 3, 4]
    with pytest.raises(errors.InvalidArgumentError, match="Sampler's range is too small"):
        sample("fixed_unigram", unigrams=unigrams, num_sampled=4)


@pytest.mark.parametrize("name", RANGED)
def test_shapes_are_checked(name):
    with pytest.raises(errors.InvalidArgumentError, match=r"rank 2|must be a matrix"):
        sample(name, classes=[0])
    with pytest.raises(errors.InvalidArgumentError, match="num_true columns"):
        sample(name, classes=[[0, 1]])
    assert sample(name, classes=np.zeros((0, 1))).true_expected_count.shape == (0, 1)


def test_true_classes_outside_the_range():
    """A learned weight that is not there is refused; a formula takes any number."""
    for value in (-1, 10, 2**62):
        with pytest.raises(errors.InvalidArgumentError, match=r"out of range \[0, 10\), received"):
            sample("learned_unigram", classes=[[value]])
        assert sample("fixed_unigram", classes=[[value]]).true_expected_count == 0
        sample("log_uniform", classes=[[value]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"unigrams": []}, "Must provide either vocab_file or unigrams"),
        ({"vocab_file": "words.csv"}, "Must only provide one of"),
        ({"unigrams": [1.0, 2.0]}, "range_max is 10, but there are 2 unigrams"),
        ({"unigrams": [0.0] * 10}, "must be positive and finite, got 0"),
        ({"unigrams": [-1.0] + [1.0] * 9}, "must be finite and not negative, got -1"),
        ({"shard": 3, "num_shards": 2}, r"Shard 3 must be in \[0, 2\)"),
        ({"range_max": 2**40, "num_reserved_ids": 2**40 - 10}, "range_max must be in"),
        ({"unigrams": [], "vocab_file": "/nowhere/words.csv"}, "No such file"),
    ],
)
def test_options_of_fixed_unigrams_are_checked(options, message):
    with pytest.raises((errors.InvalidArgumentError, errors.NotFoundError), match=message):
        sample("fixed_unigram", **options)


def test_weights_of_a_file_are_those_of_a_list(tmp_path):
    weights = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3]
    path = tmp_path / "words.csv"
    path.write_text("".join(f"word{i},{weight}\n" for i, weight in enumerate(weights)))
    options = {"num_sampled": 50, "unique": False, "distortion": 0.75}
    listed = sample("fixed_unigram", unigrams=[float(weight) for weight in weights], **options)
    read = sample("fixed_unigram", unigrams=[], vocab_file=str(path), **options)
    for a, b in zip(listed, read, strict=True):
        np.testing.assert_array_equal(a, b)


def test_learned_weights_are_of_a_session_and_grow():
    classes = ops.placeholder(dtype="int64")
    outputs = ops.learned_unigram_candidate_sampler(classes, 1, 1, False, 4, seed=5, name="sampler")
    for _ in range(2):
        with new_session() as session:
            session._graph = classes.graph
            first, second = (session.run(outputs, {classes: [[2], [2]]}) for _ in range(2))
            np.testing.assert_allclose(first.true_expected_count, 1 / 4)
            np.testing.assert_allclose(second.true_expected_count, 3 / 6)


@pytest.mark.parametrize("name", RANGED)
def test_same_bits_everywhere(name, rng):
    classes = rng.integers(0, 1000, (300, 1))
    options = {"num_true": 1, "num_sampled": 700, "unique": True, "range_max": 1000, "seed": 3}
    if name == "fixed_unigram":
        options["unigrams"] = (1 / np.arange(1.0, 1001)).tolist()
    assert_same_bits(lambda fed: list(getattr(ops, f"{name}_candidate_sampler")(fed, **options)), classes)
