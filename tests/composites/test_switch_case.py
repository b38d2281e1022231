"""Functions chosen by their numbers."""

import pytest

import stillflow as tf


@pytest.mark.parametrize(
    ("number", "expected"), [(0, [6.0, 2.0]), (1, [9.0, 6.0]), (2, [-3.0, -1.0]), (-5, [-3.0, -1.0])]
)
def test_a_function_is_chosen_when_the_graph_runs_and_gradients_go_through_it(number, expected):
    with tf.Graph().as_default(), tf.Session() as session:
        x, index = tf.constant(3.0), tf.placeholder(tf.int32)
        functions = {1: lambda: x * x, 0: lambda: 2.0 * x}
        y = tf.switch_case(index, functions, default=lambda: -x)
        found = session.run([y, *tf.gradients(y, x)], {index: number})
    assert found == expected


def test_without_a_default_the_last_function_is_taken_for_other_numbers():
    with tf.Graph().as_default(), tf.Session() as session:
        functions = [lambda: tf.constant(10), lambda: tf.constant(20)]
        values = [tf.switch_case(tf.constant(number), functions) for number in (-1, 0, 1, 2)]
        assert session.run(values) == [20, 10, 20, 20]


@pytest.mark.parametrize(
    ("index", "functions", "error", "text"),
    [
        (1, [abs], TypeError, "branch_index must a Tensor, got <class 'int'>"),
        (1.5, [abs], TypeError, "branch_index must an integer Tensor"),
        (1, [], ValueError, "Must provide at least one item in branch_fns"),
        (1, abs, TypeError, "branch_fns must be a list, tuple, or dict"),
        (1, [(0, abs), abs], TypeError, "Each entry in branch_fns must be a 2-tuple"),
        (1, {"a": abs}, TypeError, "key must be a Python `int`, got <class 'str'>"),
        (1, {0: 1}, TypeError, "fn for key 0 must be callable"),
        (1, {0: abs, 2: abs}, ValueError, r"contiguous range of \[0 to 2\) but found \{0,2\}"),
    ],
)
def test_errors_are_those_of_tensorflow(index, functions, error, text):
    with tf.Graph().as_default(), pytest.raises(error, match=text):
        is_tensor = "got <class 'int'>" not in text
        tf.switch_case(tf.constant(index) if is_tensor else index, functions)
