"""Event files: TensorFlow's are read, ours have what it would have written, and nothing gets lost silently."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import pytest
from google.protobuf import json_format
from google.protobuf.message import DecodeError

import stillflow as tf

GOLDEN = Path(__file__).parent.parent / "data" / "events"


def read(directory):
    """The events of all files in a directory, in order."""
    return [event for path in sorted(Path(directory).iterdir()) for event in tf.train.summary_iterator(str(path))]


def kinds(events):
    return [(event.WhichOneof("what"), event.step) for event in events]


def scalar(tag, value):
    return tf.Summary(value=[tf.Summary.Value(tag=tag, simple_value=value)])


def test_a_file_of_tensorflow_is_read():
    (path,) = GOLDEN.glob("events.out.*")
    events = list(tf.train.summary_iterator(str(path)))
    expected = json.loads((GOLDEN / "expected.json").read_text())["events"]
    assert len(events) == len(expected)
    for event, wanted in zip(events, expected, strict=True):
        (kind,) = (key for key in wanted if key != "step")
        assert event.WhichOneof("what") == kind
        assert event.step == int(wanted.get("step", 0))
        if kind == "graph_def":
            assert [node.name for node in tf.GraphDef.FromString(event.graph_def).node] == wanted[kind]
        if kind == "summary":
            found = json_format.MessageToDict(event.summary, preserving_proto_field_name=True)
            assert [value.get("tag") for value in found["value"]] == [v.get("tag") for v in wanted[kind]["value"]]


def test_what_is_added_is_read(tmp_path):
    with tf.summary.FileWriter(tmp_path) as writer:
        assert writer.get_logdir() == str(tmp_path)
        writer.add_summary(scalar("a", 1.0))
        writer.add_summary(scalar("a", 2.0).SerializeToString(), 7)
        writer.add_summary(scalar("b", 3.0), 2.9)
        writer.add_summary(scalar("b", 3.0), global_step=-1)
        writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), 3)
        writer.add_run_metadata(tf.RunMetadata(), "run", 4)
        writer.add_meta_graph(tf.MetaGraphDef(), 5)
        writer.add_event(tf.Event(wall_time=1.5, step=1 << 40, log_message=tf.LogMessage(message="m")))
        writer.flush()
        events = read(tmp_path)
    assert kinds(events) == [
        ("file_version", 0), ("summary", 0), ("summary", 7), ("summary", 2), ("summary", -1), ("session_log", 3),
        ("tagged_run_metadata", 4), ("meta_graph_def", 5), ("log_message", 1 << 40),
    ]  # fmt: skip
    assert events[0].file_version == "brain.Event:2"
    assert [event.summary.value[0].simple_value for event in events[1:4]] == [1.0, 2.0, 3.0]
    assert all(abs(event.wall_time - time.time()) < 60 for event in events[:-1]) and events[-1].wall_time == 1.5
    assert events[6].tagged_run_metadata.tag == "run"
    (path,) = tmp_path.iterdir()
    assert re.fullmatch(r"events\.out\.tfevents\.\d{10}\..+", path.name)


def test_a_graph_is_written_with_its_shapes(tmp_path, new_graph):
    tf.placeholder(tf.float32, [None, 3], name="x")
    tf.add_to_collection("mine", b"here")
    with tf.summary.FileWriter(tmp_path, new_graph) as writer:
        writer.add_graph(new_graph, 9)
    events = [event for event in read(tmp_path) if event.WhichOneof("what") == "graph_def"]
    assert [event.step for event in events] == [0, 9]
    (meta,) = [event.meta_graph_def for event in read(tmp_path) if event.WhichOneof("what") == "meta_graph_def"]
    meta = tf.MetaGraphDef.FromString(meta)
    assert [op.name for op in meta.meta_info_def.stripped_op_list.op] == ["Placeholder"]
    assert meta.graph_def == tf.GraphDef.FromString(events[0].graph_def)
    assert list(meta.collection_def["mine"].bytes_list.value) == [b"here"]
    (node,) = tf.GraphDef.FromString(events[0].graph_def).node
    assert [dim.size for dim in node.attr["_output_shapes"].list.shape[0].dim] == [-1, 3]


def test_a_graph_def_may_be_given_in_its_place(tmp_path, new_graph):
    tf.constant(1, name="x")
    tf.summary.FileWriter(tmp_path, graph_def=new_graph.as_graph_def()).close()
    tf.train.SummaryWriter(tmp_path, new_graph.as_graph_def()).close()
    events = [event for event in read(tmp_path) if event.WhichOneof("what") == "graph_def"]
    assert [[node.name for node in tf.GraphDef.FromString(e.graph_def).node] for e in events] == [["x"], ["x"]]


def test_metadata_is_written_once_for_a_tag(tmp_path):
    metadata = tf.SummaryMetadata(display_name="shown")
    value = tf.Summary.Value(tag="a", simple_value=1, metadata=metadata)
    other = tf.Summary.Value(tag="b", simple_value=1, metadata=metadata)
    summary = tf.Summary(value=[value, other])
    with tf.summary.FileWriter(tmp_path) as writer:
        writer.add_summary(tf.Summary(value=[value]))
        writer.add_summary(summary)
        writer.add_summary(summary.SerializeToString())
    shown = [[v.metadata.display_name for v in event.summary.value] for event in read(tmp_path)[1:]]
    assert shown == [["shown"], ["", "shown"], ["", ""]]
    assert summary.value[0].metadata.display_name == "shown"  # the caller's is as it was


def test_files_come_with_their_first_event(tmp_path):
    writer = tf.summary.FileWriter(tmp_path / "a" / "b")
    writer.flush()
    assert list((tmp_path / "a" / "b").iterdir()) == []
    writer.close()
    writer = tf.summary.FileWriter(tmp_path / "c", filename_suffix=".x")
    (path,) = (tmp_path / "c").iterdir()
    assert path.name.endswith(".x") and kinds(tf.train.summary_iterator(path)) == [("file_version", 0)]
    writer.close()


def test_two_writers_of_one_second_have_two_files(tmp_path):
    writers = [tf.summary.FileWriter(tmp_path) for _ in range(3)]
    for i, writer in enumerate(writers):
        writer.add_summary(scalar("a", i))
        writer.close()
    assert len(list(tmp_path.iterdir())) == 3
    assert [event.summary.value[0].simple_value for event in read(tmp_path) if event.HasField("summary")] == [0, 1, 2]


def test_closing_and_opening_again(tmp_path):
    writer = tf.summary.FileWriter(tmp_path)
    writer.add_summary(scalar("a", 1), 1)
    writer.reopen()  # does nothing
    writer.close()
    writer.close()
    with pytest.warns(UserWarning, match="Attempting to use a closed FileWriter"):
        writer.add_summary(scalar("a", 2), 2)
    writer.flush()
    writer.reopen()
    writer.add_summary(scalar("a", 3), 3)
    writer.close()
    assert kinds(read(tmp_path)) == [("file_version", 0), ("summary", 1), ("file_version", 0), ("summary", 3)]


def test_the_first_event_is_in_the_file_at_once_and_others_soon(tmp_path):
    writer = tf.summary.FileWriter(tmp_path, flush_secs=0.3)
    writer.add_summary(scalar("a", 1))
    wait_for(lambda: len(read(tmp_path)) == 2)
    writer.add_summary(scalar("a", 2))
    wait_for(lambda: len(read(tmp_path)) == 3)
    writer.close()


def wait_for(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("max_queue", [0, 1, 10])
def test_many_threads_lose_nothing(tmp_path, max_queue):
    writer = tf.summary.FileWriter(tmp_path, max_queue=max_queue)

    def add(number):
        for i in range(300):
            writer.add_summary(scalar(str(number), i), i)
            if i % 100 == 50:
                writer.flush()

    threads = [threading.Thread(target=add, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    writer.close()
    found = {}
    for event in read(tmp_path)[1:]:
        found.setdefault(event.summary.value[0].tag, []).append(event.step)
    assert found == {str(number): list(range(300)) for number in range(8)}


def test_wrong_calls(tmp_path, new_graph):
    with tf.summary.FileWriter(tmp_path) as writer:
        with pytest.raises(TypeError, match="The passed graph must be an instance of `Graph` or the deprecated"):
            writer.add_graph(3)
        with pytest.raises(ValueError, match="Please pass only graph, or graph_def"):
            writer.add_graph(new_graph, graph_def=new_graph.as_graph_def())
        with pytest.raises(TypeError, match="meta_graph_def must be type MetaGraphDef, saw type: <class 'int'>"):
            writer.add_meta_graph(3)
        with pytest.raises(ValueError, match="invalid literal for int"):
            writer.add_summary(scalar("a", 1), "x")
        with pytest.raises(AttributeError, match="'str' object has no attribute 'value'"):
            writer.add_summary("text")
        with pytest.raises(DecodeError):
            writer.add_summary(b"junk")
        writer.add_run_metadata(tf.RunMetadata(), "run")
        with pytest.raises(ValueError, match="The provided tag was already used for this event type"):
            writer.add_run_metadata(tf.RunMetadata(), "run")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(tf.errors.FailedPreconditionError, match="is not a directory"):
        tf.summary.FileWriter(tmp_path / "file")
    with pytest.raises(tf.errors.NotFoundError, match="nope; No such file or directory"):
        list(tf.train.summary_iterator("nope"))


def test_damaged_files_are_read_up_to_the_damage(tmp_path):
    with tf.summary.FileWriter(tmp_path) as writer:
        writer.add_summary(scalar("a", 1))
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-3])
    events = []
    with pytest.raises(tf.errors.DataLossError, match="truncated record"):
        for event in tf.train.summary_iterator(str(path)):
            events.append(event)
    assert kinds(events) == [("file_version", 0)]
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(b"no event")
    with pytest.raises(DecodeError):
        list(tf.train.summary_iterator(str(path)))


class _FullDisk:
    """Files that cannot be written."""

    def __init__(self, file):
        self._file = file

    def write(self, data):
        raise OSError(28, "No space left on device")

    def flush(self):
        pass

    def close(self):
        self._file.close()


def test_a_full_disk_is_told_to_every_caller(tmp_path):
    writer = tf.summary.FileWriter(tmp_path)
    writer.add_summary(scalar("a", 1))
    writer.flush()
    writer.event_writer._file._file = _FullDisk(writer.event_writer._file._file)
    writer.add_summary(scalar("a", 2))
    for call in (writer.flush, writer.flush, lambda: writer.add_summary(scalar("a", 3)), writer.close):
        with pytest.raises(tf.errors.ResourceExhaustedError, match="No space left on device"):
            call()
    writer.reopen()
    writer.add_summary(scalar("a", 4), 4)
    writer.close()
    assert kinds(read(tmp_path))[-1] == ("summary", 4)


def test_a_directory_that_goes_away(tmp_path):
    writer = tf.summary.FileWriter(tmp_path / "d")
    shutil.rmtree(tmp_path / "d")
    writer.add_summary(scalar("a", 1))
    with pytest.raises(tf.errors.NotFoundError):
        writer.flush()
    with pytest.raises(tf.errors.NotFoundError):
        writer.close()


def test_a_failure_just_before_a_flush_is_told(tmp_path):
    writer = tf.summary.FileWriter(tmp_path / "d")
    events = writer.event_writer
    check = events._check

    def wait_for_the_failure():
        events._check = check
        while events._error is None:
            time.sleep(0.001)

    shutil.rmtree(tmp_path / "d")
    writer.add_summary(scalar("a", 1))
    events._check = wait_for_the_failure  # what the flush begins with sees nothing yet
    with pytest.raises(tf.errors.NotFoundError):
        writer.flush()


def test_events_are_written_when_the_program_ends(tmp_path):
    program = (
        "import sys, stillflow as tf\n"
        "writer = tf.summary.FileWriter(sys.argv[1])\n"
        "for i in range(5): writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag='a', simple_value=i)]), i)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True, timeout=60)
    assert [event.step for event in read(tmp_path)] == [0, 0, 1, 2, 3, 4]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_process_is_told_to_make_its_own(tmp_path):
    program = (
        "import os, sys, stillflow as tf\n"
        "writer = tf.summary.FileWriter(sys.argv[1])\n"
        "writer.add_summary(tf.Summary())\n"
        "if os.fork() == 0:\n"
        "    try: writer.flush()\n"
        "    except RuntimeError as error: os._exit('fork' in str(error))\n"
        "    os._exit(0)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.wait()[1]) - 1)\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", program, str(tmp_path)], check=True, timeout=60)


def test_the_cache_has_one_writer_for_a_directory(tmp_path, new_graph):
    tf.constant(1.0)
    writer = tf.summary.FileWriterCache.get(str(tmp_path))
    assert tf.summary.FileWriterCache.get(str(tmp_path)) is writer
    tf.summary.FileWriterCache.clear()
    assert ("graph_def", 0) in kinds(read(tmp_path))
    assert tf.summary.FileWriterCache.get(str(tmp_path)) is not writer
    tf.summary.FileWriterCache.clear()


def test_a_run_warns_nobody(tmp_path):
    with warnings.catch_warnings(), tf.summary.FileWriter(tmp_path) as writer, tf.Session() as session:
        warnings.simplefilter("error")
        tf.summary.scalar("loss", 2.0)
        writer.add_summary(session.run(tf.summary.merge_all()), 1)
    assert read(tmp_path)[1].summary.value[0].tag == "loss"
