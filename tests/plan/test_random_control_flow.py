"""Random programs of branches and loops in each other: what the graph computes is what Python computes."""

import random

import numpy as np
import pytest

import stillflow as tf
from stillflow.testing import check_gradient

WIDTH = 3  # how many numbers a program works on
LIMIT = 1000


def make_block(rng, depth):
    return [make_statement(rng, depth) for _ in range(rng.randint(1, 3))]


def make_statement(rng, depth):
    kind = rng.choice(["set", "set", "swap", "count", "divide"] + (["if", "if", "while"] if depth else []))
    a, b, c = (rng.randrange(WIDTH) for _ in range(3))
    if kind == "if":
        return kind, a, rng.randint(2, 3), make_block(rng, depth - 1), make_block(rng, depth - 1)
    if kind == "while":
        return kind, a, rng.randint(0, 3), make_block(rng, depth - 1)
    return kind, a, b, c, rng.randint(1, 9)


# ---- Python ---------------------------------------------------------------------------------------------------


def run_block(block, state, counts):
    for statement in block:
        state = run_statement(statement, list(state), counts)
    return state


def run_statement(statement, state, counts):
    kind, a = statement[:2]
    if kind == "set":
        _, a, b, c, k = statement
        state[a] = (state[b] * k + state[c]) % LIMIT
    elif kind == "swap":
        _, a, b, c, k = statement
        state[a], state[b] = state[b], (state[a] + k) % LIMIT
    elif kind == "divide":  # fails where the divisor is 0
        _, a, b, c, k = statement
        state[a] = state[b] // (state[c] % k)
    elif kind == "count":
        counts[a] += state[statement[2]] % 7
    elif kind == "if":
        _, a, k, yes, no = statement
        state = run_block(yes if state[a] % k == 0 else no, state, counts)
    else:
        _, a, rounds, body = statement
        i = 0
        while i < rounds and state[a] % 5 != 4:
            i, state = i + 1, run_block(body, state, counts)
    return state


# ---- The graph ------------------------------------------------------------------------------------------------


def build_block(block, state, variables):
    for statement in block:
        state = build_statement(statement, list(state), variables)
    return state


def build_statement(statement, state, variables):
    kind, a = statement[:2]
    if kind == "set":
        _, a, b, c, k = statement
        state[a] = (state[b] * k + state[c]) % LIMIT
    elif kind == "swap":
        _, a, b, c, k = statement
        state[a], state[b] = state[b], (state[a] + k) % LIMIT
    elif kind == "divide":
        _, a, b, c, k = statement
        state[a] = state[b] // (state[c] % k)
    elif kind == "count":
        with tf.control_dependencies([tf.assign_add(variables[a], state[statement[2]] % 7)]):
            state = [tf.identity(x) for x in state]
    elif kind == "if":
        _, a, k, yes, no = statement
        state = tf.cond(
            tf.equal(state[a] % k, 0),
            lambda: build_block(yes, state, variables),
            lambda: build_block(no, state, variables),
        )
    else:
        _, a, rounds, body = statement
        _, state = tf.while_loop(
            lambda i, s: tf.logical_and(i < rounds, tf.not_equal(s[a] % 5, 4)),
            lambda i, s: [i + 1, build_block(body, s, variables)],
            [tf.constant(0), list(state)],
            parallel_iterations=1,
        )
    return list(state)


@pytest.mark.parametrize("seed", range(60))
def test_graphs_compute_what_python_computes(seed):
    rng = random.Random(seed)
    block = make_block(rng, 3)
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        fed = [tf.placeholder(tf.int32, []) for _ in range(WIDTH)]
        with tf.variable_scope("", use_resource=bool(seed % 2)):
            variables = [tf.Variable(0) for _ in range(WIDTH)]
        if seed % 4 == 0:  # known values decide while planning
            fed[0] = tf.constant(rng.randrange(LIMIT))
        elif seed % 4 == 1:
            fed = [tf.constant(rng.randrange(LIMIT)) for _ in range(WIDTH)]
        results = [tf.identity(x) for x in build_block(block, fed, variables)]
        session.run([v.initializer for v in variables])
        counts = [0] * WIDTH
        for _ in range(6):
            values = [rng.randrange(LIMIT) for _ in range(WIDTH)]
            feed = {x: value for x, value in zip(fed, values, strict=True) if x.op.type == "Placeholder"}
            for i, x in enumerate(fed):
                if x.op.type == "Const":
                    values[i] = int(tf.get_static_value(x))
            try:
                expected = run_block(block, values, counts)
            except ZeroDivisionError:
                with pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero"):
                    session.run(results, feed)
                break
            assert session.run(results, feed) == expected
            assert session.run(variables) == counts


@pytest.mark.parametrize("seed", range(100, 112))
def test_gradients_of_random_programs(seed):
    """Differences of the value of a random smooth program agree with its gradients."""
    rng = random.Random(seed)

    def build_smooth(x, w, depth):
        for _ in range(rng.randint(1, 2)):
            x = build_step(x, w, depth)
        return x

    def build_step(x, w, depth):
        kind = rng.choice(["sin", "mul", "if", "while"] if depth else ["sin", "mul"])
        if kind == "sin":
            return tf.sin(x) + w
        if kind == "mul":
            return x * tf.cos(w) * 0.5
        if kind == "if":
            pred = tf.reduce_sum(w) > rng.uniform(-0.5, 0.5)
            return tf.cond(pred, lambda: build_smooth(x, w, depth - 1), lambda: build_smooth(w, x, depth - 1))
        rounds = rng.randint(0, 3)
        start = [tf.constant(0), x]
        return tf.while_loop(lambda i, y: i < rounds, lambda i, y: (i + 1, build_smooth(y, w, depth - 1)), start)[1]

    state = rng.getstate()

    def build(x, w):
        rng.setstate(state)
        return build_smooth(x, w, 2) + 0.0 * x * w

    check_gradient(build, np.array([0.3, -0.7, 1.1]), np.array([0.9, 0.2, -0.4]))
