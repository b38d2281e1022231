"""The order of elements is TensorFlow's, for all recorded pipelines."""

import pytest
import random_vectors

import stillflow as tf

LEFT_OUT = ("choose_from", "sample_from", "RandomDataset")
CASES = [case for case in random_vectors.cases("dataset") if not any(name in case["code"] for name in LEFT_OUT)]


def test_there_are_many():
    assert len(CASES) > 26


@pytest.mark.parametrize("case", CASES, ids=random_vectors.case_id)
def test_order(case):
    if case["graph_seed"] is not None:
        tf.set_random_seed(case["graph_seed"])
    names = {"tf": tf}
    exec(case["code"], names)
    iterator = names["dataset"].make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        for run in case["runs"]:
            session.run(iterator.initializer)
            found = []
            try:
                while run["take"] is None or len(found) < run["take"]:
                    found.append(session.run(element))
            except tf.errors.OutOfRangeError:
                assert run["take"] is None
            random_vectors.assert_matches(run["out"], found)
