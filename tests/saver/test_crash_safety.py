"""Killed, or on a full disk: the checkpoint is the one before or the new one, and never a mixture."""

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
from stillflow import _engine

KILLS = int(os.environ.get("STILLFLOW_KILLS", "3"))  # many more each week, see .ci/weekly

SAVING = """
import sys
import numpy as np
import stillflow as tf

target, step_arguments, sharded = sys.argv[1], sys.argv[2], sys.argv[3] == "sharded"
v = tf.Variable(np.zeros(200_000, np.float32), name="v")
with tf.device("/job:localhost"):
    w = tf.Variable(np.zeros(3, np.float32), name="w")
saver = tf.train.Saver(max_to_keep=2, sharded=sharded)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    print("ready", flush=True)
    for i in range(1, 100_000):
        feeds = {v.initial_value: np.full(200_000, i), w.initial_value: np.full(3, i)}
        session.run([v.initializer, w.initializer], feeds)
        saver.save(session, target, global_step=i if step_arguments == "steps" else None)
"""


@pytest.mark.parametrize("sharded", ["whole", "sharded"])
@pytest.mark.parametrize("names", ["steps", "one name"])
def test_killed_at_any_instant(names, sharded, tmp_path):
    """A process that saves over and over is killed; the latest checkpoint is always whole."""
    generator = random.Random(names + sharded)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    last = kills = 0
    while kills < KILLS:
        command = [sys.executable, "-c", SAVING, str(tmp_path / "m"), names, sharded]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
            process.stdout.readline()
            time.sleep(generator.random() * 0.2 + 0.02)
            process.send_signal(signal.SIGKILL)
        if not (tmp_path / "checkpoint").exists():
            continue  # killed before the first was written
        kills += 1
        newest = tf.train.get_checkpoint_state(str(tmp_path)).model_checkpoint_path
        assert tf.train.latest_checkpoint(str(tmp_path)) == newest
        reader = tf.train.NewCheckpointReader(newest)
        v, w = reader.get_tensor("v"), reader.get_tensor("w")
        assert len(v) == 200_000 and len(set(v)) == 1 and v[0] == w[0] == w[2] >= 1
        last = max(last, v[0])
    assert last > 0


class _Small:
    """A variable and its Saver, with a checkpoint at `prefix`."""

    def __init__(self, prefix, sharded=False):
        self.prefix = str(prefix)
        self.v = tf.Variable(np.zeros(5000, np.float32), name="v")
        self.saver = tf.train.Saver(sharded=sharded)
        self.session = tf.Session()
        self.session.run(tf.global_variables_initializer())
        self.saver.save(self.session, self.prefix)
        self.session.run(self.v.assign_add(np.ones(5000, np.float32)))

    def save(self, prefix=None):
        self.saver.save(self.session, prefix or self.prefix)

    def stored(self):
        return tf.train.load_variable(self.prefix, "v")


FULL = """
import resource, sys
import numpy as np
import stillflow as tf
from stillflow import errors

prefix, limit, sharded = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "sharded"
v = tf.Variable(np.zeros(5000, np.float32), name="v")
saver = tf.train.Saver(sharded=sharded)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    saver.save(session, prefix)
    session.run(v.assign_add(np.ones(5000, np.float32)))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        saver.save(session, prefix)
    except errors.OpError as error:
        print(type(error).__name__, error.message.partition("\\n")[0])
"""


@pytest.mark.parametrize("sharded", ["whole", "sharded"])
@pytest.mark.parametrize("limit", [0, 40, 200, 4096, 19_999])
def test_a_full_disk(limit, sharded, tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", FULL, str(tmp_path / "m"), str(limit), sharded]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert result.stdout.startswith("OutOfRangeError "), result.stderr[-2000:]
    assert "File too large" in result.stdout
    assert tf.train.load_variable(str(tmp_path / "m"), "v").tolist() == [0.0] * 5000
    assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "m")
    assert not list(tmp_path.rglob("*tempstate*"))


@pytest.mark.skipif(os.geteuid() == 0 if hasattr(os, "geteuid") else True, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written(tmp_path):
    folder = tmp_path / "d"
    folder.mkdir()
    small = _Small(folder / "m")
    folder.chmod(0o500)
    try:
        with pytest.raises(tf.errors.PermissionDeniedError, match="Permission denied"):
            small.save()
        assert small.stored().tolist() == [0.0] * 5000
    finally:
        folder.chmod(0o700)


def test_a_folder_that_is_gone(tmp_path):
    folder = tmp_path / "d" / "e"
    folder.mkdir(parents=True)
    small = _Small(folder / "m")
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    small.save()  # one folder that is missing is made again
    assert small.stored().tolist() == [1.0] * 5000
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    folder.parent.rmdir()
    with pytest.raises(ValueError, match="Parent directory of .*d/e/m doesn't exist, can't save."):
        small.save()


def test_a_disk_without_links(tmp_path, monkeypatch):
    """Where the old data cannot be kept under a second name, saving again still works."""
    small = _Small(tmp_path / "m")
    second = Path(f"{small.prefix}.data-00000-of-00002")
    second.mkdir()  # in the way of the link
    small.save()
    assert small.stored().tolist() == [1.0] * 5000


def test_what_a_save_that_was_cut_short_leaves_does_not_matter(tmp_path):
    """Cut between the steps of replacing a checkpoint: at each the old one or the new one is whole."""
    small = _Small(tmp_path / "m")
    data, index = Path(f"{small.prefix}.data-00000-of-00001"), Path(f"{small.prefix}.index")
    second = Path(f"{small.prefix}.data-00000-of-00002")
    os.link(data, second)
    assert small.stored().tolist() == [0.0] * 5000
    header = _engine.CheckpointReader(small.prefix.encode())
    assert header.is_v2
    small.save()
    assert small.stored().tolist() == [1.0] * 5000
    assert not second.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint", data.name, index.name, "m.meta"]


def test_a_save_that_fails_leaves_no_notes(tmp_path):
    """What was kept for a checkpoint that was not written does not get into the next one."""
    tf.random_normal([2])
    small = _Small(tmp_path / "m")
    with tf.Session() as empty, pytest.raises(tf.errors.FailedPreconditionError):
        small.saver.save(empty, small.prefix)
    assert small.stored().tolist() == [0.0] * 5000
    small.save(str(tmp_path / "n"))
    assert tf.train.list_variables(str(tmp_path / "n")) == [("v", [5000])]


MEMORY = """
import re, sys
import numpy as np
import stillflow as tf

def megabytes(field):
    return int(re.search(field + r":\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024

v = [tf.get_variable(f"v{i}", [25, 1024, 1024]) for i in range(3)]
text = tf.get_variable("text", initializer=tf.constant(["x" * 1000] * 1000))
saver = tf.train.Saver()
with tf.Session() as session:
    if sys.argv[1] == "save":
        session.run([variable.initializer for variable in [*v, text]])
    open("/proc/self/clear_refs", "w").write("5")  # the peak is measured from here
    before = megabytes("VmRSS")
    if sys.argv[1] == "save":
        saver.save(session, sys.argv[2])
        print(megabytes("VmHWM") - before)
    else:
        saver.restore(session, sys.argv[2])
        print(megabytes("VmHWM") - before - 300)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the system does not measure peaks of memory")
def test_values_are_not_in_memory_twice(tmp_path):
    """300 MB are saved and restored in no more than 64 MB above them."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for task in ("save", "restore"):
        command = [sys.executable, "-c", MEMORY, task, str(tmp_path / "m")]
        result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert result.returncode == 0, result.stderr[-2000:]
        assert float(result.stdout) < 64, task
