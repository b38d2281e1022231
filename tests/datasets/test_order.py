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


# What TensorFlow 1.15.5 gives: after the last pass of a repetition it takes the seeds of one more.
@pytest.mark.parametrize(
    ("repeated", "expected"),
    [
        (lambda data: data.take(2).repeat(6), [0, 1, 0, 3, 0, 1, 0, 3, 1, 3, 2, 3]),
        (lambda data: data.take(2).repeat(2).repeat(3), [0, 1, 0, 3, 0, 3, 1, 3, 0, 1, 0, 1]),
        (lambda data: data.take(2).repeat(3).repeat(2), [0, 1, 0, 3, 0, 1, 1, 3, 2, 3, 0, 1]),
        (lambda data: data.prefetch(1).repeat(2).repeat(2), [0, 1, 2, 3, 0, 3, 2, 1, 0, 3, 2, 1, 1, 3, 2, 0]),
    ],
)
def test_order_in_repeated_repetitions(repeated, expected, tmp_path):
    dataset = repeated(tf.data.Dataset.range(4).shuffle(4, seed=3))
    iterator = dataset.make_initializable_iterator()
    element = iterator.get_next()
    tf.get_variable("v", [])
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run([iterator.initializer, tf.global_variables_initializer()])
        found = [int(session.run(element)) for _ in range(5)]
        path = saver.save(session, str(tmp_path / "five"))
    with tf.Session() as session:
        session.run(iterator.initializer)
        saver.restore(session, path)
        found += [int(session.run(element)) for _ in expected[5:]]
    assert found == expected
