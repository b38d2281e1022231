"""Programs with monitored sessions: what they log, write and return in TensorFlow 1.15.5 is in tests/golden.

Runs in Python 3.7, too, where tools/record_golden.py records it. Each is a function of tf and of an empty folder.
"""

import logging
import os
import re
import shutil
import tempfile
import time

import numpy as np


def _nap():
    time.sleep(0.01)
    return np.float32(0.0)


def model(tf):
    """A global step, a loss with a summary, and the operation that trains.

    It takes its time, so that in TensorFlow, too, a step is read before it is counted.
    """
    step = tf.train.get_or_create_global_step()
    x = tf.get_variable("x", initializer=8.0)
    with tf.control_dependencies([tf.py_func(_nap, [], tf.float32, name="nap")]):
        loss = tf.square(x, name="loss")
        tf.summary.scalar("loss", loss)
        return tf.train.GradientDescentOptimizer(0.25).minimize(loss, global_step=step)


def plain(value):
    """A value without types of numpy."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in sorted(value.items())}
    if isinstance(value, (list, tuple)):
        return type(value)(plain(item) for item in value)
    return value.tolist() if hasattr(value, "tolist") else value


def caught(function):
    try:
        return "returns " + repr(plain(function()))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _recorder(tf, name, calls, **returns):
    """A hook that notes how it is called."""

    class Recorder(tf.train.SessionRunHook):
        def begin(self):
            calls.append(name + ".begin")

        def after_create_session(self, session, coord):
            kinds = isinstance(session, tf.Session), isinstance(coord, tf.train.Coordinator)
            calls.append(name + ".after_create_session {} {}".format(*kinds))

        def before_run(self, run_context):
            calls.append(name + ".before_run " + type(run_context.session).__name__)
            return returns["before_run"](run_context) if "before_run" in returns else None

        def after_run(self, run_context, run_values):
            calls.append(f"{name}.after_run {plain(run_values.results)} {run_context.stop_requested}")
            if "after_run" in returns:
                returns["after_run"](run_context, run_values)

        def end(self, session):
            calls.append(name + ".end " + str(isinstance(session, tf.Session)))

    return Recorder()


# ---- MonitoredTrainingSession -------------------------------------------------------------------------------------


def training_stopped_and_resumed(tf, folder):
    train = model(tf)
    steps = []
    for last_step in (10, 25):
        options = {"save_checkpoint_steps": 7, "log_step_count_steps": 5, "save_summaries_steps": 3}
        hooks = [tf.train.StopAtStepHook(last_step=last_step)]
        with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, hooks=hooks, **options) as session:
            while not session.should_stop():
                session.run(train)
                steps.append(last_step)
    return [steps, tf.train.latest_checkpoint(folder)[-13:]]


def training_without_a_folder(tf, folder):
    train = model(tf)
    with tf.train.MonitoredTrainingSession() as session:
        values = [session.run(train), session.run({"loss": "loss:0", "list": [train]})["list"]]
        finalized = tf.get_default_graph().finalized
    return [values, finalized, tf.get_default_graph().finalized]


def training_with_the_defaults(tf, folder):
    train = model(tf)
    with tf.train.MonitoredTrainingSession(checkpoint_dir=folder) as session:
        session.run(train)
        session.run(train)


def training_with_two_folders(tf, folder):
    train = model(tf)
    options = {"save_summaries_secs": 1000, "save_checkpoint_secs": 1000, "log_step_count_steps": 0}
    summaries = f"{folder}/summaries"
    with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, summary_dir=summaries, **options) as session:
        for _ in range(4):
            session.run(train)


def training_that_saves_nothing(tf, folder):
    train = model(tf)
    options = {"save_summaries_steps": None, "save_checkpoint_secs": None, "log_step_count_steps": None}
    with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, **options) as session:
        session.run(train)


def training_with_both_times(tf, folder):
    model(tf)
    options = {"save_checkpoint_steps": 2, "save_checkpoint_secs": 3}
    return caught(lambda: tf.train.MonitoredTrainingSession(checkpoint_dir=folder, **options))


def training_without_a_global_step(tf, folder):
    tf.get_variable("x", initializer=8.0)
    return caught(lambda: tf.train.MonitoredTrainingSession(checkpoint_dir=folder))


def training_of_a_resource_variable(tf, folder):
    with tf.variable_scope("", use_resource=True):
        step = tf.train.create_global_step()
        x = tf.get_variable("x", initializer=[1.0, 2.0])
    with tf.control_dependencies([tf.py_func(_nap, [], tf.float32, name="nap")]):
        train = tf.group(x.assign_add([1.0, 1.0]), step.assign_add(2))
    hooks = [tf.train.StopAtStepHook(num_steps=5)]
    with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, hooks=hooks) as session:
        while not session.should_stop():
            session.run(train)


def a_worker_that_waits_in_vain(tf, folder):
    model(tf)
    return caught(lambda: tf.train.MonitoredTrainingSession(is_chief=False, max_wait_secs=1))


def chief_only_hooks_come_first(tf, folder):
    model(tf)
    calls = []
    first, second = _recorder(tf, "first", calls), _recorder(tf, "second", calls)
    with tf.train.MonitoredTrainingSession(hooks=[first], chief_only_hooks=[second]):
        pass
    return calls


# ---- Hooks --------------------------------------------------------------------------------------------------------


def hooks_are_called_in_order(tf, folder):
    a, b = tf.placeholder(tf.float32, name="a"), tf.placeholder_with_default(1.0, [], name="b")
    total = tf.add(a, b, name="total")
    calls = []

    def wants_the_sum(run_context):
        args = run_context.original_args
        calls.append(f"{args.fetches.name} {sorted(t.name for t in args.feed_dict)} {args.options}")
        return tf.train.SessionRunArgs({"sum": total, "list": [a]}, feed_dict={b: 3.0})

    first = _recorder(tf, "first", calls, before_run=wants_the_sum)
    second = _recorder(tf, "second", calls, after_run=lambda context, values: context.request_stop())
    with tf.train.MonitoredSession(hooks=[first, second]) as session:
        calls.append(str(session.run(b, {a: 2.0})))
        calls.append(str(session.should_stop()))
        calls.append(caught(lambda: session.run(b, {a: 2.0})))
    calls.append(str(session.should_stop()))
    calls.append(caught(session.close))
    return calls


def hooks_that_feed_the_same(tf, folder):
    a = tf.placeholder_with_default(1.0, [], name="a")
    calls = []
    hook = tf.train.FeedFnHook(lambda: {a: 2.0})
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        calls.append(float(session.run(a)))
        calls.append(caught(lambda: session.run(a, {a: 3.0})).split("[")[0])
    with tf.train.MonitoredSession(hooks=[hook, tf.train.FeedFnHook(lambda: {a: 2.0})]) as session:
        calls.append(caught(lambda: session.run(a)).split("[")[0])
    return calls


def hooks_merge_their_options(tf, folder):
    a = tf.constant(1.0)
    seen = []

    def asks(**options):
        return lambda context: tf.train.SessionRunArgs(None, options=tf.RunOptions(**options))

    def sees(context, values):
        seen.append(
            [values.options.trace_level, values.options.timeout_in_ms, len(values.run_metadata.step_stats.dev_stats)]
        )

    calls = []
    hooks = [
        _recorder(tf, "a", calls, before_run=asks(timeout_in_ms=5000)),
        _recorder(tf, "b", calls, before_run=asks(trace_level=3, timeout_in_ms=70000), after_run=sees),
    ]
    with tf.train.MonitoredSession(hooks=hooks) as session:
        session.run(a)
        session.run(a, options=tf.RunOptions(timeout_in_ms=90000))
    return seen


def an_error_skips_the_end(tf, folder):
    calls = []
    hook = _recorder(tf, "hook", calls)

    def run():
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            session.run("missing:0")

    tf.constant(1.0)
    calls.append(caught(run).split(":")[0])
    return calls


def the_end_of_the_input_is_no_error(tf, folder):
    calls = []
    queue = tf.train.string_input_producer(["a", "b", "c"], num_epochs=2, shuffle=False)
    value = queue.dequeue()
    with tf.train.MonitoredSession(hooks=[_recorder(tf, "hook", calls)]) as session:
        while not session.should_stop():
            calls.append(session.run(value).decode())
    return calls


def stop_iteration_is_no_error(tf, folder):
    tf.constant(1.0)
    calls = []
    with tf.train.MonitoredSession(hooks=[_recorder(tf, "hook", calls)]):
        raise StopIteration
    return calls


def stop_at_step(tf, folder):
    step = tf.train.create_global_step()
    train, read = tf.assign_add(step, 1), tf.constant(3.0)
    found = []
    with tf.train.MonitoredSession(hooks=[tf.train.StopAtStepHook(num_steps=3)]) as session:
        while not session.should_stop():
            session.run(read)
            found.append(int(session.run(train)))
    hook = tf.train.StopAtStepHook
    found += [caught(hook), caught(lambda: hook(num_steps=1, last_step=2))]
    with tf.Graph().as_default():
        tf.constant(1.0)
        found.append(caught(lambda: tf.train.MonitoredSession(hooks=[hook(last_step=2)])))
    return found


def logged_tensors(tf, folder):
    x = tf.get_variable("x", initializer=[0.5, 1e-5])
    add = tf.assign_add(x, [1.0, 1.0], name="add")
    hook = tf.train.LoggingTensorHook
    hooks = [
        hook(["x:0", "add"], every_n_iter=2),
        hook({"b": x, "a": "add:0"}, every_n_iter=2, at_end=True),
        hook({"only": "x"}, at_end=True),
        hook({"first": "x"}, every_n_secs=1000),
        hook({"v": x}, every_n_iter=3, formatter=lambda values: "formatted {:.2f}".format(values["v"][0])),
    ]
    with tf.train.MonitoredSession(hooks=hooks) as session:
        for _ in range(5):
            session.run(add)
    tf.split([1.0, 2.0], 2, name="parts")
    return [
        caught(lambda: hook(["x"])),
        caught(lambda: hook(["x"], every_n_iter=1, every_n_secs=1)),
        caught(lambda: hook(["x"], every_n_iter=0)),
        caught(lambda: hook(["parts"], every_n_iter=1).begin()),
        caught(lambda: hook([3], every_n_iter=1).begin()).split("<")[0],
    ]


def losses_that_are_no_numbers(tf, folder):
    loss = tf.placeholder(tf.float32, [], name="loss")
    found = []
    for fails in (True, False):
        with tf.train.MonitoredSession(hooks=[tf.train.NanTensorHook(loss, fail_on_nan_loss=fails)]) as session:
            session.run(loss, {loss: 1.0})
            found.append(caught(lambda: session.run(loss, {loss: float("nan")})))
            found.append(session.should_stop())
    found.append(issubclass(tf.train.NanLossDuringTrainingError, RuntimeError))
    return found


def steps_that_are_not_counted(tf, folder):
    tf.train.create_global_step()
    read = tf.constant(3.0)
    with tf.train.MonitoredSession(hooks=[tf.train.StepCounterHook(every_n_steps=2)]) as session:
        for _ in range(9):
            session.run(read)
    hook = tf.train.StepCounterHook
    return [caught(lambda: hook(every_n_secs=3)), caught(lambda: hook(every_n_steps=None))]


def steps_per_second(tf, folder):
    train = model(tf)
    writer = tf.summary.FileWriter(folder)
    hook = tf.train.StepCounterHook(every_n_steps=3, summary_writer=writer)
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        for _ in range(8):
            session.run(train)
    writer.close()


def summaries_by_steps(tf, folder):
    train = model(tf)
    op = tf.summary.histogram("h", tf.get_variable("y", initializer=[1.0, 2.0]))
    hook = tf.train.SummarySaverHook
    writers = [tf.summary.FileWriter(f"{folder}/{name}") for name in "ab"]
    hooks = [
        hook(save_steps=2, summary_writer=writers[0], summary_op=op),
        hook(save_steps=3, summary_writer=writers[1], summary_op=[op, op]),
        hook(save_secs=100, output_dir=f"{folder}/c", scaffold=tf.train.Scaffold(summary_op=op)),
        hook(save_secs=100, output_dir=f"{folder}/d", scaffold=tf.train.Scaffold()),
    ]
    with tf.train.MonitoredSession(hooks=hooks) as session:
        for _ in range(6):
            session.run(train)
    return [caught(lambda: hook(save_steps=1)), caught(lambda: hook(summary_op=op))]


def profiles(tf, folder):
    train = model(tf)
    hook = tf.train.ProfilerHook(save_steps=3, output_dir=folder, show_memory=True)
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        for _ in range(8):
            session.run(train)
    return caught(lambda: tf.train.ProfilerHook(output_dir=folder))


def final_operations(tf, folder):
    x = tf.get_variable("x", initializer=1.0)
    p = tf.placeholder_with_default(0.0, [])
    hook = tf.train.FinalOpsHook({"x": x, "p": [p]}, final_ops_feed_dict={p: 5.0})
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        session.run(x)
        before = hook.final_ops_values
    found = [before, float(hook.final_ops_values["x"]), float(hook.final_ops_values["p"][0])]
    with tf.train.MonitoredSession(hooks=[tf.train.FinalOpsHook(None)]) as session:
        session.run(x)
    return found


def final_operations_at_the_end_of_an_input(tf, folder):
    queue = tf.train.string_input_producer(["a"], num_epochs=1)
    value = queue.dequeue()

    def run():
        with tf.train.MonitoredSession(hooks=[tf.train.FinalOpsHook(value)]) as session:
            session.run(value)

    return caught(run).split(":")[0]


def a_step_that_is_waited_for(tf, folder):
    step = tf.train.create_global_step()
    hooks = [tf.train.GlobalStepWaiterHook(5), tf.train.GlobalStepWaiterHook(0)]

    def init_fn(scaffold, session):
        step.load(7, session)

    creator = tf.train.ChiefSessionCreator(tf.train.Scaffold(init_fn=init_fn))
    with tf.train.MonitoredSession(creator, hooks=hooks) as session:
        return int(session.run(step))


def a_step_that_comes_late(tf, folder):
    step = tf.train.create_global_step()
    more = tf.assign_add(step, 1500)
    waiter = tf.train.GlobalStepWaiterHook(2000)

    class Comrade(tf.train.SessionRunHook):
        """Somebody else, who counts steps meanwhile."""

        def after_create_session(self, session, coord):
            real_run = session.run
            session.run = lambda fetches, *args, **kwargs: (real_run(more), real_run(fetches, *args, **kwargs))[1]

    with tf.train.MonitoredSession(hooks=[Comrade(), waiter]) as session:
        session.run(step)


def a_timer(tf, folder):
    timer = tf.train.SecondOrStepTimer(every_steps=3)
    found = [timer.last_triggered_step(), timer.should_trigger_for_step(1), timer.update_last_triggered_step(1)]
    found += [timer.should_trigger_for_step(step) for step in (1, 3, 4, 9)]
    found += [timer.update_last_triggered_step(6)[1], timer.last_triggered_step()]
    timer.reset()
    found += [timer.last_triggered_step(), timer.should_trigger_for_step(6)]
    by_time = tf.train.SecondOrStepTimer(every_secs=0.0)
    by_time.update_last_triggered_step(1)
    found += [by_time.should_trigger_for_step(1), by_time.should_trigger_for_step(2)]
    slow = tf.train.SecondOrStepTimer(every_secs=1000)
    slow.update_last_triggered_step(1)
    found.append(slow.should_trigger_for_step(5))
    make = tf.train.SecondOrStepTimer
    return found + [caught(make), caught(lambda: make(every_secs=1, every_steps=2))]


# ---- Checkpoints --------------------------------------------------------------------------------------------------


def listeners_of_checkpoints(tf, folder):
    train = model(tf)
    calls = []

    class Listener(tf.train.CheckpointSaverListener):
        def begin(self):
            calls.append("begin")

        def before_save(self, session, global_step_value):
            calls.append(f"before_save {global_step_value}")

        def after_save(self, session, global_step_value):
            calls.append(f"after_save {global_step_value}")
            return global_step_value >= 4

        def end(self, session, global_step_value):
            calls.append(f"end {global_step_value}")

    saver_hook = tf.train.CheckpointSaverHook(
        folder,
        save_steps=2,
        saver=tf.train.Saver(max_to_keep=1),
        checkpoint_basename="base",
        listeners=[Listener(), tf.train.CheckpointSaverListener()],
    )
    with tf.train.SingularMonitoredSession(hooks=[saver_hook]) as session:
        while not session.should_stop():
            session.run(train)
    return calls


def wrong_savers(tf, folder):
    model(tf)
    hook = tf.train.CheckpointSaverHook
    saver, scaffold = tf.train.Saver(), tf.train.Scaffold()
    found = [
        caught(lambda: hook(folder)),
        caught(lambda: hook(folder, save_secs=1, saver=saver, scaffold=scaffold)),
    ]
    for _ in range(2):
        tf.add_to_collection(tf.GraphKeys.SAVERS, saver)
    hooks = [hook(folder, save_steps=1)]
    found.append(caught(lambda: tf.train.MonitoredSession(hooks=hooks)))
    scaffold = tf.train.Scaffold(saver=saver)
    found.append(caught(lambda: tf.train.SingularMonitoredSession(hooks=hooks, scaffold=scaffold)))
    return found


def one_checkpoint_by_name(tf, folder):
    train = model(tf)
    with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, save_checkpoint_steps=1) as session:
        for _ in range(3):
            session.run(train)
    path = f"{folder}/model.ckpt-2"
    step = tf.train.get_global_step()
    with tf.train.SingularMonitoredSession(checkpoint_filename_with_path=path) as session:
        found = [int(session.raw_session().run(step)), isinstance(session.raw_session(), tf.Session)]
    with tf.train.SingularMonitoredSession(checkpoint_dir=folder) as session:
        found.append(int(session.run(step)))
        found.append(session.graph is tf.get_default_graph())
    found.append(session.graph)
    both = {"checkpoint_dir": folder, "checkpoint_filename_with_path": path}
    found.append(caught(lambda: tf.train.SingularMonitoredSession(**both)))
    return found


def objects_as_a_saver(tf, folder):
    x = tf.get_variable("x", initializer=1.0)
    step = tf.train.create_global_step()
    train = tf.group(tf.assign_add(x, 1.0), tf.assign_add(step, 1))
    # TensorFlow 1.15 takes only that of TensorFlow 2 for one.
    checkpoint_class = tf.compat.v2.train.Checkpoint if hasattr(tf.compat, "v2") else tf.train.Checkpoint
    for _ in range(2):
        scaffold = tf.train.Scaffold(saver=checkpoint_class(value=x, step=step))
        options = {"scaffold": scaffold, "save_checkpoint_steps": 2, "save_summaries_steps": None}
        with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, **options) as session:
            for _ in range(3):
                session.run(train)
            value = float(session.run(x))
    return [value, sorted(name for name, _ in tf.train.list_variables(folder))]


# ---- Scaffold -----------------------------------------------------------------------------------------------------


def a_scaffold_makes_everything(tf, folder):
    tf.train.create_global_step()
    tf.get_variable("x", initializer=[1.0, 2.0])
    tf.get_variable("local", initializer=3.0, collections=[tf.GraphKeys.LOCAL_VARIABLES], trainable=False)
    with tf.variable_scope("r", use_resource=True):
        tf.get_variable("y", initializer=[1, 2])
    tf.summary.scalar("a", 1.0)
    tf.train.string_input_producer(["f"])
    scaffold = tf.train.Scaffold()
    before = [scaffold.init_op, scaffold.saver, scaffold.init_fn, scaffold.init_feed_dict]
    same = scaffold.finalize() is scaffold
    names = [
        scaffold.init_op.name,
        scaffold.ready_op.name,
        scaffold.ready_for_local_init_op.name,
        scaffold.local_init_op.name,
        scaffold.summary_op.name,
        scaffold.saver.saver_def.restore_op_name,
    ]
    collections = sorted(key for key in tf.get_default_graph().get_all_collection_keys() if isinstance(key, str))
    return [before, same, names, collections, tf.get_default_graph().finalized]


def a_scaffold_of_an_empty_graph(tf, folder):
    scaffold = tf.train.Scaffold().finalize()
    return [scaffold.init_op.name, str(scaffold.summary_op), scaffold.saver.saver_def is None]


def a_scaffold_is_given_its_parts(tf, folder):
    x = tf.get_variable("x", initializer=tf.placeholder_with_default(1.0, [], name="start"))
    y = tf.get_variable("y", initializer=0.0)
    calls = []

    def init_fn(scaffold, session):
        calls.append(str(scaffold is made))
        y.load(session.run(x) * 2, session)

    made = tf.train.Scaffold(
        init_op=tf.global_variables_initializer(), init_feed_dict={"start:0": 4.0}, init_fn=init_fn
    )
    with tf.train.MonitoredSession(tf.train.ChiefSessionCreator(made)) as session:
        calls.append([float(value) for value in session.run([x, y])])
    copy = tf.train.Scaffold(copy_from_scaffold=made, summary_op=tf.constant("s", name="own"))
    calls.append([copy.init_op is made.init_op, copy.saver is made.saver, copy.summary_op.name])
    made = copy
    with tf.train.MonitoredSession(tf.train.ChiefSessionCreator(copy)) as session:
        calls.append([float(value) for value in session.run([x, y])])
    calls.append(caught(lambda: tf.train.Scaffold(copy_from_scaffold=3)))
    return calls


def a_collection_with_two_of_a_kind(tf, folder):
    for _ in range(2):
        tf.add_to_collection(tf.GraphKeys.INIT_OP, tf.no_op())
    return caught(tf.train.Scaffold().finalize).split(":")[0]


# ---- SessionManager -----------------------------------------------------------------------------------------------


def sessions_that_are_not_ready(tf, folder):
    x = tf.get_variable("x", initializer=1.0)
    y = tf.get_variable("y", initializer=1.0)
    ready = tf.report_uninitialized_variables()
    manager = tf.train.SessionManager
    found = [
        caught(lambda: manager().prepare_session("")),
        caught(lambda: manager(ready_op=ready).prepare_session("", init_op=x.initializer)),
        caught(lambda: manager(ready_op=ready).prepare_session("", init_fn=lambda s: None))[:50],
        caught(
            lambda: manager(local_init_op=tf.no_op(), ready_for_local_init_op=ready).prepare_session(
                "", y.initializer
            )
        ),
        caught(lambda: manager(ready_for_local_init_op=ready))[:60],
        caught(lambda: manager(ready_op=ready, recovery_wait_secs=1).wait_for_session("", max_wait_secs=2)),
        caught(lambda: manager(ready_op=tf.identity(x)).prepare_session("", init_fn=lambda s: None))[:40],
        caught(lambda: manager().prepare_session("", checkpoint_dir="a", checkpoint_filename_with_path="b")),
    ]
    session = manager(ready_op=ready).prepare_session("", init_op=tf.global_variables_initializer())
    found.append([float(value) for value in session.run([x, y])])
    session = manager(local_init_op=tf.global_variables_initializer(), ready_op=ready).wait_for_session("")
    found.append(float(session.run(x)))
    return found


def sessions_that_are_recovered(tf, folder):
    x = tf.get_variable("x", initializer=1.0)
    y = tf.get_variable("y", initializer=tf.constant(5.0), collections=["other"])
    saver = tf.train.Saver([x])
    ready = tf.report_uninitialized_variables([x])
    both = tf.report_uninitialized_variables([x, y])
    manager = tf.train.SessionManager(ready_op=ready)
    found = []

    def recover(manager, **options):
        session, is_ready = manager.recover_session("", saver=saver, **options)
        found.append([is_ready, caught(lambda: float(session.run(x))).split("\n")[0][:40]])

    recover(manager, checkpoint_dir=folder)
    with tf.Session() as session:
        session.run(tf.assign(x, 7.0))
        path = saver.save(session, f"{folder}/m", global_step=3)
    recover(manager, checkpoint_dir=folder)
    recover(manager, checkpoint_filename_with_path=path)
    recover(manager)
    recover(tf.train.SessionManager(ready_op=both), checkpoint_dir=folder)
    local = tf.train.SessionManager(local_init_op=y.initializer, ready_for_local_init_op=both)
    recover(local, checkpoint_dir=folder)
    found.append(saver.last_checkpoints[0][-3:])
    waiter = tf.train.SessionManager(recovery_wait_secs=1)
    empty = f"{folder}/empty"
    recover(waiter, checkpoint_dir=empty, wait_for_checkpoint=True, max_wait_secs=1)
    return found


# ---- Recovery -----------------------------------------------------------------------------------------------------


class _Failing:
    """Raises an error a few times when it is asked to."""

    def __init__(self, error, times):
        self.error = error
        self.times = times

    def __call__(self, *args):
        if self.times:
            self.times -= 1
            raise self.error


def a_lost_session_is_made_anew(tf, folder):
    train = model(tf)
    step = tf.train.get_global_step()
    calls = []
    aborted = tf.errors.AbortedError(None, None, "lost")
    fails = _Failing(aborted, 0)
    hook = _recorder(tf, "hook", calls, before_run=fails)
    steps = []
    options = {"save_checkpoint_steps": 2, "log_step_count_steps": None, "save_summaries_steps": None}
    with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, hooks=[hook], **options) as session:
        for i in range(6):
            if i in (3, 5):
                fails.times = 1
                fails.error = aborted if i == 3 else tf.errors.UnavailableError(None, None, "away")
            session.run(train)
            steps.append(int(session.run(step)))
    return [steps, [call for call in calls if "create" in call or "end" in call]]


def a_session_that_is_lost_while_it_is_made(tf, folder):
    x = tf.get_variable("x", initializer=1.0)
    fails = _Failing(tf.errors.UnavailableError(None, None, "away"), 2)
    scaffold = tf.train.Scaffold(init_fn=lambda scaffold, session: fails())
    with tf.train.MonitoredSession(tf.train.ChiefSessionCreator(scaffold)) as session:
        return [float(session.run(x)), fails.times]


def report(coord, error):
    """What a thread does that fails."""
    try:
        raise error
    except Exception as reported:
        coord.request_stop(reported)


def a_thread_is_lost(tf, folder):
    tf.train.create_global_step()
    x = tf.get_variable("x", initializer=1.0)
    coords = []

    class Keeper(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            coords.append(coord)

    found = []

    def run():
        with tf.train.MonitoredSession(hooks=[Keeper()]) as session:
            session.run(x)
            report(coords[-1], tf.errors.AbortedError(None, None, "thread"))
            found.extend([session.should_stop(), len(coords), float(session.run(x))])
            report(coords[-1], ValueError("for good"))
            found.extend([session.should_stop(), len(coords)])

    return [caught(run), found]


def a_thread_fails(tf, folder):
    x = tf.get_variable("x", initializer=1.0)
    coords = []

    class Keeper(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            coords.append(coord)

    def run():
        with tf.train.MonitoredSession(hooks=[Keeper()]) as session:
            report(coords[-1], ValueError("thread"))
            session.run(x)

    return caught(run)


def a_singular_session_does_not_recover(tf, folder):
    x = tf.get_variable("x", initializer=1.0)
    calls = []
    hook = _recorder(tf, "hook", calls, before_run=_Failing(tf.errors.AbortedError(None, None, "lost"), 1))

    def run():
        with tf.train.SingularMonitoredSession(hooks=[hook]) as session:
            session.run(x)

    return [caught(run), calls]


# ---- Step functions -----------------------------------------------------------------------------------------------


def step_functions(tf, folder):
    c = tf.placeholder_with_default(0.0, [])
    v, w = c + 4.0, c + 0.5
    calls = []

    def step_fn(step_context):
        value = step_context.session.run(v, {c: 0.5})
        calls.append(float(value))
        if len([call for call in calls if isinstance(call, float)]) > 2:
            step_context.request_stop()
        return float(step_context.run_with_hooks(w, feed_dict={c: 0.1}))

    with tf.train.MonitoredSession(hooks=[_recorder(tf, "hook", calls)]) as session:
        while not session.should_stop():
            calls.append(f"returned {session.run_step_fn(step_fn):.3f}")
    with tf.train.MonitoredSession() as session:
        calls.append(caught(lambda: session.run_step_fn(lambda x: None)))
    return calls


# ---- Running them -------------------------------------------------------------------------------------------------


class _Log(logging.Handler):
    def __init__(self):
        logging.Handler.__init__(self)
        self.lines = []

    def emit(self, record):
        self.lines.append(f"{record.levelname}: {record.getMessage()}")


def _settled(text, folder):
    """A message without what differs from run to run."""
    text = text.replace(folder, "DIR").split("\n")[0]
    text = re.sub(r"\(\d+\.\d+ sec\)", "(N sec)", text)
    text = re.sub(r"summary at step \d+", "summary at step N", text)
    text = re.sub(r"/sec: [0-9.e+]+", "/sec: N", text)
    return re.sub(r"(at|0x)[0-9a-f]{6,}", "ADDRESS", text)


def _events(tf, folder):
    found = {}
    for path, _, files in sorted(os.walk(folder)):
        for file in files:
            if "tfevents" in file:
                lines = found.setdefault(os.path.relpath(path, folder), [])
                lines += [_event(event) for event in tf.train.summary_iterator(f"{path}/{file}")]
    return found


def _event(event):
    kind = event.WhichOneof("what")
    text = f"{event.step} {kind}"
    if kind == "summary":
        text += " " + " ".join(value.tag for value in event.summary.value)
    elif kind == "session_log":
        name = event.session_log.checkpoint_path.rpartition("/")[2]
        text += f" {event.session_log.status} {name}"
    elif kind == "tagged_run_metadata":
        text += " " + event.tagged_run_metadata.tag
    return text


def _files(folder):
    found = []
    for path, _, files in os.walk(folder):
        found += [os.path.relpath(f"{path}/{file}", folder) for file in files if "tfevents" not in file]
    return sorted(found)


WITH_GRAPHS = (
    "a_supervisor_makes_everything",
    "a_scaffold_makes_everything",
    "a_scaffold_of_an_empty_graph",
    "training_stopped_and_resumed",
    "training_of_a_resource_variable",
    "objects_as_a_saver",
)


def _nodes(graph):
    return [
        "{} {}({}){}".format(node.name, node.op, ", ".join(node.input), " on " + node.device if node.device else "")
        for node in graph.as_graph_def().node
    ]


def outcome(tf, function, order=list):
    """What a scenario returns, logs, writes, and leaves in its graph; threads want `sorted` for an order."""
    folder = tempfile.mkdtemp()
    handler = _Log()
    logger = logging.getLogger("tensorflow")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        with tf.Graph().as_default() as graph:
            returned = function(tf, folder)
            tf.summary.FileWriterCache.clear()
            log = [_settled(line, folder) for line in handler.lines if ": From " not in line]
            return {
                "returned": repr(plain(returned)).replace(folder, "DIR"),
                "log": order(log),
                "events": {name: order(events) for name, events in _events(tf, folder).items()},
                "files": _files(folder),
                "nodes": _nodes(graph) if function.__name__ in WITH_GRAPHS else [],
            }
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        shutil.rmtree(folder)


def scenarios(names=None):
    """{name: function} of all scenarios that are public in a module's names, by default in this one's."""
    return {
        name: function
        for name, function in (names or globals()).items()
        if getattr(function, "__code__", None) and function.__code__.co_varnames[:2] == ("tf", "folder")
        if not name.startswith("_")
    }


def outcomes(tf):
    """{name: outcome} of all."""
    return {name: outcome(tf, function) for name, function in sorted(scenarios().items())}
