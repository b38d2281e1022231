"""A plan that breaks an invariant is refused, with the pass that broke it, the node and the value in the message."""

import subprocess
import sys

import numpy as np
import pytest

import stillflow as tf
from stillflow.plan.fusions import lower_elementwise
from stillflow.plan.guards import both_ways
from stillflow.plan.ir import Value, constant_of
from stillflow.plan.lift import lift
from stillflow.plan.prune import needed_operations
from stillflow.plan.slots import Slots
from stillflow.plan.verify import PlanError, is_on, verify, verify_slots


def lifted(fetches, feeds):
    return lift(needed_operations(fetches, [], feeds), feeds, fetches, [], [feed._dims for feed in feeds])


@pytest.fixture
def plan(new_graph):
    """sum(exp(x) + tanh(x)): Exp, Tanh, add, Sum."""
    x = tf.placeholder(tf.float32, [3, 4], name="x")
    plan = lifted([tf.reduce_sum(tf.add(tf.exp(x), tf.tanh(x)), 0)], [x])
    verify(plan, "lift")
    return plan


def node_of(plan, node_type):
    (node,) = (node for node in plan.nodes if node.type == node_type)
    return node


def use_before_definition(plan):
    plan.nodes.reverse()


def lost_node(plan):
    plan.nodes.remove(node_of(plan, "Tanh"))


def lost_fetch(plan):
    plan.nodes.remove(node_of(plan, "Sum"))


def two_definitions(plan):
    plan.nodes.insert(0, node_of(plan, "Exp"))


def wrong_producer(plan):
    node_of(plan, "Exp").outputs[0].producer = node_of(plan, "Tanh")


def lost_input(plan):
    node_of(plan, "Add").inputs.pop()


def wrong_dtype(plan):
    value = Value(tf.int32, (3, 4))
    plan.feed_values.append(value)
    node_of(plan, "Exp").inputs[0] = value


def wrong_output_dtype(plan):
    node_of(plan, "Exp").outputs[0].dtype = tf.float64


def wrong_shape(plan):
    node_of(plan, "Add").outputs[0].dims = (4, 3)


def impossible_shape(plan):
    node_of(plan, "Exp").outputs[0].dims = (3, -4)


def constant_of_another_shape(plan):
    node_of(plan, "Exp").outputs[0].constant = np.zeros([4, 3], np.float32)


def constant_of_another_dtype(plan):
    node_of(plan, "Exp").outputs[0].constant = np.zeros([3, 4])


def undecided_condition(plan):
    plan.is_guarded = True
    node_of(plan, "Exp").guard = frozenset({both_ways(frozenset())[0]})


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (use_before_definition, r"Sum \[Sum\] reads Add:0, which no node before it makes"),
        (lost_node, r"Add \[Add\] reads Tanh:0, which no node before it makes"),
        (lost_fetch, "no node makes the fetched Sum:0"),
        (two_definitions, r"Exp \[Exp\] makes Exp:0, which was made before"),
        (wrong_producer, r"Exp \[Exp\] makes Exp:0, whose producer is Tanh\(x:0\) \[Tanh\]"),
        (lost_input, r"Add \[Add\] has 1 inputs instead of 2"),
        (wrong_dtype, r"Exp \[Exp\] has \? of type int32 where its op has float32"),
        (wrong_output_dtype, r"Exp \[Exp\] has Exp:0 of type float64 where its op has float32"),
        (wrong_shape, r"Add \[Add\] makes Add:0 of shape \(4, 3\), which its rule says is \(3, 4\)"),
        (impossible_shape, r"Exp \[Exp\] has Exp:0 of shape \(3, -4\)"),
        (constant_of_another_shape, r"has Exp:0 of shape \(3, 4\), but a constant of shape \(4, 3\)"),
        (constant_of_another_dtype, "has Exp:0 of type float32, but a constant of float64"),
        (undecided_condition, r"Exp \[Exp\] runs under a condition that no node before it decides"),
    ],
)
def test_a_broken_plan_is_refused(plan, broken, message):
    broken(plan)
    with pytest.raises(PlanError, match=f"after simplify, .*{message}"):
        verify(plan, "simplify")


def test_a_loop_variable_that_nothing_makes_is_refused(new_graph):
    x = tf.placeholder(tf.float32, [], name="x")
    plan = lifted([tf.while_loop(lambda i: i < 9, lambda i: i + x, [x])], [x])
    verify(plan, "lift")
    node_of(plan, "_LoopNext").attrs["variables"] = (Value(tf.float32, ()),)
    with pytest.raises(PlanError, match="no node makes the loop variable"):
        verify(plan, "lift")


def test_a_constant_needs_no_node(plan):
    node_of(plan, "Add").inputs[0] = constant_of(np.ones([3, 4], np.float32))
    verify(plan, "fold")


# ---- Slots --------------------------------------------------------------------------------------------------


@pytest.fixture
def steps(new_graph):
    """The plan and slots of three products in a row, of which the first is read by the last, too."""
    x = tf.placeholder(tf.float32, [2, 2], name="x")
    first = tf.matmul(x, x, name="first")
    plan = lifted([tf.matmul(tf.matmul(first, x, name="second"), first, name="third")], [x])
    slots = Slots(plan)
    verify_slots(plan, slots)
    return plan, slots


def test_a_slot_that_holds_another_value_is_refused(steps):
    plan, slots = steps
    slots.steps[1].inputs[0] = slots.of[plan.feed_values[0]]
    with pytest.raises(PlanError, match=r"step 1 \[second\] reads first:0 from slot 0, which does not hold it"):
        verify_slots(plan, slots)


def test_a_value_given_up_too_early_is_refused(steps):
    plan, slots = steps
    slots.steps[1].dying |= 1
    with pytest.raises(PlanError, match=r"step 1 \[second\] marks first:0 as dying, but it is read later"):
        verify_slots(plan, slots)


def test_a_slot_in_use_that_is_overwritten_is_refused(steps):
    plan, slots = steps
    slots.steps[1].outputs[0] = slots.steps[0].outputs[0]
    with pytest.raises(PlanError, match=r"step 1 \[second\] writes second:0 over first:0 in slot"):
        verify_slots(plan, slots)


def test_a_slot_released_too_early_is_refused(steps):
    plan, slots = steps
    slots.steps[1].releases.append(slots.steps[0].outputs[0])
    with pytest.raises(PlanError, match=r"step 1 \[second\] releases first:0 in slot 1, which is read later"):
        verify_slots(plan, slots)


def test_a_fetched_value_that_is_gone_is_refused(steps):
    plan, slots = steps
    slots.steps[2].releases.append(slots.steps[2].outputs[0])
    with pytest.raises(PlanError, match=r"releases third:0 in slot \d, which is read later"):
        verify_slots(plan, slots)
    slots.steps[2].releases.pop()
    slots.steps[2].outputs[0] = slots.count
    with pytest.raises(PlanError, match=r"slot \d does not hold the fetched third:0"):
        verify_slots(plan, slots)


def test_what_comes_from_outside_a_loop_stays_for_its_next_round(new_graph):
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.exp(x)
    plan = lifted([tf.while_loop(lambda i: i < 9, lambda i: i + y, [x])], [x])
    lower_elementwise(plan)
    slots = Slots(plan)
    verify_slots(plan, slots)
    (reader,) = (i for i, node in enumerate(plan.nodes) if y in [value.source for value in node.inputs][1:])
    slots.steps[reader].releases.append(slots.steps[reader].inputs[1])
    with pytest.raises(PlanError, match="releases Exp:0 in slot"):
        verify_slots(plan, slots)


# ---- Where it runs ------------------------------------------------------------------------------------------


def test_every_pass_of_a_session_is_verified(new_graph, monkeypatch):
    passes = []
    import stillflow.plan as plan_module
    import stillflow.plan.fusions as fusions

    def note(plan, after):
        passes.append(after)

    for module in (plan_module, fusions):
        monkeypatch.setattr(module, "verify", note)
    tf.Session().run(tf.exp(tf.placeholder_with_default([1.0], [None])))
    assert set(passes) >= {"lift", "drop", "simplify", "merge", "spread", "fold", *fusions.names()}


def test_programs_do_not_verify():
    program = (
        "from stillflow.plan.verify import is_on, verify, verify_slots\n"
        "assert not is_on\n"
        "verify(None, 'nothing is looked at')\n"
        "verify_slots(None, None)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env={})
    assert is_on
