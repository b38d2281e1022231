"""Conditions and loops as nodes that call functions give the bits of those that are Switch and Merge nodes."""

import numpy as np
import pytest

import stillflow as tf


@pytest.fixture(autouse=True)
def switched_off_again():
    yield
    tf.disable_control_flow_v2()


def _numbers(*shape):
    return tf.constant(np.random.RandomState(len(shape)).uniform(-1, 1, shape), tf.float32)


def attention():
    seq2seq = tf.contrib.seq2seq
    mechanism = seq2seq.BahdanauAttention(3, _numbers(2, 4, 3), memory_sequence_length=[4, 2])
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.LSTMCell(3), mechanism, attention_layer_size=3)
    helper = seq2seq.TrainingHelper(_numbers(2, 5, 3), [5, 3])
    decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32), tf.layers.Dense(4))
    outputs, _, lengths = seq2seq.dynamic_decode(decoder)
    return [outputs.rnn_output, lengths, *tf.gradients(outputs.rnn_output, tf.trainable_variables())]


def beams():
    seq2seq = tf.contrib.seq2seq
    decoder = seq2seq.BeamSearchDecoder(
        tf.nn.rnn_cell.GRUCell(3), tf.get_variable("embeddings", [6, 3]), [0, 0], 1,
        seq2seq.tile_batch(tf.zeros([2, 3]), 2), 2, tf.layers.Dense(6),
    )  # fmt: skip
    outputs, _, lengths = seq2seq.dynamic_decode(decoder, maximum_iterations=5)
    return [outputs.predicted_ids, lengths]


def branches_and_loops_in_loops():
    x = tf.constant([1.0, 2.0])

    def body(i, y):
        def inner():
            return tf.while_loop(lambda j, z: j < i, lambda j, z: (j + 1, z + tf.sin(z) * x), [0, y])[1]

        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: y * x, inner)

    y = tf.while_loop(lambda i, y: i < 4, body, [0, x])[1]
    return [y, *tf.gradients(y, x)]


def recurrent_nets():
    x = _numbers(2, 5, 3)
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(4), tf.nn.rnn_cell.GRUCell(3)])
    outputs, _ = tf.nn.bidirectional_dynamic_rnn(
        cell, tf.nn.rnn_cell.BasicRNNCell(2), x, sequence_length=[5, 2], dtype=tf.float32
    )
    return [*outputs, *tf.gradients(outputs, [*tf.trainable_variables(), x])]


def rows_of_a_table():
    table = tf.get_variable("table", [5, 3])

    def body(i, y):
        return i + 1, y + tf.reduce_sum(tf.nn.embedding_lookup(table, [i, i + 1]))

    y = tf.while_loop(lambda i, y: i < 3, body, [0, 0.0])[1]
    return [y, tf.convert_to_tensor(tf.gradients(y, table)[0])]


def functional():
    x = _numbers(3, 2)
    scanned = tf.scan(lambda a, v: (a[0] + v, a[1] * v), x, (tf.zeros(2), tf.ones(2)))
    folded = tf.foldl(lambda a, v: a * 2 + v, x)
    mapped = tf.map_fn(lambda v: (v, tf.reduce_sum(v)), x, dtype=(tf.float32, tf.float32))
    found = [*scanned, folded, *mapped]
    return [*found, *tf.gradients(found, x)]


def cases():
    n = tf.constant(2)
    return [
        tf.case([(n < 1, lambda: n * 10), (n < 3, lambda: n * 20)], default=lambda: n),
        tf.switch_case(n, [lambda: n, lambda: n + 1, lambda: n + 5]),
    ]


def _values(build):
    with tf.Graph().as_default() as graph, tf.Session() as session:
        found = build()
        session.run(tf.global_variables_initializer())
        random = np.random.RandomState(7)
        for variable in tf.global_variables():
            variable.load(random.uniform(-0.3, 0.3, variable.shape.as_list()), session)
        return {node.op for node in graph.as_graph_def().node}, session.run(found)


# The gradient of a table is IndexedSlices where the loop is Switch and Merge nodes.
@pytest.mark.filterwarnings("ignore:Converting sparse IndexedSlices")
@pytest.mark.parametrize(
    "build", [attention, beams, branches_and_loops_in_loops, recurrent_nets, rows_of_a_table, functional, cases]
)
def test_same_bits(build):
    _, expected = _values(build)
    tf.enable_control_flow_v2()
    types, found = _values(build)
    assert {"While", "StatelessIf", "If"} & types
    assert not {"Switch", "Merge", "Enter", "TensorArrayV3"} & types
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_second_derivatives_go_through_loops():
    tf.enable_control_flow_v2()
    x = tf.constant(2.0)
    y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, x])[1]
    first = tf.gradients(y, x)[0]
    with tf.Session() as session:
        assert session.run([y, first, tf.gradients(first, x)[0]]) == [16.0, 32.0, 48.0]


def _derivative_by_tape(function, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x)


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize(
    "choose",
    [
        lambda function, x: tf.cond(x > 2.0, lambda: function(x), lambda: x),
        lambda function, x: tf.while_loop(lambda i, _: i < 1, lambda i, _: (i + 1, function(x)), [0, x])[1],
        lambda function, x: tf.case([(x > 2.0, lambda: function(x))], default=lambda: x),
    ],
    ids=["cond", "while_loop", "case"],
)
def test_tapes_see_what_functions_take_from_outside(choose, inside):
    tf.enable_control_flow_v2()
    x = tf.constant(3.0)
    square = lambda x: x * x  # noqa: E731
    if inside:
        found = choose(lambda x: _derivative_by_tape(square, x), x)
    else:
        found = _derivative_by_tape(lambda x: choose(square, x), x)
    with tf.Session() as session:
        assert session.run(found) == 6.0


def test_indices_of_two_types_become_int64():
    tf.enable_control_flow_v2()
    slices = [tf.IndexedSlices(tf.ones([1, 1]), tf.constant([2], dtype)) for dtype in (tf.int32, tf.int64)]
    chosen = tf.cond(tf.placeholder_with_default(True, []), lambda: slices[0], lambda: slices[1])
    with tf.Session() as session:
        found = session.run(chosen)
    assert (found.indices.dtype, found.indices.tolist(), found.values.tolist()) == (np.int64, [2], [[1.0]])


def test_slices_and_a_tensor_are_not_reconciled():
    tf.enable_control_flow_v2()
    slices = tf.IndexedSlices(tf.ones([1, 1]), tf.constant([2]))
    with pytest.raises(TypeError, match=r"Cannot reconcile tf\.cond 0-th outputs:\n  branches returned: \("):
        tf.cond(tf.constant(True), lambda: slices, lambda: tf.ones([1, 1]))
