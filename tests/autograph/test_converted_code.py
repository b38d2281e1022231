"""tf.autograph: conversion of Python's control flow, and what cannot be converted."""

import numpy as np
import pytest
from converted_cases import CASES, absolute, jumps

import stillflow as tf


def evaluated(value):
    with tf.Session() as session:
        return tf.nest.map_structure(lambda x: session.run(x).tolist() if isinstance(x, tf.Tensor) else x, value)


@pytest.mark.parametrize("function, args, expected", CASES)
def test_values(function, args, expected):
    made = tf.autograph.to_graph(function)
    assert evaluated(made(*map(tf.constant, args))) == expected
    assert evaluated(tf.function(function)(*map(tf.constant, args))) == expected


def test_python_values_keep_pythons_control_flow():
    seen = []

    def collect(n):
        for i in range(n):
            if i % 2:
                continue
            if i > 6:
                break
            seen.append(i)
        else:
            seen.append("end")
        while seen and seen[-1] != 2:
            seen.pop()
        return len(seen)

    assert tf.autograph.to_graph(collect)(10) == 2
    assert tf.get_default_graph().get_operations() == []


def test_methods_closures_and_globals():
    class Base:
        def call(self, x):
            if x > 0:
                return x
            return -x

    class Derived(Base):
        __factor = 3

        def call(self, x):
            y = super().call(x)
            while y < 10:
                y = y * self.__factor
            return y

        @tf.function
        def run(self, x):
            return self.call(x) + count

    count = 2
    assert evaluated(Derived().run(tf.constant(-2))) == 20


def test_graph_is_that_of_cond_and_while_loop():
    tf.autograph.to_graph(absolute)(tf.placeholder(tf.int32, [], "x"))
    types = {op.type for op in tf.get_default_graph().get_operations()}
    assert {"Switch", "Merge", "Neg", "Greater"} <= types
    tf.autograph.to_graph(jumps)(tf.placeholder(tf.int32, [], "n"))
    assert {"Enter", "Exit", "NextIteration"} <= {op.type for op in tf.get_default_graph().get_operations()}


def _undefined(x):
    if x > 0:
        y = 1
    return y


def _undefined_in_loop(n):
    for i in tf.range(n):
        z = i
    return z


def _other_type(x):
    if x > 0:
        y = 1
    else:
        y = 2.0
    return y


def _return_in_loop(n):
    for i in tf.range(n):
        if i > 3:
            return i
    return n


def _other_type_after_round(n):
    y = 1
    while n < 3:
        y = y * 1
        y = tf.cast(y, tf.float32)
        n += 1
    return y


@pytest.mark.parametrize(
    "function, error, message",
    [
        (_undefined, ValueError, r"must also be initialized in the else branch: \('y',\)"),
        (_undefined_in_loop, ValueError, r"must be defined before the loop: \('z',\)"),
        (_other_type, TypeError, '"y" has dtype int32 in the TRUE branch, but dtype=float32 in the FALSE branch'),
        (_return_in_loop, ValueError, "return statements are not supported within a TensorFlow loop"),
        (_other_type_after_round, TypeError, '"y" has dtype int32 before the loop, but dtype float32 after one'),
    ],
)
def test_what_cannot_become_part_of_a_graph(function, error, message):
    with pytest.raises(error, match=message):
        tf.autograph.to_graph(function)(tf.constant(1))


def test_do_not_convert():
    with pytest.raises(TypeError, match="Python `bool` is not allowed"):
        tf.function(tf.autograph.experimental.do_not_convert(absolute))(tf.constant(1))


def test_features():
    def compare(x):
        assert x > 0, "not above zero"
        if x == 3:
            return tf.constant(1)
        return tf.constant(0)

    made = tf.autograph.to_graph(compare, experimental_optional_features=tf.autograph.experimental.Feature.ALL)
    assert evaluated([made(tf.constant(3)), made(tf.constant(4))]) == [1, 0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="not above zero"):
        evaluated(made(tf.constant(-1)))


def test_source_of_what_is_made():
    text = tf.autograph.to_code(absolute)
    assert "ag__.if_stmt(" in text
    compile(text, "converted", "exec")


def test_functions_of_data_sets_are_converted():
    def tenfold(x):
        if x > 3:
            return x * 10
        return x

    data = tf.data.Dataset.range(6).map(tenfold).filter(lambda x: x > 2 and x < 45)
    element = tf.data.make_one_shot_iterator(data).get_next()
    with tf.Session() as session:
        assert [session.run(element), session.run(element)] == [3, 40]


def test_loop_over_a_data_set():
    @tf.function
    def total(data):
        result = tf.constant(0, tf.int64)
        for i, x in enumerate(data):
            result += x * i
        return result

    assert evaluated(total(tf.data.Dataset.range(4))) == 14


def test_effects_in_loops_and_branches_run_in_order():
    variable = tf.Variable(1, use_resource=True)

    @tf.function
    def change(n):
        for i in tf.range(n):
            if i > 1:
                variable.assign_add(i)
            else:
                variable.assign(variable * 2)
        return variable.read_value()

    result = change(tf.constant(4))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(result) == 9
        np.testing.assert_array_equal(session.run(variable), 9)


FACTOR = 3


def test_eval_finds_the_names_around_it():
    def function(x, more):
        y = eval("x * 2 + FACTOR")
        if more:
            z = x * 5  # noqa: F841
            y = y + eval("z")
        return y

    parts = tf.data.Dataset.range(3).map(lambda x: function(x, True))
    assert evaluated(tf.data.experimental.get_single_element(parts.batch(3))) == [3, 10, 17]
