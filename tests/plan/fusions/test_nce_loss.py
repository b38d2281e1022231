"""nce_loss as one kernel: where it applies, and that it gives the bits of the nodes it stands for."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.session import isa
from stillflow.testing import COMBINATIONS

CLASSES, WIDTH, SAMPLES = 90, 20, 17


class Model:
    """Skip-gram with NCE; `combine` makes the scalar that is differentiated."""

    def __init__(self, batch, combine, label_dtype="int32"):
        tf.set_random_seed(3)
        self.inputs = tf.placeholder(tf.int32, [batch])
        self.labels = tf.placeholder(label_dtype, [batch, 1])
        self.embeddings = tf.Variable(tf.random_normal([CLASSES, WIDTH]))
        self.weights = tf.Variable(tf.random_normal([CLASSES, WIDTH], stddev=2.0))
        self.biases = tf.Variable(tf.random_normal([CLASSES]))
        embedded = tf.nn.embedding_lookup(self.embeddings, self.inputs)
        self.losses = tf.nn.nce_loss(self.weights, self.biases, self.labels, embedded, SAMPLES, CLASSES)
        self.loss = combine(self.losses)
        self.train = tf.train.GradientDescentOptimizer(0.3).minimize(self.loss)


def run(batch, combine, extra=None, threads=2, isa_name=None, wants_loss=True, steps=3, label_dtype="int32"):
    """The variables after some steps, the losses, and the plan. `extra` names a tensor to fetch besides."""
    rng = np.random.default_rng(batch)
    with tf.Graph().as_default() as graph:
        model = Model(batch, combine, label_dtype)
        with tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=threads)) as session:
            session._kernels = isa.kernels(isa_name)
            session.run(tf.global_variables_initializer())
            fetches = {"train": model.train}
            if wants_loss:
                fetches["loss"] = model.losses
            if extra is not None:
                fetches["extra"] = graph.get_tensor_by_name(extra)
            found = []
            for _ in range(steps):
                words = np.repeat(rng.integers(0, CLASSES, batch), 3)[:batch]
                feed = {model.inputs: words, model.labels: rng.integers(0, CLASSES, (batch, 1))}
                found.append(session.run(fetches, feed).get("loss"))
            (request,) = (r for r in session._requests.values() if model.inputs in r._fed)
            variables = session.run([model.embeddings, model.weights, model.biases])
    return [*(array for array in found if array is not None), *variables], request.plans[0].text


def step_names(plan):
    return [line.split()[1] for line in plan.splitlines() if line[:3].strip().isdigit()]


LOSSES = {
    "mean": tf.reduce_mean,
    "sum": tf.reduce_sum,
    "scaled": lambda losses: 0.25 * tf.reduce_sum(losses),
}


@pytest.mark.parametrize("combine", LOSSES.values(), ids=LOSSES)
@pytest.mark.parametrize(("batch", "wants_loss"), [(1, True), (7, False), (150, True)])
def test_same_bits_as_the_nodes(batch, combine, wants_loss):
    fused, plan = run(batch, combine, wants_loss=wants_loss)
    apart, other_plan = run(batch, combine, wants_loss=wants_loss, extra="sampled_losses/Exp:0")
    assert "nce_loss" in step_names(plan)
    assert "matmul" not in step_names(plan)
    assert "nce_loss" not in step_names(other_plan)
    for one, other in zip(fused, apart, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.tobytes() == other.tobytes()


def test_same_bits_on_every_instruction_set_and_for_every_number_of_threads():
    expected = None
    for isa_name, threads in COMBINATIONS:
        values, plan = run(150, tf.reduce_mean, threads=threads, isa_name=isa_name)
        assert "nce_loss" in step_names(plan)
        found = [array.tobytes() for array in values]
        expected = expected or found
        assert found == expected, (isa_name, threads)


def test_long_labels():
    _, plan = run(8, tf.reduce_mean, label_dtype="int64")
    assert "nce_loss" in step_names(plan)


@pytest.mark.parametrize("combine", [lambda x: tf.reduce_sum(x * x), lambda x: tf.reduce_sum(x * [1.0, 2.0])])
def test_losses_that_are_weighted_differently_stay_nodes(combine):
    _, plan = run(2, combine)
    assert "nce_loss" not in step_names(plan)


def test_classes_out_of_range_are_refused():
    model = Model(4, tf.reduce_mean)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match=rf"= {CLASSES} is not in \[0, {CLASSES}\)"):
            session.run(model.train, {model.inputs: [0] * 4, model.labels: [[1], [2], [CLASSES], [3]]})


def test_forward_alone_stays_nodes():
    model = Model(4, tf.reduce_mean)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        feed = {model.inputs: [0] * 4, model.labels: [[1], [2], [4], [3]]}
        assert session.run(model.losses, feed).shape == (4,)
        assert "nce_loss" not in step_names(list(session._requests.values())[-1].plans[0].text)
