"""Programs whose nodes write summaries: which events they leave in TensorFlow 1.15.5 is in tests/golden.

Runs in Python 3.7, too, where tools/record_golden.py records it.
"""

import shutil
import tempfile
from pathlib import Path

import numpy as np

X = np.random.RandomState(1).randn(2, 4, 5, 3).astype(np.float32)
PARAMETERS = ("_Arg", "_Retval", "Placeholder")  # of functions, which a session's graph has in another form


def _files(folder):
    """The event files below a folder."""
    return sorted(Path(folder).glob("**/*tfevents*"))


def events(tf, folder):
    """[path, event] of all events below a folder as JSON has them, without times; of graphs the nodes' names."""
    from google.protobuf import json_format

    found = []
    for path in _files(folder):
        directory = str(path.parent.relative_to(folder))
        for event in tf.train.summary_iterator(str(path)):
            assert event.wall_time > 1e9
            event.wall_time = 0
            if event.graph_def:
                graph = tf.GraphDef.FromString(event.graph_def)
                event.graph_def = ",".join(node.name for node in graph.node).encode()
            for value in event.summary.value:
                if value.image.encoded_image_string:  # compression differs
                    value.image.encoded_image_string = value.image.encoded_image_string[1:4]
            found.append([directory, json_format.MessageToDict(event)])
    return found


def _settings(tf):
    return {"step": tf.constant(7, tf.int64)}


def _write_each_kind(tf):
    """Operations that write each kind of summary of tf.contrib.summary."""
    summary = tf.contrib.summary
    settings = _settings(tf)
    metadata = tf.SummaryMetadata(display_name="shown")
    with tf.name_scope("outer"):
        return [
            summary.scalar("scalar", tf.constant(1.5), **settings),
            summary.scalar("of a family", tf.constant(3, tf.int64), family="family", **settings),
            summary.histogram("histogram", tf.constant(X), **settings),
            summary.histogram("doubles", tf.constant([1e300, -2.0, 0.0, 1e-13], tf.float64), **settings),
            summary.image("image", tf.constant(X), max_images=1, **settings),
            summary.image("bytes", tf.constant([[[[1], [255]]]], tf.uint8), bad_color=[1, 2, 3, 4], **settings),
            summary.audio("audio", tf.constant(np.sin(X[:, :, 0, :2])), 8000.0, 2, **settings),
            summary.generic("generic", tf.constant(["a", "b"]), metadata=metadata, **settings),
            summary.generic("plain", tf.constant([[1.0], [2.0]]), **settings),
            summary.import_event(
                tf.constant(tf.Event(wall_time=2e9, step=3, file_version="none").SerializeToString())
            ),
        ]


def each_kind_in_a_graph(tf, folder):
    writer = tf.contrib.summary.create_file_writer(folder, max_queue=3, filename_suffix=".own")
    with writer.as_default(), tf.contrib.summary.always_record_summaries():
        written = _write_each_kind(tf)
        graph = tf.contrib.summary.graph(tf.placeholder_with_default(tf.GraphDef().SerializeToString(), []), 0)
        with tf.Session() as session:
            tf.contrib.summary.initialize(graph=tf.get_default_graph().as_graph_def(), session=session)
            values = []
            for op in written:  # one after the other: theirs is the order of the events
                values.append(str(session.run(op)))
            session.run(graph)
            session.run(tf.contrib.summary.flush())
            names = [op.name for op in tf.contrib.summary.all_summary_ops()]
            session.run(writer.close())
    return [values, names, len(tf.summary.all_v2_summary_ops()), [path.suffix for path in _files(folder)]]


def every_other_step(tf, folder):
    summary = tf.contrib.summary
    step = tf.train.get_or_create_global_step()
    writer = summary.create_file_writer(folder)
    with writer.as_default(), summary.record_summaries_every_n_global_steps(2):
        written = summary.scalar("scalar", tf.cast(step, tf.float32) * 0.5)
        advance = tf.assign_add(step, 1)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), summary.summary_writer_initializer_op()])
        found = []
        for _ in range(5):
            found.append(bool(session.run(written)))
            session.run(advance)
        session.run(writer.close())
    return found


def inside_of_branches_and_loops(tf, folder):
    summary = tf.contrib.summary
    writer = summary.create_file_writer(folder)
    chosen = tf.placeholder(tf.bool)

    def branch(name):
        def write():
            summary.scalar(name, tf.constant(1.0), step=1)
            return tf.constant(name)

        return write

    def body(i):
        summary.scalar("looped", tf.cast(i, tf.float32), step=tf.cast(i, tf.int64))
        return i + 1

    with writer.as_default(), summary.always_record_summaries():
        text = tf.cond(chosen, branch("yes"), branch("no"))
        count = tf.while_loop(lambda i: i < 3, body, [tf.constant(0)], parallel_iterations=1)
    with tf.Session() as session:
        session.run(summary.summary_writer_initializer_op())
        found = [session.run(text, {chosen: value}).decode() for value in (True, False)]
        found.append(int(session.run(count)))
        session.run(writer.flush())
    return [found, len(summary.all_summary_ops())]


def nothing_to_write_to(tf, folder):
    summary = tf.contrib.summary
    with tf.Session() as session, summary.always_record_summaries():
        found = [summary.scalar("n", 1.0, step=1).type, str(session.run(tf.compat.v2.summary.write("n", 1.0)))]
    return [found, caught(lambda: summary.initialize()), summary.eval_dir("d", "n"), summary.eval_dir("d")]


def _of_tensorflow_2(tf, folder):
    """What the functions of TensorFlow 2 return."""
    summary = tf.compat.v2.summary
    found = []
    writer = summary.create_file_writer(folder)
    metadata = tf.SummaryMetadata(summary_description="told")
    with writer.as_default():
        found.append(caught(lambda: summary.write("tag", 1.0)))
        found.append(summary.write("tag", tf.constant([1, 2]), step=3, metadata=metadata))
        with summary.record_if(False):
            found.append(summary.write("not written", 1.0, step=4))
        summary.experimental.set_step(5)
        with tf.name_scope("outer"), summary.experimental.summary_scope("a name!", values=[]) as (tag, scope):
            found.append(summary.write(tag, tf.constant("text")))
        raw = tf.Summary(value=[tf.Summary.Value(tag="raw", simple_value=2.0)]).SerializeToString()
        found.append(summary.experimental.write_raw_pb(tf.constant([raw, raw])))
        summary.experimental.set_step(None)
    return writer, found, [tag, scope]


def tensors_in_a_graph(tf, folder):
    writer, found, names = _of_tensorflow_2(tf, folder)
    with tf.Session() as session:
        session.run(writer.init())
        values = [each if isinstance(each, str) else bool(session.run(each)) for each in found]
        session.run(writer.close())
    return [values, names]


def each_kind_eagerly(tf, folder):
    writer = tf.contrib.summary.create_file_writer(folder)
    with writer.as_default(), tf.contrib.summary.always_record_summaries():
        values = [each if each is None else bool(each) for each in _write_each_kind(tf)]
        tf.contrib.summary.graph(tf.GraphDef(), step=2)
    return values


def tensors_eagerly(tf, folder):
    writer, found, names = _of_tensorflow_2(tf, folder)
    writer.close()
    values = [each if isinstance(each, str) else bool(each) for each in found]
    return [values, names, caught(writer.set_as_default), caught(writer.init)]


def files_eagerly(tf, folder):
    """What is waiting is written when there is too much of it, and at the latest when nobody has the writer."""
    writer = tf.contrib.summary.create_file_writer(folder, max_queue=2, name="waiting")
    found = []
    with tf.contrib.summary.always_record_summaries(), writer.as_default():
        other = tf.contrib.summary.create_file_writer(folder + "/other")
        other.set_as_default()
        tf.contrib.summary.scalar("to the other one", 1.0, step=8)
        other.close()
        writer.set_as_default()
        tf.compat.v2.summary.create_noop_writer().set_as_default()
        found.append(len(events(tf, folder)))
        for step in range(4):
            tf.contrib.summary.scalar("scalar", step, step=step)
            found.append(len(events(tf, folder)))
        tf.contrib.summary.flush(writer)
        found.append(len(events(tf, folder)))
        with tf.contrib.summary.create_file_writer(None).as_default():
            tf.contrib.summary.scalar("still to the first one", 1.0, step=9)
    writer.close()
    found.append(len(events(tf, folder)))
    found.append(caught(lambda: tf.contrib.summary.create_file_writer(str(_files(folder)[0]))))
    return found


def a_trace_of_functions(tf, folder):
    summary = tf.compat.v2.summary

    @tf.function
    def twice(x):
        return 2.0 * x

    writer = summary.create_file_writer(folder)
    found = [caught(lambda: summary.trace_export("none", step=1))]
    with writer.as_default():
        summary.trace_on(graph=True)
        twice(tf.constant(1.0))
        summary.trace_export("trace", step=2)
    writer.close()
    for event in _all_events(tf, folder):
        for value in event.summary.value:
            metadata = tf.RunMetadata.FromString(value.tensor.string_val[0])
            graphs = [each.pre_optimization_graph for each in metadata.function_graphs]
            ops = [[node.op for node in graph.node if node.op not in PARAMETERS] for graph in graphs]
            found.append([value.tag, str(value.metadata), ops])
    shutil.rmtree(folder)
    return found


def _all_events(tf, folder):
    return [event for path in _files(folder) for event in tf.train.summary_iterator(str(path))]


def caught(function):
    """What a call raises, or that it raises nothing."""
    try:
        function()
    except Exception as error:
        return type(error).__name__ + ": " + str(error).splitlines()[0].split("/")[0]
    return "no error"


IN_GRAPHS = (
    each_kind_in_a_graph, every_other_step, inside_of_branches_and_loops, nothing_to_write_to, tensors_in_a_graph,
)  # fmt: skip
EAGERLY = (each_kind_eagerly, tensors_eagerly, files_eagerly, a_trace_of_functions)
SCENARIOS = {function.__name__: function for function in IN_GRAPHS + EAGERLY}


def outcome(tf, name, eagerly):
    """What a scenario returns, and the events that it writes. `eagerly()` is a context of eager execution."""
    function = SCENARIOS[name]
    folder = tempfile.mkdtemp()
    try:
        with eagerly() if function in EAGERLY else tf.Graph().as_default():
            returned = function(tf, folder + "/new/logs")
        return {"returned": returned, "events": events(tf, folder)}
    finally:
        shutil.rmtree(folder)


def outcomes(tf):
    """{name: outcome} of all."""
    from tensorflow.python.eager import context

    return {name: outcome(tf, name, context.eager_mode) for name in sorted(SCENARIOS)}
