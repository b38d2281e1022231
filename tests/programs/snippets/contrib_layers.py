"""tf.contrib.layers and tf.contrib.framework without convolutions: names, collections, values, gradients."""

import importlib

import numpy as np


def _input(tf, *shape):
    tf.set_random_seed(7)
    values = np.sin(np.arange(np.prod(shape)) * 1.7).reshape(shape)
    return tf.constant(values.astype(np.float32), name="x")


def _listed(tf, *names):
    graph = tf.get_default_graph()
    return [tf.constant([item.name for item in graph.get_collection(name)], tf.string) for name in names]


def _with_gradients(tf, results, x):
    gradients = tf.gradients([tf.reduce_sum(tf.sin(y)) for y in results], [x] + tf.trainable_variables())
    return results + [g for g in gradients if g is not None]


def fully_connected(tf):
    layers, x = tf.contrib.layers, _input(tf, 4, 3)
    results = [
        layers.fully_connected(x, 5),
        layers.fully_connected(x, 5, activation_fn=None, scope="named"),
        layers.fully_connected(x, 5, activation_fn=None, scope="named", reuse=True),
        layers.linear(x, 2, biases_initializer=None),
        layers.relu(x, 2, weights_regularizer=layers.l2_regularizer(0.5), outputs_collections="outputs"),
        layers.fully_connected(x, 2, normalizer_fn=layers.layer_norm, normalizer_params={"center": False}),
        layers.fully_connected(x, 2, trainable=False, variables_collections={"weights": ["w"], "biases": ["b", "c"]}),
        layers.elu(tf.reshape(x, [2, 2, 3]), 3, variables_collections=["all"]),
    ]
    names = ("variables", "model_variables", "trainable_variables", "regularization_losses", "w", "b", "c", "all")
    return _with_gradients(tf, results, x) + _listed(tf, "outputs", *names)


def legacy_layers(tf):
    layers, x = tf.contrib.layers, _input(tf, 2, 2, 3)
    results = [layers.legacy_relu(x, 4), layers.legacy_linear(x[0], 2, name="named", bias_init=None)]
    return _with_gradients(tf, results, x) + _listed(tf, "variables", "weights", "biases", "activations")


def argument_scopes(tf):
    framework, layers, x = tf.contrib.framework, tf.contrib.layers, _input(tf, 4, 3)
    with framework.arg_scope([layers.fully_connected], activation_fn=tf.tanh, biases_initializer=None) as scope:
        results = [layers.fully_connected(x, 2)]
        with framework.arg_scope([layers.fully_connected, layers.dropout], outputs_collections="outputs"):
            results += [layers.fully_connected(x, 2, activation_fn=None), layers.dropout(x, 0.5)]
    with framework.arg_scope(scope):
        results += [layers.fully_connected(x, 3)]
    results += [layers.fully_connected(x, 3)]
    return results + _listed(tf, "outputs", "variables")


def norms(tf):
    layers, x = tf.contrib.layers, _input(tf, 2, 3, 2, 4)
    results = [
        layers.layer_norm(x),
        layers.layer_norm(x, begin_norm_axis=-1, activation_fn=tf.nn.relu),
        layers.layer_norm(x, begin_params_axis=2, scale=False, scope="named"),
        layers.instance_norm(x, variables_collections=["all"]),
        layers.instance_norm(x, data_format="NCHW", center=False),
        layers.group_norm(x, groups=2),
        layers.group_norm(x, groups=3, channels_axis=1, reduction_axes=(2, 3), mean_close_to_zero=True),
        layers.group_norm(tf.placeholder_with_default(x, [None, 3, 2, 4]), groups=4, scale=False),
    ]
    return _with_gradients(tf, results, x) + _listed(tf, "all", "model_variables")


def layer_norm_of_halves(tf):
    x = tf.cast(_input(tf, 2, 4), tf.float16)
    return [tf.contrib.layers.layer_norm(x)]


def batch_norm(tf):
    layers, x = tf.contrib.layers, _input(tf, 2, 3, 4)
    weights = [0.5, 2.0]
    results = [
        layers.batch_norm(x),
        layers.batch_norm(x, scale=True, center=False, is_training=False, variables_collections=["all"]),
        layers.batch_norm(x, param_initializers={"beta": tf.ones_initializer()}, activation_fn=tf.nn.relu),
        layers.batch_norm(x, updates_collections=None),
        layers.batch_norm(x, updates_collections="mine", decay=0.5),
        layers.batch_norm(x, batch_weights=weights),
        layers.batch_norm(x, zero_debias_moving_mean=True, scale=True),
        layers.batch_norm(x, is_training=False, updates_collections=None),
    ]
    listed = _listed(tf, "all", "update_ops", "mine", "model_variables", "variables")
    updates = [tf.identity(update) for update in tf.get_collection("mine")]
    return _with_gradients(tf, results, x), updates + listed


def batch_norm_of_channels_first(tf):
    layers, x = tf.contrib.layers, _input(tf, 2, 3, 2, 2)
    results = [
        layers.batch_norm(x, data_format="NCHW", batch_weights=[0.5, 1.0], scale=True),
        layers.batch_norm(x, data_format="NCHW", fused=False),
        layers.batch_norm(x, data_format="NCHW", fused=False, updates_collections=None, is_training=False),
    ]
    return _with_gradients(tf, results, x)


def batch_norm_by_condition(tf):
    layers, x = tf.contrib.layers, _input(tf, 2, 3, 4)
    training = tf.placeholder_with_default(True, [])
    results = [
        layers.batch_norm(x, is_training=training),
        layers.batch_norm(x, is_training=training, updates_collections=None),
        layers.batch_norm(x, is_training=training, updates_collections="mine"),
    ]
    return _with_gradients(tf, results, x) + _listed(tf, "update_ops", "mine")


def regularizers(tf):
    layers = tf.contrib.layers
    weights = tf.get_variable("w", [3], initializer=tf.constant_initializer([1.0, -2.0, 3.0]))
    results = [
        layers.l1_regularizer(0.5)(weights),
        layers.l2_regularizer(0.5, scope="named")(weights),
        layers.l1_l2_regularizer(0.5, 0.25)(weights),
        layers.l1_l2_regularizer(0.0, 0.25)(weights),
        layers.l1_l2_regularizer(0.5, 0.0)(weights),
        layers.sum_regularizer([layers.l1_regularizer(0.1), None, layers.l2_regularizer(0.0)])(weights),
        layers.apply_regularization(layers.l2_regularizer(0.5), [weights, weights * 2.0]),
    ]
    tf.get_variable("v", [2], initializer=tf.ones_initializer(), regularizer=layers.l2_regularizer(0.1))
    tf.get_variable("u", [2], initializer=tf.ones_initializer(), regularizer=layers.l2_regularizer(0.0))
    return results + tf.get_collection("regularization_losses") + _listed(tf, "regularization_losses")


def plain_layers(tf):
    layers, x = tf.contrib.layers, _input(tf, 2, 3, 4)
    results = [
        layers.bias_add(x, initializer=tf.ones_initializer()),
        layers.bias_add(tf.reshape(x, [2, 3, 2, 2]), data_format="NCHW", activation_fn=tf.nn.relu),
        layers.dropout(x, 0.8, seed=3),
        layers.dropout(x, is_training=False),
        layers.flatten(x),
        layers.flatten(tf.placeholder_with_default(x, [None, 3, 4]), scope="named", outputs_collections="out"),
        layers.softmax(x),
        layers.unit_norm(x, 1),
        layers.unit_norm(x, 0),
        layers.unit_norm(x, 2, epsilon=0.1),
        layers.maxout(x, 2),
        layers.maxout(tf.placeholder_with_default(x, [None, 3, 4]), 3, axis=1),
        layers.one_hot_encoding([0, 2, 1], 3),
        layers.one_hot_encoding(tf.constant([1], tf.int64), 3, on_value=2.0, off_value=-1.0),
        layers.images_to_sequence(tf.reshape(x, [2, 3, 2, 2])),
        layers.sequence_to_images(x, 3),
    ]
    sparse = layers.dense_to_sparse([[1, 0, 2], [0, 3, 0]])
    return results + [sparse.indices, sparse.values, sparse.dense_shape] + _listed(tf, "out")


def spatial_softmax(tf):
    layers, x = tf.contrib.layers, _input(tf, 2, 3, 4, 2)
    results = [
        layers.spatial_softmax(x),
        layers.spatial_softmax(x, temperature=2.0, name="named", trainable=False),
        layers.spatial_softmax(tf.transpose(x, [0, 3, 1, 2]), data_format="NCHW"),
    ]
    return _with_gradients(tf, results, x) + _listed(tf, "model_variables", "trainable_variables")


def repeated_and_stacked(tf):
    layers, x = tf.contrib.layers, _input(tf, 4, 3)
    results = [
        layers.repeat(x, 2, layers.fully_connected, 3),
        layers.repeat(x, 2, layers.fully_connected, 3, activation_fn=None, scope="named"),
        layers.stack(x, layers.fully_connected, [4, 2], scope="stacked"),
        layers.stack(x, layers.fully_connected, [(4,), (2, None)]),
    ]
    return _with_gradients(tf, results, x) + _listed(tf, "variables")


def embeddings(tf):
    layers = tf.contrib.layers
    tf.set_random_seed(7)
    ids = tf.constant([[1, 2, 1], [0, 3, 1]])
    results = [
        layers.embed_sequence(ids, 4, 2),
        layers.embed_sequence(ids, 4, 2, unique=True, scope="named"),
        layers.embed_sequence(ids, scope="named", reuse=True),
        layers.bow_encoder(ids, 4, 2),
        layers.bow_encoder(ids, 4, 2, sparse_lookup=False),
        layers.embedding_lookup_unique(tf.constant([[1.0, 2.0], [3.0, 4.0]]), [[1, 0], [1, 1]]),
    ]
    sparse = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([1, -1, 2], tf.int64), [3, 2])
    weights = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [0.5, 1.0, 2.0], [3, 2])
    matrix = tf.get_variable("matrix", [4, 2])
    results += [
        layers.safe_embedding_lookup_sparse([matrix], sparse),
        layers.safe_embedding_lookup_sparse([matrix], sparse, weights, combiner="sum", default_id=3),
    ]
    (gradient,) = tf.gradients([tf.reduce_sum(y) for y in results[-2:]], [matrix])
    return results + [tf.convert_to_tensor(gradient)] + _listed(tf, "variables")


def _loss(tf):
    tf.set_random_seed(7)
    v = tf.get_variable("v", [2], initializer=tf.constant_initializer([1.0, -2.0]))
    w = tf.get_variable("w", [], initializer=tf.constant_initializer(3.0))
    step = tf.train.get_or_create_global_step()
    return tf.reduce_sum(v * v) * w, step, [v, w]


def optimized(tf):
    loss, step, variables = _loss(tf)
    train = tf.contrib.layers.optimize_loss(loss, step, 0.1, "SGD", clip_gradients=2.0)
    return [train.op], variables + [step], [train.op], variables, _listed(tf, "summaries", "variables")


def optimized_with_options(tf):
    loss, step, variables = _loss(tf)
    train = tf.contrib.layers.optimize_loss(
        loss, None, 0.1, tf.train.AdamOptimizer, gradient_multipliers={"v:0": 0.5, variables[1]: 2.0},
        learning_rate_decay_fn=lambda rate, step: tf.train.exponential_decay(rate, step, 10, 0.5),
        summaries=["gradients", "gradient_norm", "learning_rate", "loss"], increment_global_step=False,
        clip_gradients=lambda pairs: [(2 * g, v) for g, v in pairs], name="named",
    )  # fmt: skip
    return [train.op], variables + [step], _listed(tf, "summaries")


def optimized_with_noise(tf):
    loss, step, variables = _loss(tf)
    update = tf.assign_add(step, 5)
    train = tf.contrib.layers.optimize_loss(
        loss, step, None, lambda: tf.train.MomentumOptimizer(0.1, 0.9), gradient_noise_scale=0.1,
        update_ops=[update], variables=variables[:1], summaries=[],
    )  # fmt: skip
    return [train.op], variables + [step]


def clipped_by_what_is_usual(tf):
    optimizers = importlib.import_module(tf.__name__ + ".contrib.layers.python.layers.optimizers")
    loss, step, variables = _loss(tf)
    clip = optimizers.adaptive_clipping_fn(global_step=step, report_summary=True, static_max_norm=1.0)
    train = tf.contrib.layers.optimize_loss(loss, step, 0.1, "SGD", clip_gradients=clip)
    return [train.op], variables, [train.op], variables


def summarized(tf):
    layers, x = tf.contrib.layers, _input(tf, 4, 3)
    tf.add_to_collection("activations", tf.nn.relu(x))
    tf.add_to_collection("activations", tf.nn.relu6(x))
    tf.add_to_collection("mine", tf.constant(3.0, name="scalar"))
    tf.add_to_collection("mine", tf.constant("text", name="text"))
    layers.summarize_activations()
    layers.summarize_collection("mine")
    layers.summarize_collection("activations", name_filter="Relu6")
    layers.summarize_tensors([x], summarizer=lambda tensor: tf.summary.scalar("mean", tf.reduce_mean(tensor)))
    return _listed(tf, "summaries")


def variables(tf):
    framework = tf.contrib.framework
    tf.set_random_seed(7)
    with tf.variable_scope("scope"):
        framework.variable("a", [2], collections=["mine"])
        framework.model_variable("b", [2], device="/cpu:0", regularizer=tf.reduce_sum)
    framework.local_variable(3.0, name="c")
    framework.global_variable([1.0, 2.0], name="d")
    framework.variable("e", [3], device=framework.VariableDeviceChooser())
    framework.variable("f", [3])
    step = framework.get_or_create_global_step()
    found = [
        framework.get_variables(), framework.get_variables("scope"), framework.get_variables(suffix="b"),
        framework.get_model_variables(), framework.get_local_variables(), framework.get_trainable_variables("e"),
        framework.get_variables_by_name("b"), framework.get_variables_by_suffix("d"),
        framework.get_variables_to_restore(exclude=["scope"]), framework.get_variables_to_restore(["e", "f"], ["f"]),
        [framework.get_unique_variable("scope/b")], [step],
        framework.filter_variables(framework.get_variables(), ["scope", "e"], ["a"]),
        framework.filter_variables(framework.get_variables(), ["cope", "e"], reg_search=False),
    ]  # fmt: skip
    framework.assign_from_values({"scope/b": np.array([[3.0], [4.0]], np.float32)})
    sums = framework.reduce_sum_n([tf.constant([1.0, 2.0], name="p"), tf.constant([[3.0]], name="q")])
    return [sums] + [tf.constant([v.name for v in each], tf.string) for each in found]
