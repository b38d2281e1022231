"""tf.layers.Layer: scopes, reuse, variables, losses, updates."""


def _affine(tf):
    """A layer whose weights are regularized and whose counter is updated by each call."""

    class Affine(tf.layers.Layer):
        def __init__(self, units=3, regularizer=None, **options):
            super().__init__(**options)
            self.units = units
            self.regularizer = regularizer

        def build(self, input_shape):
            self.input_spec = tf.layers.InputSpec(axes={-1: input_shape[-1].value})
            shape = [input_shape[-1].value, self.units]
            self.kernel = self.add_weight("kernel", shape, regularizer=self.regularizer)
            self.bias = self.add_variable("bias", [self.units], initializer=tf.zeros_initializer())
            self.calls = self.add_weight(
                "calls", (), dtype=tf.int64, initializer=tf.ones_initializer(), trainable=False
            )
            self.built = True

        def call(self, inputs):
            self.add_update(tf.assign_add(self.calls, 1), inputs=True)
            self.add_loss(tf.reduce_mean(inputs), inputs=True)
            return tf.matmul(inputs, self.kernel) + self.bias

    return Affine


def _input(tf):
    tf.set_random_seed(7)
    return tf.constant([[1.0, -2.0], [0.5, 4.0]], name="x")


def _listed(tf, *names):
    """Collections as constants, so that they are compared."""
    graph = tf.get_default_graph()
    return [tf.constant([item.name for item in graph.get_collection(name)], tf.string) for name in names]


def calls(tf):
    x, layer = _input(tf), _affine(tf)()
    results = [layer(x), layer.apply(x), _affine(tf)()(x)]
    return results + _listed(tf, "variables", "trainable_variables", "update_ops", "regularization_losses")


def names_and_scopes(tf):
    x, affine = _input(tf), _affine(tf)
    results = [affine(name="a")(x), affine(name="a")(x), affine(name="A")(x)]
    with tf.variable_scope("outer"):
        results += [affine()(x), affine()(x)]
        with tf.name_scope("inner"):
            results += [affine(name="b")(x)]
    with tf.variable_scope("outer"):
        results += [affine(name="again")(x)]
    with tf.variable_scope("outer", reuse=True):
        results += [affine()(x), affine(name="b")(x)]
    with tf.variable_scope("later") as later:
        pass
    results += [affine(name="c")(x, scope=later), affine(_scope="d")(x), affine(_scope="d", _reuse=True)(x)]
    results += [affine(name="a", _reuse=True)(x)]
    layer = affine()
    results += [layer(x, scope="e")]
    with tf.variable_scope("elsewhere"):
        results += [layer(x)]
    described = [layer.name, layer.scope_name, later.name] + [v.name for v in layer.weights]
    return results + [tf.constant(described)] + _listed(tf, "variables")


def reused_with_auto_reuse(tf):
    x, affine = _input(tf), _affine(tf)
    results = []
    for _ in range(2):
        with tf.variable_scope("shared", reuse=tf.AUTO_REUSE):
            results += [affine(name="a")(x), affine(4)(x)]
    return results + _listed(tf, "variables", "update_ops")


def regularized(tf):
    x = _input(tf)
    layer = _affine(tf)(regularizer=lambda v: 0.5 * tf.reduce_sum(v * v), activity_regularizer=tf.reduce_sum)
    results = [layer(x), layer(2 * x)]
    layer = _affine(tf)(regularizer=lambda v: None)
    results += [layer(x)]
    with tf.variable_scope("scope", regularizer=lambda v: tf.reduce_sum(tf.abs(v))):
        layer = _affine(tf)()
        results += [layer(x)]
    results += layer.losses
    return results + _listed(tf, "regularization_losses")


def what_depends_on_inputs(tf):
    x, layer = _input(tf), _affine(tf)(regularizer=tf.reduce_sum)
    other = 3 * x
    layer(x)
    layer(other)
    free = tf.assign_add(layer.calls, 5)
    layer.add_update(free)
    layer.add_update(lambda: tf.assign_add(layer.calls, 6))
    layer.add_loss(tf.reduce_sum(layer.kernel))
    names = []
    for given in (None, x, other, [x, other]):
        names.append(" ".join(update.name for update in layer.get_updates_for(given)))
        names.append(" ".join(loss.name for loss in layer.get_losses_for(given)))
    return [tf.constant(names)]


def custom_getters(tf):
    x = _input(tf)

    def not_trained(getter, *args, **kwargs):
        kwargs["trainable"] = False
        return getter(*args, **kwargs)

    with tf.variable_scope("frozen", custom_getter=not_trained):
        layer = _affine(tf)()
        results = [layer(x)]
    counts = [len(layer.trainable_weights), len(layer.non_trainable_weights)]

    def doubled(getter, name, **kwargs):
        return (
            (2 if "bias" in name else 1) * getter(name, **kwargs) if "calls" not in name else getter(name, **kwargs)
        )

    with tf.variable_scope("doubled", custom_getter=doubled):
        layer = _affine(tf)()
        results += [layer(x)]
    return results + [tf.constant(counts)] + _listed(tf, "variables", "trainable_variables")


def partitioned(tf):
    x = _input(tf)
    with tf.variable_scope("parts", partitioner=tf.fixed_size_partitioner(2)):
        layer = _affine(tf)(4, regularizer=tf.reduce_sum)
        results = [layer(tf.concat([x, x], 1))]
    counts = [len(layer.trainable_weights), len(layer.weights), layer.count_params()]
    return results + [tf.constant(counts)] + _listed(tf, "variables", "regularization_losses")


def types(tf):
    x = _input(tf)
    layers = [tf.layers.Layer(), tf.layers.Layer(dtype=tf.float16), tf.layers.Layer(), tf.layers.Layer()]
    names = [str(layer.dtype) for layer in layers]
    layers[2].add_weight("w", [2], dtype=tf.int32)
    layers[3](tf.cast(x, tf.float64))
    for layer in layers[:2]:
        layer.add_weight("v", [2])
    layers[0].add_weight("flag", (), dtype=tf.bool)
    names += [str(layer.dtype) for layer in layers]
    return [tf.constant(names)] + [weight for layer in layers for weight in layer.weights]


def of_resource_variables(tf):
    x = _input(tf)
    with tf.variable_scope("resources", use_resource=True):
        layer = _affine(tf)(regularizer=tf.reduce_sum)
        return [layer(x), layer(x)]


def with_initializers_by_name(tf):
    tf.set_random_seed(1)
    layer = tf.layers.Layer()
    names = (
        "zeros ones normal uniform truncated_normal glorot_normal glorot_uniform he_normal he_uniform lecun_normal "
        "lecun_uniform orthogonal identity Zeros VarianceScaling RandomNormal"
    )
    weights = [layer.add_weight("v%d" % i, [3, 3], initializer=name) for i, name in enumerate(names.split())]
    config = {"class_name": "Constant", "config": {"value": 4.0}}
    weights.append(layer.add_weight("constant", [2], initializer=config))
    weights.append(layer.add_weight("class", [2], initializer=tf.ones_initializer))
    return weights


def nested_inputs(tf):
    class Sum(tf.layers.Layer):
        def call(self, inputs, scope=None, shift=0.0):
            total = inputs["a"] + inputs["b"] + shift
            return {"sum": total, "scope": tf.constant(scope.name)}

    x = _input(tf)
    layer = Sum()
    first = layer({"a": x, "b": 2 * x}, shift=1.0)
    second = layer({"a": x, "b": x}, shift=2.0)
    return [first["sum"], first["scope"], second["sum"], second["scope"]]


def of_arrays(tf):
    return [tf.layers.Layer(name="same")(3.0) + 1.0, tf.layers.Layer()([1.0, 2.0])[0]]


def in_keras_style(tf):
    x = _input(tf)
    with tf.layers.experimental.keras_style_scope():
        layers = [_affine(tf)(name="a", regularizer=tf.reduce_sum), _affine(tf)(name="a"), _affine(tf)()]
    with tf.variable_scope("ignored", reuse=True):
        results = [layer(x) for layer in layers]
    return results + [layers[0](x)] + _listed(tf, "variables", "update_ops", "regularization_losses")
