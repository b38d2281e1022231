"""Profiles of a small network without a run: reports, and messages as text, the same in TensorFlow."""

import contextlib
import io
import tempfile


def _network(tf):
    images = tf.placeholder(tf.float32, [4, 8, 8, 3], name="images")
    with tf.variable_scope("conv"):
        kernel = tf.get_variable("kernel", [3, 3, 3, 16])
        bias = tf.get_variable("bias", [16])
        hidden = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(images, kernel, [1, 2, 2, 1], "SAME"), bias))
        hidden = tf.nn.max_pool(hidden, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    with tf.variable_scope("out"):
        weights = tf.get_variable("weights", [64, 10])
        logits = tf.matmul(tf.reshape(hidden, [4, 64]), weights)
        rows = tf.nn.softmax(tf.placeholder(tf.float32, [None, 3], name="rows"))
    tf.Variable(0, trainable=False, name="step")
    loss = tf.reduce_mean(tf.square(logits)) + 0.01 * tf.nn.l2_loss(weights) + tf.reduce_sum(rows)
    tf.train.GradientDescentOptimizer(0.1).minimize(loss)


def _options(tf):
    builder = tf.profiler.ProfileOptionBuilder
    parameters = builder.trainable_variables_parameter()
    # By name: of operations that count the same, TensorFlow's order is any.
    floats = builder(builder.float_operation()).order_by("name").build()
    everything = ["params", "float_ops", "op_types", "occurrence", "input_shapes"]
    yield "scope", parameters
    yield "scope", floats
    yield "scope", builder(floats).with_max_depth(3).with_min_float_operations(1000).build()
    yield "scope", builder(parameters).with_accounted_types([".*"]).select(everything).build()
    yield "scope", builder(parameters).with_node_names(start_name_regexes=["out"]).build()
    yield "scope", builder(parameters).with_node_names(hide_name_regexes=[".*bias"]).build()
    yield "scope", builder(floats).with_node_names(["grad.*"], [".*Conv.*"], [], [".*MatMul.*"]).build()
    yield "scope", builder(floats).account_displayed_op_only(False).build()
    yield "op", floats
    yield "op", builder(floats).with_min_float_operations(100).account_displayed_op_only(False).build()
    yield "op", builder(parameters).with_accounted_types(["Variable.*", "Placeholder"]).select(everything).build()
    yield "op", builder(floats).with_node_names(["Conv2D"], [".*"], ["Mul"], ["Mean"]).build()


def _profile(tf, path, cmd, options):
    """The report but for its documentation, and the message but for the order of its map's entries."""
    options["output"] = "file:outfile=" + path
    proto = tf.profiler.profile(cmd=cmd, options=options)
    with open(path) as file:
        report = file.read()
    return report[report.index("node name |") :], str(proto)


def _products(tf):
    x = tf.ones([5, 7])
    for number, size in enumerate((11, 3, 20)):
        with tf.variable_scope(f"layer{number}"):
            x = tf.matmul(x, tf.get_variable("weights", [x.shape[1], size]))


def _orders(tf):
    builder = tf.profiler.ProfileOptionBuilder
    yield "scope", builder.float_operation()
    yield "op", builder(builder.float_operation()).order_by("params").select(["params", "float_ops"]).build()
    yield "scope", builder(builder.trainable_variables_parameter()).order_by("params").build()


def outcomes(tf):
    folder = tempfile.mkdtemp()
    found = {}
    with tf.Graph().as_default(), contextlib.redirect_stderr(io.StringIO()) as errors:
        _network(tf)
        for number, (cmd, options) in enumerate(_options(tf)):
            report, proto = _profile(tf, folder + "/report", cmd, options)
            found[f"report {number}"] = report
            if number in (0, 6):
                found[f"message {number}"] = proto
        found["missing shapes"] = "2 ops no flops stats due to incomplete shapes." in errors.getvalue()
        tf.profiler.write_op_log(tf.get_default_graph(), folder, add_trace=False)
        with open(folder + "/tfprof_log", "rb") as file:
            log = tf.profiler.OpLogProto.FromString(file.read())
        found["log"] = sorted(f"{e.name} {e.float_ops} {list(map(str, e.types))}" for e in log.log_entries)
    with tf.Graph().as_default():
        _products(tf)
        for number, (cmd, options) in enumerate(_orders(tf)):
            found[f"order {number}"] = _profile(tf, folder + "/report", cmd, options)[0]
    return found
