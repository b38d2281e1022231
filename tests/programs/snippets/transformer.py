"""Deep graphs whose shapes are made of tf.shape, in the manner of GPT-2 and BERT."""

import numpy as np

_WIDTH = 8
_HEADS = 2
_WORDS = 11


def _sizes(tf, x):
    """Those that are known, and pieces of tf.shape for the others."""
    dynamic = tf.shape(x)
    return [dynamic[i] if size is None else size for i, size in enumerate(x.shape.as_list())]


def _weights(tf, name, shape):
    count = int(np.prod(shape))
    values = np.sin(np.arange(count) + len(name)).reshape(shape) / 4
    return tf.get_variable(name, shape, initializer=tf.constant_initializer(values))


def _normed(tf, x, scope):
    with tf.variable_scope(scope):
        scale = tf.get_variable("g", [x.shape[-1].value], initializer=tf.constant_initializer(1))
        offset = tf.get_variable("b", [x.shape[-1].value], initializer=tf.constant_initializer(0))
        mean = tf.reduce_mean(x, axis=-1, keepdims=True)
        variance = tf.reduce_mean(tf.square(x - mean), axis=-1, keepdims=True)
        return (x - mean) * tf.rsqrt(variance + 1e-5) * scale + offset


def _dense(tf, x, scope, width):
    with tf.variable_scope(scope):
        sizes = _sizes(tf, x)
        w = _weights(tf, "w", [1, sizes[-1], width])
        b = tf.get_variable("b", [width], initializer=tf.constant_initializer(0))
        rows = tf.matmul(tf.reshape(x, [-1, sizes[-1]]), tf.reshape(w, [-1, width])) + b
        return tf.reshape(rows, sizes[:-1] + [width])


def _heads(tf, x):
    sizes = _sizes(tf, x)
    return tf.transpose(tf.reshape(x, sizes[:-1] + [_HEADS, sizes[-1] // _HEADS]), [0, 2, 1, 3])


def _attention(tf, x, scope):
    width = x.shape[-1].value
    with tf.variable_scope(scope):
        q, k, v = (_heads(tf, part) for part in tf.split(_dense(tf, x, "c_attn", 3 * width), 3, axis=2))
        w = tf.matmul(q, k, transpose_b=True) * tf.rsqrt(tf.cast(v.shape[-1].value, tf.float32))
        _, _, rows, columns = _sizes(tf, w)
        mask = tf.range(rows)[:, None] >= tf.range(columns) - columns + rows
        mask = tf.reshape(tf.cast(mask, w.dtype), [1, 1, rows, columns])
        y = tf.transpose(tf.matmul(tf.nn.softmax(w * mask - 1e10 * (1 - mask)), v), [0, 2, 1, 3])
        sizes = _sizes(tf, y)
        return _dense(tf, tf.reshape(y, sizes[:-2] + [sizes[-2] * sizes[-1]]), "c_proj", width)


def _block(tf, x, scope):
    with tf.variable_scope(scope):
        width = x.shape[-1].value
        x = x + _attention(tf, _normed(tf, x, "ln_1"), "attn")
        hidden = tf.nn.relu(_dense(tf, _normed(tf, x, "ln_2"), "c_fc", width * 2))
        return x + _dense(tf, hidden, "c_proj", width)


def _logits(tf, words, blocks):
    """[batch, time, _WORDS]. What is known of the shapes of the blocks becomes part of the graph."""
    table, places = _weights(tf, "wte", [_WORDS, _WIDTH]), _weights(tf, "wpe", [16, _WIDTH])
    batch, time = _sizes(tf, words)
    positions = tf.tile(tf.expand_dims(tf.range(time), 0), [batch, 1])
    x = tf.gather(table, words) + tf.gather(places, positions)
    shapes = []
    for i in range(blocks):
        x = _block(tf, x, "h%d" % i)
        shapes.append(str(x.shape))
    tf.constant(shapes, name="shapes")
    x = tf.matmul(tf.reshape(_normed(tf, x, "ln_f"), [batch * time, _WIDTH]), table, transpose_b=True)
    return tf.reshape(x, [batch, time, _WORDS])


def twelve_blocks_with_gradients(tf):
    words = tf.placeholder_with_default(tf.constant([[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]]), [None, None])
    logits = _logits(tf, words, 12)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=words[:, 1:], logits=logits[:, :-1]))
    variables = tf.trainable_variables()
    gradients = tf.gradients(loss, variables)
    names = ["h0/attn/c_attn/w", "h11/c_proj/w", "ln_f/g"]
    return [loss] + [g for v, g in zip(variables, gradients) if v.op.name in names]


def many_reshapes(tf):
    """Each shape is made of the one before."""
    x = tf.placeholder_with_default(tf.ones([2, 6, 4]), [None, 6, None])
    shapes = []
    for i in range(200):
        batch, rows, columns = _sizes(tf, x)
        x = tf.reshape(x, [batch * rows, columns] if i % 2 else [batch, rows, columns])
        if i % 2:
            x = tf.reshape(x, [-1, 6, columns])
        shapes.append(str(x.shape))
    tf.constant(shapes, name="shapes")
    return [x, tf.shape(x)]


def sizes_of_sizes(tf):
    """Arithmetic on sizes, deeper than Python nests calls."""
    x = tf.placeholder_with_default(tf.ones([2, 3]), [None, 3])
    size = tf.shape(x)[1]
    for _ in range(400):
        size = tf.identity(size + 1) - 1
    y = tf.reshape(x, [tf.shape(x)[0], size, 1])
    tf.constant([str(y.shape), str(tf.zeros([size]).shape)], name="shapes")
    return [y]


def shapes_that_become_known(tf):
    """What was not known when it was first asked for."""
    x = tf.placeholder_with_default(tf.ones([2, 3, 4]), None)
    shape = tf.shape(x)
    shapes = [str(tf.zeros(shape).shape), str(tf.reshape(x, [shape[0], -1]).shape)]
    x.set_shape([None, 3, None])
    shapes += [str(tf.zeros(shape).shape), str(tf.reshape(x, tf.stack([shape[1], -1])).shape)]
    x.set_shape([2, None, None])
    shapes += [str(tf.zeros(shape).shape), str(tf.reshape(x, tf.stack([shape[0] * shape[1], -1])).shape)]
    x.set_shape([2, 3, 4])
    shapes += [str(tf.zeros(shape).shape), str(tf.reshape(x, [shape[1], -1]).shape)]
    tf.constant(shapes, name="shapes")
    return [shape]
