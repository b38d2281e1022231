"""tf.test.TestCase's assertions pass and fail as TensorFlow's do, in its words; so does assert_equal_graph_def."""

import json
from pathlib import Path

import pytest
from test_cases import assertion_cases, graph_def_cases

import stillflow as tf

GOLDEN = Path(__file__).parent.parent / "golden"
ASSERTIONS = json.loads((GOLDEN / "assertions.json").read_text())
DIFFERENCES = json.loads((GOLDEN / "graph_differences.json").read_text())

# Where numpy, absl or the classes' modules have other words by now: what ours begins with.
OTHER_WORDS = {
    "assertAllClose.9": "AssertionError: Tuples differ: (2,) != (1,)",
    "assertAllClose.19": "DTypePromotionError: The DType",
    "assertAllInRange.6": "AssertionError: The value of ['a'] does not have an ordered numeric type",
    "assertProtoEquals.4": "AssertionError: Can't compare protos of type <class 'int'> and",
    "opError.1": "AssertionError: Exception of type <class 'stillflow.errors.InvalidArgumentError'>: negative input",
    "opError.3": "AssertionError: OpError not raised",
}


@pytest.fixture(scope="module")
def outcomes():
    return assertion_cases.outcomes(tf)


def lines_of(text):
    """The first line with something in it, and what the assertion says about the elements."""
    lines = [line.strip() for line in text.splitlines()]
    return [line for line in lines if line][:1] + [line for line in lines if line.startswith("not ")]


@pytest.mark.parametrize("name", sorted(ASSERTIONS))
def test_an_assertion_ends_as_in_tensorflow(name, outcomes):
    if name in OTHER_WORDS:
        assert outcomes[name].startswith(OTHER_WORDS[name])
        assert ASSERTIONS[name] != "passes"
    else:
        assert lines_of(outcomes[name]) == lines_of(ASSERTIONS[name])


@pytest.fixture(scope="module")
def differences():
    return graph_def_cases.outcomes(tf)


@pytest.mark.parametrize("name", sorted(DIFFERENCES))
def test_two_graph_defs_differ_as_in_tensorflow(name, differences):
    assert differences[name] == DIFFERENCES[name]


def test_only_graph_defs_are_compared():
    with pytest.raises(TypeError, match=r"Expected tf.GraphDef for actual, got int"):
        tf.test.assert_equal_graph_def(3, tf.GraphDef())
    with pytest.raises(TypeError, match=r"Expected tf.GraphDef for expected, got str"):
        tf.test.assert_equal_graph_def(tf.GraphDef(), "x")


def test_random_names_need_not_be_equal():
    def graph_def(folder, table):
        found = tf.GraphDef()
        node = found.node.add(name="part", op="Const")
        node.attr["value"].tensor.dtype = tf.string.as_datatype_enum
        node.attr["value"].tensor.string_val.append(f"_temp_{folder * 32}/part".encode())
        found.node.add(name="table", op="HashTableV2").attr["shared_name"].s = f"hash_table_{table}".encode()
        return found

    tf.test.assert_equal_graph_def(graph_def("a", "1-b"), graph_def("b", "2-c"), True, True)
    with pytest.raises(AssertionError, match="_temp_aaaa"):
        tf.test.assert_equal_graph_def(graph_def("a", "1"), graph_def("b", "1"))
    with pytest.raises(AssertionError, match="hash_table_1"):
        tf.test.assert_equal_graph_def(graph_def("a", "1"), graph_def("a", "2"), checkpoint_v2=True)
