"""register_session_run_conversion_functions: sessions fetch and feed objects of a program's own."""

import pytest

import stillflow as tf
from stillflow.session.conversions import register_session_run_conversion_functions
from stillflow.session.fetches import conversions


class Pair:
    def __init__(self, first, second):
        self.tensors = [first, second]


class Triple(Pair):
    pass


@pytest.fixture(scope="module", autouse=True)
def pairs():
    register_session_run_conversion_functions(
        Pair,
        lambda pair: (pair.tensors, lambda values: ("pair", *values)),
        lambda pair, value: list(zip(pair.tensors, value, strict=True)),
        lambda pair: pair.tensors,
    )


def test_fetched_and_fed():
    a, b = tf.placeholder("float32"), tf.placeholder("float32")
    pair, total = Pair(a, b), a - b
    with tf.Session() as session:
        assert session.run([total, {"p": pair}], {pair: (5.0, 2.0)}) == [3.0, {"p": ("pair", 5.0, 2.0)}]
        assert session.run(Triple(a, total), {a: 1.0, b: 2.0}) == ("pair", 1.0, -1.0)


def test_fed_to_partial_runs():
    pair = Pair(tf.placeholder("float32"), tf.placeholder("float32"))
    total = pair.tensors[0] + pair.tensors[1]
    with tf.Session() as session:
        handle = session.partial_run_setup([total], [pair])
        assert session.partial_run(handle, total, {pair: (1.0, 2.0)}) == 3.0


@pytest.mark.parametrize("kind", [Pair, tf.SparseTensor, object])
def test_a_type_is_registered_once(kind):
    before = conversions()
    with pytest.raises(ValueError, match="has already been registered"):
        register_session_run_conversion_functions(kind, None)
    assert conversions() == before
