"""Programs whose tensors are watched, for stillflow and, under Python 3.7, TensorFlow 1.15.5.

Run as a script, under TensorFlow, it prints what the debugger wrote of each program, as JSON.
"""

import json
import os
import sys
import tempfile


def variable_and_feed(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    x = tf.placeholder(tf.float32, [2], name="x")
    return tf.add(v * x, tf.constant([1.0, 1.0], name="one"), name="y"), {x: [3.0, 4.0]}


def loop(tf):
    i, x = tf.constant(0, name="i"), tf.constant(1.0, name="x")
    return tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, tf.multiply(x, 2.0)), [i, x]), None


def loop_that_updates(tf):
    v = tf.Variable(11.0, name="v")

    def body(i):
        with tf.control_dependencies([tf.assign_add(v, 2.0, name="more")]):
            return tf.add(i, 1)

    return tf.while_loop(lambda i: tf.less(i, 3), body, [tf.constant(0, name="i")]), None


def nested_loops(tf):
    def outer(i, total):
        _, total = tf.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + 10), [tf.constant(0), total])
        return i + 1, total

    return tf.while_loop(lambda i, t: i < 3, outer, [tf.constant(0, name="i"), tf.constant(0, name="t")]), None


def branch(tf):
    x, y = tf.Variable(10.0, name="x"), tf.Variable(20.0, name="y", use_resource=True)
    return tf.cond(x > y, lambda: x + 1, lambda: y + 1), None


def training(tf):
    x = tf.Variable([3.0, -1.0], name="x")
    return tf.train.MomentumOptimizer(0.5, 0.9).minimize(tf.reduce_sum(tf.square(x), name="loss"), name="train"), None


def initializing(tf):
    tf.Variable([10.0], name="x")
    tf.Variable("text", name="s")
    tf.Variable(20.0, name="r", use_resource=True)
    return tf.global_variables_initializer(), None


def queue(tf):
    q = tf.FIFOQueue(3, "float", name="q")
    return q.enqueue_many(([1.0, 2.0],), name="put"), None


def failing(tf):
    x = tf.placeholder(tf.int32, name="x")
    y = tf.add(x, 1, name="y")
    return tf.gather([1, 2, 3], y, name="z"), {x: [7]}


# {name: (program, debug ops)}
PROGRAMS = {
    each.__name__: (each, ["DebugIdentity"])
    for each in (
        variable_and_feed, loop, loop_that_updates, nested_loops, branch, training, initializing, queue, failing,
    )
}  # fmt: skip
PROGRAMS["counts"] = variable_and_feed, ["DebugNanCount", "DebugNumericSummary"]
PROGRAMS["bounds"] = variable_and_feed, ["DebugNumericSummary(lower_bound=2.5; mute_if_healthy=true)"]


def run(tf, tf_debug, name, root):
    """Runs a program with all its tensors watched: (its DebugDumpDir, the code of its error or None)."""
    program, debug_ops = PROGRAMS[name]
    tf.reset_default_graph()
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = -1
    with tf.Session(config=config) as session:
        fetch, feeds = program(tf)
        if name != "initializing":
            session.run(tf.global_variables_initializer())
        options = tf.RunOptions()
        tf_debug.watch_graph(options, session.graph, debug_ops=debug_ops, debug_urls="file://" + root)
        code = None
        try:
            session.run(fetch, feeds, options=options)
        except tf.errors.OpError as error:
            code = error.error_code
        dump = tf_debug.DebugDumpDir(root)
        dump.set_python_graph(session.graph)
        return dump, code


def described(dump):
    """{watch key: the values in the order in which they were dumped}."""
    found = {}
    for datum in dump.dumped_tensor_data:
        found.setdefault(datum.watch_key, []).append(_plain(datum.get_tensor()))
    return found


def _plain(value):
    if hasattr(value, "initialized"):
        return "initialized" if value.initialized else "uninitialized"
    if value.dtype.kind in "SUO":
        return [text.decode() for text in value.ravel().tolist()]
    return [str(value.dtype), list(value.shape), [repr(number) for number in value.ravel().tolist()]]


def edges(dump):
    """{node: [op, inputs, control inputs, recipients]}."""
    return {
        node: [
            dump.node_op_type(node), dump.node_inputs(node), sorted(dump.node_inputs(node, is_control=True)),
            sorted(dump.node_recipients(node)),
        ]
        for node in dump.nodes()
    }  # fmt: skip


def record(tf, tf_debug, name):
    with tempfile.TemporaryDirectory() as folder:
        dump, code = run(tf, tf_debug, name, os.path.join(folder, "dumps"))
        return {"dumps": described(dump), "edges": edges(dump), "error": code}


if __name__ == "__main__":
    import tensorflow
    from tensorflow.python import debug

    tensorflow.logging.set_verbosity("ERROR")
    json.dump({name: record(tensorflow, debug, name) for name in PROGRAMS}, sys.stdout, indent=0, sort_keys=True)
