"""Graphs and what tf.graph_util makes of them; runs under TensorFlow 1.15.5 and here. Python 3.7 as well."""

import numpy as np


def model(tf):
    """A small network with what training leaves in graphs; returns names of outputs."""
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.Variable(np.arange(6, dtype=np.float32).reshape(3, 2), name="w")
    steps = tf.Variable(7, name="steps", dtype=tf.int64)
    names = tf.Variable(["a", "b"], name="names")
    checked = tf.check_numerics(tf.matmul(x, w, name="product"), "bad", name="checked")
    first = tf.identity(tf.identity(tf.nn.relu(checked, name="relu"), name="one"), name="two")
    tf.identity(names, name="named")
    with tf.control_dependencies([first]):
        waited = tf.identity(first, name="waited")
    plain = tf.identity(tf.identity(tf.exp(waited, name="exp"), name="p"), name="q")
    with tf.get_default_graph().colocate_with(steps.op):
        tf.add(plain, 1.0, name="placed")
    tf.assign_add(steps, 1, name="count")
    tf.gradients(plain, [w])
    return ["placed", "named"]


def outcomes(tf, run):
    """{case: GraphDef} of tf.graph_util's functions over the model; `run` is called with it in a session."""
    util = tf.graph_util
    with tf.Graph().as_default() as graph:
        outputs = model(tf)
        graph_def = graph.as_graph_def()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())

            def convert(*args, **kwargs):
                return util.convert_variables_to_constants(session, graph_def, *args, **kwargs)

            found = {
                "graph": graph_def,
                "extracted": util.extract_sub_graph(graph_def, ["placed"]),
                "extracted_two": util.extract_sub_graph(graph_def, ["relu", "named"]),
                "inference": util.remove_training_nodes(graph_def),
                "inference_protected": util.remove_training_nodes(graph_def, ["one", "checked", "q"]),
                "frozen": convert(outputs),
                "frozen_white": convert(outputs, variable_names_whitelist=["w"]),
                "frozen_black": convert(outputs, variable_names_blacklist=["w", "names"]),
            }
            run(session, found)
    return found


def record(tf):
    """What TensorFlow makes of it all, as arrays of bytes by name."""
    found = outcomes(tf, lambda session, found: None)
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.int32, [None], name="x")
        w = tf.get_variable("r", initializer=np.ones([4, 2], np.float32), use_resource=True)
        tf.add(tf.gather(w, x, name="rows"), tf.reduce_sum(w.read_value(), name="sum"), name="out")
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            found["resource"] = graph.as_graph_def()
            found["resource_frozen"] = tf.graph_util.convert_variables_to_constants(
                session, graph.as_graph_def(), ["out"]
            )
    return {name: np.frombuffer(value.SerializeToString(), np.uint8) for name, value in found.items()}
