"""A run that is stopped and resumed goes on with the same bits; state that does not fit is not guessed."""

import logging
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import stillflow as tf
from stillflow.saver import session_state

KILLS = int(os.environ.get("STILLFLOW_KILLS", "5"))  # many more each week, see .ci/weekly
STATE_KEY = b"_STILLFLOW_RANDOM_STATE"


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def model(seed=5, extra=False):
    """Something to train with dropout, a learning sampler, and an unseeded stream."""
    tf.set_random_seed(seed)
    weights = tf.get_variable("weights", [20, 8])
    labels = tf.constant([[1], [3], [7]], tf.int64)
    ids, expected, _ = tf.nn.learned_unigram_candidate_sampler(labels, 1, 4, False, 20)
    noise = tf.random_normal([3, 8])
    inputs = tf.nn.dropout(tf.gather(weights, labels[:, 0]) + noise, rate=0.5)
    loss = tf.reduce_sum(tf.square(inputs)) + tf.reduce_sum(tf.gather(weights, ids)) + tf.reduce_sum(expected)
    if extra:
        tf.random_uniform([2], name="extra")
    return weights, tf.train.AdagradOptimizer(0.1).minimize(loss)


def test_a_resumed_run_goes_on_with_the_same_bits():
    weights, train = model()
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(train)
        saver.save(session, "./m")
        for _ in range(3):
            session.run(train)
        expected = session.run(weights)
    for wait in range(2):
        with tf.Session() as session:
            if wait:  # also if other numbers have been drawn before
                session.run(tf.global_variables_initializer())
                session.run(train)
            saver.restore(session, "./m")
            for _ in range(3):
                session.run(train)
            assert session.run(weights).tobytes() == expected.tobytes()
    with tf.Graph().as_default():
        saver = tf.train.import_meta_graph("m.meta")
        with tf.Session() as session:
            saver.restore(session, "./m")
            for _ in range(3):
                session.run("Adagrad")
            assert session.run("weights:0").tobytes() == expected.tobytes()


def names_in(path):
    from stillflow import _engine

    return _engine.CheckpointReader(path.encode()).tensors.keys()


def test_which_savers_keep_the_state():
    weights, train = model()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        tf.train.Saver().save(session, "./default")
        tf.train.Saver(sharded=True).save(session, "./sharded")
        tf.train.Saver(tf.global_variables()).save(session, "./listed")
        tf.train.Saver(save_random_state=False).save(session, "./off")
        tf.train.Saver([weights], save_random_state=True).save(session, "./on")
    kept = {path: STATE_KEY in names_in(path) for path in ("default", "sharded", "listed", "off", "on")}
    assert kept == {"default": True, "sharded": True, "listed": False, "off": False, "on": True}
    assert [name for name, _ in tf.train.list_variables("default")] == ["weights", "weights/Adagrad"]
    assert "STILLFLOW" not in tf.train.NewCheckpointReader("default").debug_string().decode()


def test_without_random_ops_a_checkpoint_is_as_tensorflow_writes_it():
    tf.Variable(1.0, name="v")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, "./m")
    assert list(names_in("m")) == [b"v"]


def test_state_that_does_not_fit_is_reported_and_left_alone(caplog):
    weights, train = model(extra=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(["extra:0", train])
        tf.train.Saver().save(session, "./m")
        saved = session.run(weights)
    with tf.Graph().as_default():
        weights, _ = model()
        with tf.Session() as session, caplog.at_level(logging.WARNING, "tensorflow"):
            tf.train.Saver().restore(session, "m")
            assert session.run(weights).tobytes() == saved.tobytes()
            assert tf.random_state(session)["streams"] == {}
        text = "The random state saved in m does not fit the graph and is not restored: there is no operation extra"
        assert text in caplog.text
        caplog.clear()
        with tf.Session() as session:
            session.run(weights.initializer)
            before = session.run(weights)
            with pytest.raises(tf.errors.FailedPreconditionError, match="there is no operation extra"):
                tf.train.Saver(save_random_state=True).restore(session, "m")
            assert session.run(weights).tobytes() == before.tobytes()
            tf.train.Saver(save_random_state=False).restore(session, "m")
            assert not caplog.text
    with tf.Graph().as_default():
        model(seed=6, extra=True)
        with tf.Session() as session, pytest.raises(tf.errors.FailedPreconditionError, match="has the seeds 6 and"):
            tf.train.Saver(save_random_state=True).restore(session, "m")


@pytest.mark.parametrize("value", [b"", b"{}", b'{"version": 2}', b'{"version": 1, "streams": 3, "states": {}}',
                                   b'{"version": 1, "streams": {"w": [1]}, "states": {}}', b"\xff"])  # fmt: skip
def test_state_that_cannot_be_read(value):
    tf.Variable(1.0, name="v")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session_state._engine.set_note(session._core, b"./m", STATE_KEY, value)
        tf.train.Saver(save_random_state=False).save(session, "./m")
        tf.train.Saver().restore(session, "./m")
        with pytest.raises(tf.errors.FailedPreconditionError, match="does not fit the graph"):
            tf.train.Saver(save_random_state=True).restore(session, "./m")


def test_other_parts_of_a_session_come_along(monkeypatch):
    position = {"at": 3}

    def check(session, data):
        if not data.isdigit():
            raise session_state.MisfitError("it is no number")

    monkeypatch.setitem(session_state._parts, "POSITION", session_state._Part(
        lambda session: str(position["at"]).encode(), check, lambda session, data: position.update(at=int(data))
    ))  # fmt: skip
    tf.Variable(1.0, name="v")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        saver = tf.train.Saver()
        saver.save(session, "./m")
        position["at"] = 9
        saver.restore(session, "./m")
    assert position["at"] == 3


def training_run():
    """Training with an input pipeline, dropout and NCE sampling; the order of everything follows from one seed."""
    tf.set_random_seed(7)
    words = np.random.RandomState(0).randint(20, size=[90, 2])
    pairs = tf.data.Dataset.from_tensor_slices((words[:, 0], words[:, 1:]))
    iterator = pairs.shuffle(32).repeat().batch(8).prefetch(2).make_initializable_iterator()
    inputs, labels = iterator.get_next()
    embeddings = tf.get_variable("embeddings", [20, 8])
    weights, biases = tf.get_variable("weights", [20, 8]), tf.get_variable("biases", [20])
    features = tf.nn.dropout(tf.nn.embedding_lookup(embeddings, inputs), rate=0.3)
    loss = tf.reduce_mean(tf.nn.nce_loss(weights, biases, tf.cast(labels, tf.int64), features, 5, 20))
    step = tf.train.get_or_create_global_step()
    train = tf.train.AdagradOptimizer(0.1).minimize(loss, global_step=step)
    return iterator, train, step, [embeddings, weights, biases]


TRAINING = """
import hashlib, sys
sys.path.insert(0, sys.argv[3])
import stillflow as tf
from saver.test_exact_resume import training_run

steps = int(sys.argv[2])
iterator, train, step, variables = training_run()
saver = tf.train.Saver(max_to_keep=2)
with tf.Session() as session:
    session.run([tf.global_variables_initializer(), iterator.initializer])
    latest = tf.train.latest_checkpoint(sys.argv[1])
    if latest:
        saver.restore(session, latest)
    at = session.run(step)
    print("ready", at, flush=True)
    while at < steps:
        session.run(train)
        at += 1
        print(at, flush=True)
        if at % 5 == 0:
            saver.save(session, sys.argv[1] + "/m", global_step=step, write_meta_graph=False)
    print(hashlib.sha256(b"".join(value.tobytes() for value in session.run(variables))).hexdigest())
"""
STEPS = 600


def test_killed_and_resumed_over_and_over(tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    tests = str(Path(__file__).parent.parent)

    def start(folder):
        (tmp_path / folder).mkdir(exist_ok=True)
        command = [sys.executable, "-c", TRAINING, str(tmp_path / folder), str(STEPS), tests]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)

    with start("straight") as process:
        expected = process.communicate()[0].split()[-1]
    generator = random.Random(1)
    begins = []
    for _ in range(KILLS):
        with start("killed") as process:
            begins.append(int(process.stdout.readline().split()[1]))
            for _ in range(generator.randrange(STEPS // KILLS)):
                process.stdout.readline()
            time.sleep(generator.random() * 0.002)
            process.send_signal(signal.SIGKILL)
    with start("killed") as process:
        begins.append(int(process.stdout.readline().split()[1]))
        assert process.communicate()[0].split()[-1] == expected
    in_the_middle = [at for at in begins if 0 < at < STEPS]
    assert len(set(in_the_middle)) > KILLS // 2, begins
    assert np.char.isalnum(expected)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_what_waits_in_accumulators_goes_on_waiting(is_sparse):
    """As the statistics of batches wait in boosted trees whose layers are of several batches."""
    tf.get_variable("v", [])
    saver = tf.train.Saver()
    gradients = tf.placeholder(tf.float32, [None, 2])
    if is_sparse:
        accumulator = tf.SparseConditionalAccumulator(tf.float32, [4, 2])
        add = accumulator.apply_grad([1, 3], gradients, grad_shape=[4, 2])
    else:
        accumulator = tf.ConditionalAccumulator(tf.float32, [2, 2])
        add = accumulator.apply_grad(gradients)
    count, take = accumulator.num_accumulated(), accumulator.take_grad(2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        nothing = saver.save(session, "nothing")
        session.run(add, {gradients: [[1.0, 2.0], [3.0, 4.0]]})
        one = saver.save(session, "one")
    for is_made_before in (False, True):
        with tf.Session() as session:
            if is_made_before:
                session.run(count)
            saver.restore(session, one)
            assert session.run(count) == 1
            session.run(add, {gradients: [[3.0, 6.0], [5.0, 8.0]]})
            taken = session.run(take)
            np.testing.assert_array_equal(taken.values if is_sparse else taken, [[2.0, 4.0], [4.0, 6.0]])
            assert session.run(count) == 0
    with tf.Session() as session:
        saver.restore(session, nothing)
        assert session.run(count) == 0
