"""tf.contrib.training: what TensorFlow 1.15.5 makes of it is in tests/golden/contrib_training.json.

Runs in Python 3.7, too, where tools/record_golden.py records it.
"""

import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
from contrib.slim_scenarios import digest


def _run(tf, tensors, times):
    """The values of tensors in a number of runs, with queue runners."""
    config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    with tf.Session(config=config) as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        found = []
        for _ in range(times):
            found.append([np.asarray(value).tolist() for value in session.run(tensors)])
        coordinator.request_stop()
        session.run(tf.no_op())
        coordinator.join(threads, ignore_live_threads=True, stop_grace_period_secs=1)
    return found


def buckets(tf):
    """Batches of sequences by length: graphs, and the batches, each of which is of one bucket."""
    training, found = tf.contrib.training, []
    with tf.Graph().as_default():
        number = tf.train.range_input_producer(12, num_epochs=1, shuffle=False).dequeue()
        length = tf.mod(number * 5, 7) + 1
        sequence = tf.range(length)
        lengths, batch_and_numbers = training.bucket_by_sequence_length(
            length, [sequence, number], 2, [3, 5], dynamic_pad=True, allow_smaller_final_batch=True, capacity=20
        )
        batch, numbers = batch_and_numbers
        values = _run(tf, [lengths, batch, numbers], 3)
        for lengths_now, batch_now, numbers_now in values:
            expected = [n * 5 % 7 + 1 for n in numbers_now]
            assert expected == lengths_now
            assert [sum(row) for row in batch_now] == [n * (n - 1) // 2 for n in expected]
            assert len({(n >= 3) + (n >= 5) for n in expected}) == 1
        found.append([digest(tf), batch.shape.as_list(), lengths.shape.as_list()])
    with tf.Graph().as_default():
        values = {"a": tf.zeros([3]), "b": tf.constant(1.0)}
        which, batch = training.bucket(values, 1, [2, 3], 2, num_threads=2, keep_input=tf.constant(0) < 1, name="n")
        found.append([digest(tf), sorted(batch), which.name, batch["a"].shape.as_list()])
    with tf.Graph().as_default():
        which, batch = training.bucket([tf.zeros([3])], 1, 2, 2, shared_name="s", bucket_capacities=[5, 6])
        found.append([digest(tf), batch.name, batch.shape.as_list()])
    return found


def samples(tf):
    """Graphs of samples, which depend on threads, and the values of those that do not."""
    training, found = tf.contrib.training, []
    with tf.Graph().as_default():
        tf.set_random_seed(4)
        data = tf.constant(np.arange(6, dtype=np.float32))
        training.rejection_sample([data[0], data[1]], lambda given: given[1] * 0.5, 3, runtime_checks=True)
        found.append(digest(tf))
    with tf.Graph().as_default():
        tf.set_random_seed(4)
        training.rejection_sample([tf.zeros([6, 2]), tf.ones([6])], lambda given: 0.5, 3, enqueue_many=True, name="r")
        found.append(digest(tf))
    for init in (None, [0.25, 0.75]):
        with tf.Graph().as_default():
            tf.set_random_seed(4)
            data, label = tf.zeros([4, 2]), tf.constant([0, 1, 1, 0])
            _, labels = training.stratified_sample(
                [data], label, [0.5, 0.5], 4, init_probs=init, enqueue_many=True, threads_per_queue=2
            )
            found.append([digest(tf), labels.shape.as_list()])
    with tf.Graph().as_default():
        tf.set_random_seed(4)
        data = tf.constant(np.arange(12, dtype=np.float32).reshape(6, 2))
        (rows,) = training.resample_at_rate([data], [0.5, 2.0, 0.0, 1.0, 1.0, 3.0], seed=2)
        (more,), rates = training.weighted_resample([data], tf.constant([1.0, 2, 1, 3, 1, 1]), 1.5, seed=3)
        with tf.Session() as session:
            session.run([tf.local_variables_initializer(), tf.global_variables_initializer()])
            found.append([[value.tolist() for value in session.run([rows, more, rates])], digest(tf)])
    return found


def devices(tf):
    """Where variables go."""
    training, found = tf.contrib.training, []
    strategies = [
        training.RandomStrategy(3, seed=1),
        training.GreedyLoadBalancingStrategy(3, training.byte_size_load_fn),
    ]
    for strategy in strategies:
        with tf.Graph().as_default(), tf.device(tf.train.replica_device_setter(ps_tasks=3, ps_strategy=strategy)):
            variables = [tf.get_variable("v" + str(i), [i * 7 % 5 + 1, 3]) for i in range(8)]
            found.append([variable.device for variable in variables])
    return found


def loops(tf):
    """A training and evaluations of its checkpoints."""
    training, found = tf.contrib.training, {}
    with tf.Graph().as_default():
        x = tf.get_variable("x", initializer=[1.0, 2.0])
        train_op = training.create_train_op(tf.reduce_sum(tf.exp(x)), tf.train.GradientDescentOptimizer(0.1))
        hooks = [tf.train.StopAtStepHook(num_steps=4)]
        found["loss"] = round(float(training.train(train_op, "log", hooks=hooks, save_summaries_steps=None)), 5)
        found["graph"] = digest(tf)
        found["error"] = _error(lambda: training.train(train_op, None))
    with tf.Graph().as_default():
        x = tf.get_variable("x", [2])
        value, update = tf.metrics.mean(x)
        tf.summary.scalar("mean", value)
        hooks = [training.StopAfterNEvalsHook(2), training.SummaryAtEndHook("eval")]
        result = training.evaluate_repeatedly(
            "log", eval_ops=update, final_ops={"mean": value}, hooks=hooks, max_number_of_evaluations=1
        )
        found["evaluated"] = round(float(result["mean"]), 5)
        found["summaries"] = [
            [v.tag, round(v.simple_value, 5)]
            for name in sorted(tf.gfile.ListDirectory("eval"))
            for event in tf.train.summary_iterator("eval/" + name)
            for v in event.summary.value
        ]
        found["no_more"] = training.wait_for_new_checkpoint("log", tf.train.latest_checkpoint("log"), 0, timeout=0)
        found["hook"] = _error(training.SummaryAtEndHook)
    return found


def _error(call):
    try:
        call()
    except Exception as error:
        return [type(error).__name__, str(error)]


def outcomes(tf):
    """{name: what TensorFlow, or stillflow, makes of it}."""
    tf.logging.set_verbosity(tf.logging.ERROR)
    found = {}
    folder, before = tempfile.mkdtemp(), str(Path.cwd())
    os.chdir(folder)
    try:
        for function in (buckets, samples, devices, loops):
            found[function.__name__] = function(tf)
    finally:
        os.chdir(before)
        shutil.rmtree(folder)
    return found
