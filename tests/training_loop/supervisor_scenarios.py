"""Programs with supervisors: what they log, write and return in TensorFlow 1.15.5 is in tests/golden.

Runs in Python 3.7, too, where tools/record_golden.py records it.
"""

import time

import numpy as np
from training_loop import scenarios as monitored
from training_loop.scenarios import caught, model

LONG = 1000  # seconds


def _settle():
    """Gives the services' threads time for what they do at once."""
    time.sleep(0.4)


def a_managed_session(tf, folder):
    train = model(tf)
    supervisor = tf.train.Supervisor(logdir=folder, save_summaries_secs=LONG, save_model_secs=LONG)
    with supervisor.managed_session() as session:
        _settle()
        for _ in range(3):
            session.run(train)
        found = [supervisor.should_stop(), tf.get_default_graph().finalized]
        supervisor.saver.save(session, supervisor.save_path, global_step=supervisor.global_step)
    found.append(supervisor.should_stop())
    found.append(caught(lambda: session.run(train)))
    with supervisor.managed_session() as session:
        found.append(int(session.run(supervisor.global_step)))
        _settle()
        session.run(train)
    return found


def no_folder(tf, folder):
    train = model(tf)
    supervisor = tf.train.Supervisor()
    with supervisor.managed_session() as session:
        session.run(train)
        return [
            supervisor.summary_writer,
            supervisor.save_path,
            caught(lambda: supervisor.summary_computed(session, b"")),
            supervisor.start_standard_services(session),
        ]


def services_of_its_own(tf, folder):
    train = model(tf)
    calls = []
    supervisor = tf.train.Supervisor(logdir=folder, summary_op=None, save_model_secs=0)
    summary = tf.Summary(value=[tf.Summary.Value(tag="own", simple_value=2.0)])
    with supervisor.managed_session("", start_standard_services=False) as session:
        looper = supervisor.loop(0.01, calls.append, args=("call",))
        while len(calls) < 3:
            time.sleep(0.01)
        session.run(train)
        supervisor.summary_computed(session, summary)
        supervisor.summary_computed(session, summary.SerializeToString(), global_step=5)
        supervisor.request_stop()
        found = [supervisor.should_stop(), looper.daemon]
        supervisor.wait_for_stop()
    return found + [looper.is_alive()]


def queue_runners(tf, folder):
    queue = tf.train.string_input_producer(["a", "b", "c"], num_epochs=2, shuffle=False)
    value = queue.dequeue()
    supervisor = tf.train.Supervisor(logdir=folder, save_summaries_secs=0, save_model_secs=0)
    found = []
    with supervisor.managed_session() as session:
        while not supervisor.should_stop():
            found.append(session.run(value).decode())
    return found


def an_error_in_the_loop(tf, folder):
    x = tf.get_variable("x", initializer=1.0)
    supervisor = tf.train.Supervisor()

    def run():
        with supervisor.managed_session() as session:
            session.run(x)
            raise ValueError("mine")

    return [caught(run), supervisor.should_stop()]


def an_error_in_a_thread(tf, folder):
    x = tf.get_variable("x", initializer=1.0)
    supervisor = tf.train.Supervisor()

    def run():
        with supervisor.managed_session() as session:
            supervisor.loop(None, lambda: {}["missing"])
            while not supervisor.should_stop():
                session.run(x)

    return [caught(run), supervisor.should_stop()]


def stop_on_exception(tf, folder):
    tf.get_variable("x", initializer=1.0)
    supervisor = tf.train.Supervisor()
    session = supervisor.prepare_or_wait_for_session()
    with supervisor.stop_on_exception():
        raise ValueError("mine")
    found = [supervisor.should_stop(), caught(supervisor.stop)]
    session.close()
    return found


def prepared_by_hand(tf, folder):
    train = model(tf)
    supervisor = tf.train.Supervisor(logdir=folder, save_summaries_secs=LONG, save_model_secs=LONG)
    session = supervisor.prepare_or_wait_for_session(start_standard_services=False)
    session.run(train)
    threads = supervisor.start_standard_services(session)
    found = [[type(thread).__name__ for thread in threads], supervisor.start_queue_runners(session)]
    _settle()
    supervisor.stop(threads)
    session.run(train)
    session.close()
    return found


def a_writer_of_its_own(tf, folder):
    train = model(tf)
    writer = tf.summary.FileWriter(folder + "/own")
    supervisor = tf.train.Supervisor(
        logdir=folder, summary_writer=writer, save_model_secs=0, save_summaries_secs=LONG
    )
    with supervisor.managed_session(close_summary_writer=False) as session:
        _settle()
        session.run(train)
    writer.close()
    without = tf.train.Supervisor(logdir=folder, summary_writer=None, save_model_secs=0)
    with without.managed_session() as session:
        session.run(train)


def not_the_chief(tf, folder):
    tf.get_variable("x", initializer=1.0)
    found = [caught(lambda: tf.train.Supervisor(is_chief=False)).split(":")[0]]
    with tf.Graph().as_default():
        with tf.device("/job:a"):
            tf.get_variable("x", initializer=1.0)
        supervisor = tf.train.Supervisor(is_chief=False, logdir=folder)
        found += [supervisor.save_path, supervisor.save_model_secs, supervisor.summary_writer, supervisor.is_chief]
        found.append(caught(lambda: supervisor.start_standard_services(None)))
    return found


def a_worker_that_waits(tf, folder):
    with tf.device("/cpu:0"):
        tf.get_variable("x", initializer=1.0)
    supervisor = tf.train.Supervisor(is_chief=False, recovery_wait_secs=1)
    return caught(lambda: supervisor.prepare_or_wait_for_session(max_wait_secs=1))


def a_supervisor_makes_everything(tf, folder):
    tf.train.create_global_step()
    tf.get_variable("x", initializer=[1.0, 2.0])
    tf.get_variable("local", initializer=3.0, collections=[tf.GraphKeys.LOCAL_VARIABLES], trainable=False)
    tf.summary.scalar("a", 1.0)
    supervisor = tf.train.Supervisor(logdir=folder, save_summaries_secs=3, save_model_secs=4)
    names = [
        supervisor.init_op.name,
        supervisor.ready_op.name,
        supervisor.ready_for_local_init_op,
        supervisor.summary_op.name,
        supervisor.global_step.name,
        supervisor.saver.saver_def.restore_op_name,
        supervisor.save_path[-10:],
        supervisor.save_summaries_secs,
        supervisor.save_model_secs,
        supervisor.init_feed_dict,
        supervisor.is_chief,
        type(supervisor.session_manager).__name__,
        type(supervisor.coord).__name__,
        type(supervisor.summary_writer).__name__,
    ]
    collections = sorted(key for key in tf.get_default_graph().get_all_collection_keys() if isinstance(key, str))
    return [names, collections, tf.get_default_graph().finalized]


def an_empty_graph(tf, folder):
    tf.constant(1.0)
    supervisor = tf.train.Supervisor(logdir=folder, save_summaries_secs=LONG)
    with supervisor.managed_session():
        _settle()
    return [supervisor.saver, supervisor.global_step, supervisor.summary_op]


def its_parts_are_given(tf, folder):
    x = tf.get_variable("x", initializer=tf.placeholder_with_default(1.0, [], name="start"))
    y = tf.get_variable("y", initializer=5.0)
    supervisor = tf.train.Supervisor(
        ready_op=None,
        init_op=x.initializer,
        init_feed_dict={"start:0": 3.0},
        local_init_op=None,
        saver=None,
        global_step=None,
        summary_op=None,
        init_fn=lambda session: y.load(7.0, session),
    )
    with supervisor.managed_session() as session:
        values = session.run([x, y])
    return [[float(value) for value in values], supervisor.saver, supervisor.ready_op, supervisor.global_step]


def two_of_a_kind_and_a_global_step_that_is_none(tf, folder):
    for _ in range(2):
        tf.add_to_collection(tf.GraphKeys.INIT_OP, tf.no_op())
    tf.constant(1.0, name="global_step")
    supervisor = tf.train.Supervisor()
    return [supervisor.init_op.name, supervisor.global_step]


def not_ready(tf, folder):
    tf.get_variable("x", initializer=1.0)
    supervisor = tf.train.Supervisor(init_op=tf.no_op())

    def run():
        with supervisor.managed_session():
            pass

    return caught(run).split(", init fn")[0]


def names_of_before(tf, folder):
    tf.get_variable("x", initializer=1.0)
    supervisor = tf.train.Supervisor()
    session = supervisor.PrepareSession()
    supervisor.StartQueueRunners(session)
    supervisor.Loop(0.1, lambda: None)
    found = [supervisor.ShouldStop(), supervisor.StartStandardServices(session)]
    with supervisor.StopOnException():
        pass
    supervisor.RequestStop()
    supervisor.WaitForStop()
    supervisor.Stop()
    session.close()
    return found


def a_basic_loop(tf, folder):
    step = tf.train.create_global_step()
    train = tf.assign_add(step, 1)
    supervisor = tf.train.Supervisor(logdir=folder, save_model_secs=0, save_summaries_secs=0)
    seen = []

    def step_fn(session, most, name=None):
        seen.append([int(session.run(train)), most, name])
        if len(seen) == 2:
            time.sleep(1.1)  # an event file's name has the second in it
            raise tf.errors.AbortedError(None, None, "lost")
        if len(seen) == most:
            supervisor.request_stop()

    tf.train.basic_train_loop(supervisor, step_fn, args=(4,), kwargs={"name": "n"})
    return seen


def summaries_and_checkpoints_go_on(tf, folder):
    train = model(tf)
    supervisor = tf.train.Supervisor(logdir=folder, save_summaries_secs=0.1, save_model_secs=0.1)
    with supervisor.managed_session() as session:
        end = time.time() + 1.0
        while time.time() < end:
            session.run(train)
    steps = [int(path.rpartition("-")[2]) for path in supervisor.saver.last_checkpoints]
    counts = [
        sum(event.HasField("summary") for event in tf.train.summary_iterator(path)) > 4
        for path in tf.gfile.Glob(folder + "/*tfevents*")
    ]
    found = [len(steps), steps == sorted(steps), bool(np.all(np.diff(steps) > 0)), counts]
    tf.gfile.DeleteRecursively(folder)
    tf.gfile.MakeDirs(folder)
    return found


def scenarios():
    """{name: function} of all."""
    return {name: function for name, function in monitored.scenarios(globals()).items() if name != "model"}


def outcome(tf, function):
    """What a scenario returns, logs, writes, and leaves in its graph; how often, its threads do not agree upon."""
    return monitored.outcome(tf, function, order=_settled)


def _settled(lines):
    # TensorFlow stops to log the steps per second after ten times in a process.
    return sorted(set(lines) - {"INFO: global_step/sec: N"})


def outcomes(tf):
    """{name: outcome} of all."""
    return {name: outcome(tf, function) for name, function in sorted(scenarios().items())}
