"""Sessions and hooks that watch runs, and the commands of the local command line."""

import builtins
import re

import numpy as np
import pytest
from stillflow.python import debug as tf_debug
from stillflow.python.debug.cli import cli_config
from stillflow.python.debug.wrappers import framework

import stillflow as tf


@pytest.fixture(autouse=True)
def new_graph(tmp_path, monkeypatch):
    tf.reset_default_graph()
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture
def session():
    with tf.Session() as session:
        yield session


def _counter():
    v = tf.Variable(10.0, name="v")
    return v, tf.assign_add(v, 1.0, name="more")


def _runs(folder):
    return [tf_debug.DebugDumpDir(str(path)) for path in sorted(folder.glob("run_*"))]


# ---- Dumping ------------------------------------------------------------------------------------------------------


def test_each_run_is_dumped_to_a_folder(session, tmp_path):
    x = tf.placeholder(tf.float32, name="x")
    y = tf.multiply(x, 2.0, name="y")
    wrapper = tf_debug.DumpingDebugWrapperSession(session, str(tmp_path / "root"))
    assert isinstance(wrapper, tf_debug.DumpingDebugWrapperSession)
    for value in (1.0, 2.0):
        assert wrapper.run(y, {x: value}) == 2 * value
    dumps = _runs(tmp_path / "root")
    assert [dump.get_tensors("y", 0, "DebugIdentity") for dump in dumps] == [[2.0], [4.0]]
    assert dumps[0].run_fetches_info == repr(y)
    assert "x:0" in dumps[0].run_feed_keys_info


def test_a_watch_function_says_what_is_dumped(session, tmp_path):
    _, more = _counter()
    session.run(tf.global_variables_initializer())
    wrapper = tf_debug.DumpingDebugWrapperSession(
        session, str(tmp_path / "root"),
        watch_fn=lambda f, x: tf_debug.WatchOptions(["DebugNumericSummary"], op_type_regex_whitelist="Variable.*"),
    )  # fmt: skip
    wrapper.run(more)
    (dump,) = _runs(tmp_path / "root")
    assert [datum.watch_key for datum in dump.dumped_tensor_data] == ["v:0:DebugNumericSummary"]


def test_a_root_with_files_in_it_is_refused(session, tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "file").write_text("")
    with pytest.raises(ValueError, match="non-empty directory"):
        tf_debug.DumpingDebugWrapperSession(session, str(tmp_path / "root"))
    with pytest.raises(ValueError, match="points to a file"):
        tf_debug.DumpingDebugWrapperSession(session, str(tmp_path / "root" / "file"))
    with pytest.raises(TypeError, match="watch_fn is not callable"):
        tf_debug.DumpingDebugWrapperSession(session, str(tmp_path / "other"), watch_fn="all")


def test_the_hook_dumps_the_runs_of_a_monitored_session(tmp_path):
    _, more = _counter()
    hook = tf_debug.DumpingDebugHook(str(tmp_path / "root"))
    with tf.train.SingularMonitoredSession(hooks=[hook]) as session:
        assert [session.run(more), session.run(more)] == [11.0, 12.0]
    found = [dump.get_tensors("more", 0, "DebugIdentity") for dump in _runs(tmp_path / "root")]
    assert found == [[11.0], [12.0]]


def test_an_estimator_takes_the_hook(tmp_path):
    def model(features, labels, mode):
        loss = tf.reduce_mean(tf.square(tf.layers.dense(features, 1, name="d") - labels), name="loss")
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

    hook = tf_debug.DumpingDebugHook(
        str(tmp_path / "root"), watch_fn=lambda f, x: tf_debug.WatchOptions(node_name_regex_whitelist="loss")
    )
    data = np.ones([4, 3], np.float32), np.zeros([4, 1], np.float32)
    estimator = tf.estimator.Estimator(model, str(tmp_path / "model"))
    estimator.train(lambda: tf.data.Dataset.from_tensors(data), hooks=[hook], steps=1)
    assert any("loss:0:DebugIdentity" in dump.debug_watch_keys("loss") for dump in _runs(tmp_path / "root"))


# ---- The base class -----------------------------------------------------------------------------------------------


class _Watcher(framework.BaseDebugWrapperSession):
    def __init__(self, sess, root, **arguments):
        self.root = root
        self.ends = []
        super().__init__(sess, **arguments)

    def on_session_init(self, request):
        return framework.OnSessionInitResponse(framework.OnSessionInitAction.PROCEED)

    def on_run_start(self, request):
        return framework.OnRunStartResponse(framework.OnRunStartAction.DEBUG_RUN, [f"file://{self.root}"])

    def on_run_end(self, request):
        self.ends.append(request)
        return framework.OnRunEndResponse()


def test_errors_are_told_or_passed_through(session, tmp_path):
    x = tf.placeholder(tf.int32, name="x")
    y = tf.gather([1, 2], x, name="y")
    watcher = _Watcher(session, tmp_path / "a")
    assert isinstance(watcher.run(y, {x: 5}), tf.errors.InvalidArgumentError)
    assert watcher.ends[0].tf_error.op.name == "y"
    with pytest.raises(tf.errors.InvalidArgumentError):
        _Watcher(session, tmp_path / "b", pass_through_operrors=True).run(y, {x: 5})


def test_callables_are_watched(session, tmp_path):
    x, z = tf.placeholder(tf.float32, name="x"), tf.placeholder(tf.float32, name="z")
    y = tf.add(x, z, name="y")
    watcher = _Watcher(session, tmp_path / "a")
    assert watcher.make_callable(y, [x, z])(1.0, 2.0) == 3.0
    options = tf.compat.v1.RunOptions()
    assert watcher.make_callable(tf.constant(1.0))(options=options, run_metadata=tf.RunMetadata()) == 1.0
    assert len(watcher.ends) == 2
    assert watcher.run_call_count == 2


def test_threads_of_other_names_and_empty_fetches_pass_by(session, tmp_path):
    watcher = _Watcher(session, tmp_path / "a", thread_name_filter="Worker.*")
    assert watcher.run(tf.constant(1.0)) == 1.0
    assert _Watcher(session, tmp_path / "a").run([[], ()]) == [[], ()]
    assert not watcher.ends
    with pytest.raises(TypeError, match="Expected type"):
        _Watcher(watcher, tmp_path / "a")


def test_a_wrapper_is_the_default_session(session, tmp_path):
    watcher = _Watcher(session, tmp_path / "a")
    with watcher:
        assert tf.get_default_session() is watcher
        assert tf.constant(2.0).eval() == 2.0
    assert len(watcher.ends) == 1


# ---- The command line ---------------------------------------------------------------------------------------------


@pytest.fixture
def told(monkeypatch):
    """Has the given lines entered, one after the other."""

    def enter(*lines):
        waiting = iter(lines)
        monkeypatch.setattr(builtins, "input", lambda prompt: next(waiting))

    return enter


def _local(session, tmp_path, **arguments):
    return tf_debug.LocalCLIDebugWrapperSession(
        session, ui_type="readline", dump_root=str(tmp_path / "d"), **arguments
    )


def test_a_run_is_looked_through(session, tmp_path, told, capsys):
    v = tf.Variable([1.0, 2.0], name="v")
    y = tf.multiply(v, 3.0, name="y")
    session.run(v.initializer)
    told(
        "run",
        "lt -s tensor_name",
        "pt y -s",
        "pt y:0[1]",
        "ni -d -t y",
        "li -r -t y",
        "lo v",
        "eval `y:0`[0]+1",
        "run",
    )
    assert _local(session, tmp_path).run(y).tolist() == [3.0, 6.0]
    shown = capsys.readouterr().out
    assert "run-start: run #1: 1 fetch (y:0); 0 feeds" in shown
    assert "4 dumped tensor(s):" in shown
    assert re.search(r"y/y:0\n.*v:0\n", shown) is None  # in the order of names
    assert "array([3., 6.], dtype=float32)" in shown
    assert "|  min  max mean  std |\n|  3.0  6.0  4.5  1.5 |" in shown
    assert "Slot 0 @ DebugIdentity @ " in shown
    assert "test_wrappers.py" in shown
    assert "|  |- (2) [VariableV2] v\n|- (1) [Const] y/y" in shown
    assert 'Recipients of node "v" (Depth limit = 1):\n|- (1) v/read' in shown
    assert not (tmp_path / "d").exists()


def test_runs_without_debugging_and_the_one_that_is_asked_for(session, tmp_path, told, capsys):
    _, more = _counter()
    session.run(tf.global_variables_initializer())
    wrapper = _local(session, tmp_path)
    told("run -t 3", "run")
    assert [wrapper.run(more) for _ in range(3)] == [11.0, 12.0, 13.0]
    shown = capsys.readouterr().out
    assert shown.count("run-start") == 1
    assert "run-end: run #3" in shown


def test_a_filter_stops_runs(session, tmp_path, told, capsys):
    x = tf.placeholder(tf.float32, name="x")
    y = tf.log(x, name="y")
    wrapper = _local(session, tmp_path)
    told("run -f has_inf_or_nan", "lt -f has_inf_or_nan", "run -n")
    for value in (2.0, 1.0, 0.0):
        wrapper.run(y, {x: value})
    shown = capsys.readouterr().out
    assert "run-end: run #3" in shown
    assert "run-end: run #2" not in shown
    assert '1 dumped tensor(s) passing filter "has_inf_or_nan":' in shown


def test_an_error_is_shown_with_its_cause(session, tmp_path, told, capsys):
    x = tf.placeholder(tf.int32, name="x")
    y = tf.gather([1, 2], x, name="y")
    told("run", "pf x:0", "run")
    assert isinstance(_local(session, tmp_path).run(y, {x: 5}), tf.errors.InvalidArgumentError)
    shown = capsys.readouterr().out
    assert "Op name:    y" in shown
    assert "ni -a -d -t y" in shown


def test_a_run_is_timed(session, tmp_path, told, capsys):
    x = tf.placeholder(tf.float32, [50, 50], name="x")
    y = tf.matmul(x, x, name="y")
    told("run -p", "lp -t MatMul", f"ps {__file__}", "run")
    _local(session, tmp_path).run(y, {x: np.ones([50, 50])})
    shown = capsys.readouterr().out
    assert re.search(r"\ny +MatMul +\d+ +\d+us +\d+us +test_wrappers.py:\d+\(test_a_run_is_timed\)", shown)
    assert re.search(r"\[\|{10}\] +\d+us +1\(1\) +L\d+ +y = tf.matmul", shown)


def test_leaving_ends_the_program(session, tmp_path, told):
    told("exit")
    with pytest.raises(SystemExit) as ended:
        _local(session, tmp_path).run(tf.constant(1.0))
    assert ended.value.code == 1


def test_the_hook_shows_the_command_line(tmp_path, told, capsys):
    _, more = _counter()
    hook = tf_debug.LocalCLIDebugHook(ui_type="readline", dump_root=str(tmp_path / "d"))
    hook.add_tensor_filter("large", lambda datum, tensor: np.max(tensor) > 11)
    with tf.train.SingularMonitoredSession(hooks=[hook]) as session:
        told("run -f large", "run -n", "run -n", "run -n")
        for _ in range(3):
            session.run(more)
    assert '1 dumped tensor(s) passing filter "large"' not in capsys.readouterr().out.split("run-end: run #2")[0]


def test_settings_are_kept(tmp_path):
    path = str(tmp_path / "settings")
    cli_config.CLIConfig(path).set("graph_recursion_depth", "5")
    assert cli_config.CLIConfig(path).get("graph_recursion_depth") == 5
    with pytest.raises(KeyError, match="not a valid property name"):
        cli_config.CLIConfig(path).set("other", 1)
