"""Patterns: a program is found in a plan wherever the plan computes the same."""

import pytest

import stillflow as tf
from stillflow import ops
from stillflow.graph import dtypes
from stillflow.plan.lift import lift
from stillflow.plan.merge import merge
from stillflow.plan.patterns import find, make_pattern
from stillflow.plan.prune import needed_operations
from stillflow.plan.simplify import simplify


def reduce(plan):
    simplify(plan)
    merge(plan)


def plan_of(fetches, feeds):
    plan = lift(needed_operations(fetches, [], feeds), feeds, fetches, [], [feed._dims for feed in feeds])
    reduce(plan)
    return plan


def bias_relu(dims=(4, 3)):
    def build(x, bias):
        return [ops.relu(ops.add_v2(ops.matmul(x, x, transpose_b=True), bias))]

    return make_pattern(build, [(dtypes.float32, dims), (dtypes.float32, (dims[0],))], reduce)


@pytest.fixture
def inputs(new_graph):
    return tf.placeholder(tf.float32, [4, 3]), tf.placeholder(tf.float32, [4])


def test_a_program_is_found_whoever_wrote_it(inputs):
    x, bias = inputs
    product = tf.matmul(tf.identity(x), tf.reshape(x, [4, 3]), transpose_b=True) * 1.0
    y = tf.nn.relu(tf.identity(ops.add_v2(product, bias)))
    plan = plan_of([tf.reduce_sum(y)], [x, bias])
    match = find(bias_relu(), plan)
    assert [value.source for value in match.inputs()] == [x, bias]
    assert match.outputs()[0].source is y
    assert sorted(node.type for node in match.nodes.values()) == ["AddV2", "MatMul", "Relu"]
    assert match.is_closed(plan)


def test_what_is_fetched_inside_opens_the_match(inputs):
    x, bias = inputs
    product = tf.matmul(x, x, transpose_b=True)
    y = tf.nn.relu(ops.add_v2(product, bias))
    plan = plan_of([y, product], [x, bias])
    match = find(bias_relu(), plan)
    assert match is not None and not match.is_closed(plan)
    plan = plan_of([y, tf.reduce_sum(product)], [x, bias])
    assert not find(bias_relu(), plan).is_closed(plan)


@pytest.mark.parametrize(
    "build",
    [
        lambda x, bias: tf.nn.relu(ops.add_v2(tf.matmul(x, x + 1.0, transpose_b=True), bias)),
        lambda x, bias: tf.nn.relu(ops.sub(tf.matmul(x, x, transpose_b=True), bias)),
        lambda x, bias: tf.nn.relu6(ops.add_v2(tf.matmul(x, x, transpose_b=True), bias)),
        lambda x, bias: tf.nn.relu(ops.add_v2(tf.matmul(x, x, transpose_a=True), bias[:3])),
        lambda x, bias: ops.add_v2(tf.matmul(x, x, transpose_b=True), bias),
    ],
)
def test_other_programs_are_not_taken_for_it(inputs, build):
    x, bias = inputs
    assert find(bias_relu(), plan_of([build(x, bias)], [x, bias])) is None


def test_shapes_and_constants_count(inputs):
    x, bias = inputs
    y = tf.nn.relu(ops.add_v2(tf.matmul(x, x, transpose_b=True), bias))
    assert find(bias_relu((5, 3)), plan_of([y], [x, bias])) is None

    def scaled(factor):
        return make_pattern(lambda t: [ops.mul(t, ops.constant([factor] * 4))], [(dtypes.float32, (4,))], reduce)

    plan = plan_of([bias * tf.constant([2.0] * 4)], [bias])
    assert find(scaled(2.0), plan) is not None
    assert find(scaled(3.0), plan) is None
    match = find(scaled(3.0), plan, same_constants=False)
    assert len(match.constants) == 1
