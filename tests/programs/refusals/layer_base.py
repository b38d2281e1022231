"""tf.layers.Layer and tf.layers.InputSpec."""


def _layer(tf, spec=None, **options):
    layer = tf.layers.Layer(name="given", **options)
    layer.input_spec = spec
    return layer


def _returns_none(tf):
    class Silent(tf.layers.Layer):
        def call(self, inputs):
            return None

    return Silent()(tf.placeholder(tf.float32, [2]))


def _reused(tf, **options):
    tf.layers.Layer(name="a").add_weight("w", [2])
    tf.layers.Layer(name="a", _scope="a", **options).add_weight("w", [2])


def _with_keras_style(tf, **options):
    with tf.layers.experimental.keras_style_scope():
        tf.layers.Layer(**options)


def cases(tf):
    spec = tf.layers.InputSpec

    def called(spec, *shapes, **options):
        def call():
            inputs = [tf.placeholder(options.get("dtype", tf.float32), shape) for shape in shapes]
            _layer(tf, spec)(inputs[0] if len(inputs) == 1 else inputs)

        return call

    return {
        "wrong argument": lambda: tf.layers.Layer(unknown=3),
        "no spec": lambda: _layer(tf, spec=3),
        "wrong axis": lambda: spec(axes={"a": 3}),
        "axis beyond rank": lambda: spec(ndim=2, axes={2: 3}),
        "axis beyond largest rank": lambda: spec(max_ndim=2, axes={4: 3}),
        "rank": called(spec(ndim=3), [2, 2]),
        "rank unknown": called(spec(ndim=3), None),
        "rank too large": called(spec(max_ndim=1), [2, 2]),
        "rank too small": called(spec(min_ndim=3), [2, None]),
        "type": called(spec(dtype="float32"), [2], dtype=tf.int32),
        "size of axis": called(spec(axes={-1: 2}), [None, 3]),
        "shape": called(spec(shape=(None, 3)), [5, 4]),
        "number of inputs": called([spec(), spec()], [3]),
        "second input": called([spec(ndim=1), spec(ndim=1)], [3], [3, 3]),
        "returns none": lambda: _returns_none(tf),
        "no scope": lambda: tf.layers.Layer(name="a").scope_name,
        "not reused": lambda: _reused(tf),
        "other shape": lambda: tf.layers.Layer(name="b", _reuse=True).add_weight("w", [2]),
        "weight of string": lambda: tf.layers.Layer().add_weight("w", [2], dtype=tf.string),
        "unknown argument of weight": lambda: tf.layers.Layer().add_weight("w", [2], getter=3),
        "unknown initializer": lambda: tf.layers.Layer().add_weight("w", [2], initializer="other"),
        "initializer of no kind": lambda: tf.layers.Layer().add_weight("w", [2], initializer=3),
        "trained and read from copies": lambda: tf.layers.Layer().add_weight(
            "w", [2], trainable=True, synchronization=tf.VariableSynchronization.ON_READ
        ),
        "not built": lambda: _layer(tf).count_params(),
        "no shape of outputs": lambda: _layer(tf).compute_output_shape([2, 3]),
        "no input": lambda: _layer(tf).input,
        "no output": lambda: _layer(tf).output,
        "no shape of input": lambda: _layer(tf).input_shape,
        "no shape of output": lambda: _layer(tf).output_shape,
        "no node": lambda: _layer(tf).get_input_at(0),
        "no shape at node": lambda: _layer(tf).get_output_shape_at(0),
        "weights of another number": lambda: _layer(tf).set_weights([3]),
        "mask": lambda: _layer(tf).compute_mask(3, [4]),
        "scope and keras style": lambda: _with_keras_style(tf, _scope="a"),
        "reuse and keras style": lambda: _with_keras_style(tf, _reuse=True),
        "losses that are values": lambda: _layer(tf).get_losses_for(3),
    }
