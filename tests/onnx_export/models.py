"""Small models of every kind that `stillflow convert` knows: {name: function that builds one}.

A function returns {placeholder: value to feed} and the outputs. Variables are allowed.
"""

import numpy as np

import stillflow as tf

RANDOM = np.random.RandomState(3)
MODELS = {}


def model(function):
    MODELS[function.__name__] = function
    return function


def floats(*dims, scale=1.0):
    return (RANDOM.standard_normal(dims) * scale).astype(np.float32)


def fed(value, dims=None):
    value = np.asarray(value)
    return tf.placeholder(value.dtype, value.shape if dims is None else dims), value


def weights(*dims, scale=0.3):
    return tf.Variable(floats(*dims, scale=scale))


@model
def convnet():
    x, value = fed(floats(2, 28, 28, 1), [None, 28, 28, 1])
    keep = tf.placeholder(tf.float32, [])
    h = tf.nn.relu(tf.nn.conv2d(x, weights(5, 5, 1, 4), [1, 1, 1, 1], "SAME") + weights(4))
    h = tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    h = tf.nn.relu(tf.nn.conv2d(h, weights(5, 5, 4, 6), [1, 2, 2, 1], "SAME") + weights(6))
    h = tf.nn.dropout(tf.reshape(h, [-1, 7 * 7 * 6]), keep)
    return {x: value}, [tf.nn.softmax(tf.matmul(h, weights(7 * 7 * 6, 10)))], {keep: 1.0}


@model
def layers():
    x, value = fed(floats(2, 11, 12, 3), [None, 11, 12, 3])
    h = tf.layers.separable_conv2d(x, 6, 3, padding="same", depth_multiplier=2, activation=tf.nn.elu)
    h = tf.layers.batch_normalization(h)
    h = tf.layers.conv2d_transpose(h, 4, 3, strides=2, padding="same", activation=tf.nn.leaky_relu)
    h = tf.layers.average_pooling2d(h, 3, 2, padding="same")
    h = tf.layers.conv2d(h, 5, 3, dilation_rate=2)
    h = tf.layers.max_pooling2d(h, 2, 2)
    return {x: value}, [tf.layers.dense(tf.layers.flatten(h), 4, activation=tf.nn.selu)]


@model
def volumes():
    x, value = fed(floats(2, 6, 7, 8, 2), [None, 6, 7, 8, 2])
    h = tf.nn.conv3d(x, weights(2, 3, 3, 2, 4), [1, 1, 2, 1, 1], "SAME")
    h = tf.nn.max_pool3d(h, [1, 2, 2, 2, 1], [1, 2, 2, 2, 1], "VALID")
    return {x: value}, [tf.nn.avg_pool3d(h, [1, 3, 2, 2, 1], [1, 1, 1, 1, 1], "SAME")]


@model
def channels_first():
    x, value = fed(floats(2, 3, 9, 9))
    h = tf.nn.conv2d(x, weights(3, 3, 3, 4), [1, 1, 1, 1], "VALID", data_format="NCHW")
    h = tf.nn.bias_add(h, weights(4), data_format="NCHW")
    return {x: value}, [tf.nn.max_pool(h, [1, 1, 2, 2], [1, 1, 2, 2], "VALID", data_format="NCHW")]


@model
def normalization():
    x, value = fed(floats(3, 5, 5, 4))
    trained, _, _ = tf.nn.fused_batch_norm(x, weights(4), weights(4))
    frozen, _, _ = tf.nn.fused_batch_norm(
        x, weights(4), weights(4), weights(4), tf.abs(weights(4)) + 1.0, is_training=False
    )
    mean, variance = tf.nn.moments(x, [0, 1, 2])
    plain = tf.nn.batch_normalization(x, mean, variance, weights(4), weights(4), 1e-3)
    return {x: value}, [
        trained,
        frozen,
        plain,
        tf.nn.lrn(x, 2, bias=1.0, alpha=0.5, beta=0.75),
        tf.nn.l2_normalize(x, 3),
    ]


@model
def condition_of_training():
    x, value = fed(floats(3, 6), [None, 6])
    training = tf.placeholder(tf.bool, [])
    h = tf.layers.batch_normalization(x, training=training)
    h = tf.layers.dropout(h, 0.5, training=training)
    return {x: value}, [tf.cond(training, lambda: h * 2, lambda: h + 1)], {training: False}


@model
def condition_of_data():
    x, value = fed(floats(3, 6), [None, 6])
    y = tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: tf.cond(x[0, 0] > 0, lambda: x[:1], lambda: x[:2] - 7))
    return {x: value}, [y]


@model
def activations():
    x, value = fed(floats(4, 5) * 2)
    kinds = "elu relu relu6 leaky_relu selu sigmoid softplus softsign tanh softmax log_softmax swish".split()
    return {x: value}, [getattr(tf.nn, kind)(x) for kind in kinds]


@model
def unary():
    x, value = fed(np.abs(floats(4, 5)) + 0.1)
    kinds = "abs ceil cos erf erfc exp expm1 floor log log1p negative reciprocal rint rsqrt sign sin sqrt square tan"
    found = [getattr(tf, kind)(x) if hasattr(tf, kind) else getattr(tf.math, kind)(x) for kind in kinds.split()]
    return {x: value}, [*found, tf.is_nan(x), tf.is_inf(x), tf.is_finite(x), tf.zeros_like(x), tf.ones_like(x)]


@model
def binary():
    x, value = fed(floats(4, 5) * 3)
    y, other = fed(floats(5) * 3)
    i, whole = fed(RANDOM.randint(-9, 9, [4, 5]).astype(np.int32))
    j, divisor = fed(np.array([1, -2, 3, -4, 5], np.int32))
    found = [x + y, x - y, x * y, x / y, x // y, x % y, i // j, i % j, tf.truncatemod(i, j), tf.maximum(x, y)]
    found += [
        tf.minimum(x, y),
        tf.squared_difference(x, y),
        tf.pow(tf.abs(x), y),
        tf.div_no_nan(x, y),
        tf.equal(i, j),
    ]
    found += [tf.not_equal(i, j), x < y, x <= y, x > y, x >= y, tf.logical_xor(x > 0, y > 0), tf.add_n([x, x, x])]
    found += [tf.where(x > 0, x, -x), tf.where(x[:, 0] > 0, x, -x), tf.cast(x, tf.int32), tf.add_n([i, i])]
    return {x: value, y: other, i: whole, j: divisor}, found


@model
def reductions():
    x, value = fed(floats(3, 4, 5), [None, 4, 5])
    found = [
        getattr(tf, f"reduce_{kind}")(x, axis) for kind in ("sum", "mean", "max", "min", "prod") for axis in (1, None)
    ]
    found += [tf.reduce_all(x > -1, 2), tf.reduce_any(x > 1, [0, 2]), tf.reduce_logsumexp(x, -1), tf.nn.l2_loss(x)]
    found += [tf.argmax(x, 1), tf.argmin(x, 2, output_type=tf.int32), tf.cumsum(x, 1, exclusive=True, reverse=True)]
    return {x: value}, [*found, tf.norm(x, axis=2), tf.reduce_mean(x, [1, 2], keepdims=True)]


@model
def shapes():
    x, value = fed(floats(3, 4, 6), [None, 4, 6])
    size = tf.shape(x)
    found = [
        size,
        tf.size(x),
        tf.rank(x),
        tf.reshape(x, [-1, 24]),
        tf.reshape(x, [size[0], 2, -1]),
        tf.expand_dims(x, 1),
    ]
    found += [tf.squeeze(x[:, :1], 1), tf.transpose(x, [2, 0, 1]), tf.concat([x, x], 2), tf.stack([x, x], 1)]
    found += [*tf.unstack(x, axis=1), *tf.split(x, 2, axis=2), *tf.split(x, [1, -1], axis=1), tf.tile(x, [1, 2, 1])]
    found += [tf.pad(x, [[0, 0], [1, 2], [0, 1]]), tf.pad(x, [[0, 0], [1, 2], [2, 1]], "REFLECT")]
    found += [
        tf.pad(x, [[0, 0], [1, 2], [2, 1]], "SYMMETRIC"),
        tf.pad(x, [[0, 0], [1, 2], [2, 1]], constant_values=3),
    ]
    found += [
        tf.fill([size[0], 2], 7.0),
        tf.broadcast_to(x[:, :1, :1], size),
        tf.range(size[0]),
        tf.zeros([size[0], 3]),
    ]
    return {x: value}, found


@model
def slices():
    x, value = fed(floats(5, 6, 7), [None, 6, 7])
    i, place = fed(np.array(2, np.int32))
    found = [x[1], x[-1], x[:, 1:-1], x[..., 2], x[:, tf.newaxis, ::2, -1], x[i], x[:i], x[i:, ::-1], x[::-2, 1, 3:]]
    found += [tf.slice(x, [1, 2, 3], [-1, 2, 3]), tf.slice(x, [0, i, 0], [-1, 1, -1]), tf.reverse(x, [1, 2])]
    found += [tf.gather(x, [2, 0]), tf.gather(x, [[1, 5], [0, 0]], axis=1), tf.gather_nd(x, [[0, 1], [2, 3]])]
    found += [
        tf.scatter_nd([[1], [1], [3]], x[:3, 0], [5, 7]),
        tf.where(x[0] > 1),
        tf.boolean_mask(x, x[:, 0, 0] > 0),
    ]
    found += [tf.one_hot([0, 2, -1], 4, on_value=5.0), tf.one_hot(i, 3, axis=-1), *tf.nn.top_k(x, 2)]
    return {x: value, i: place}, [*found, tf.reverse_sequence(x, [1, 2, 3, 4, 5], seq_axis=1, batch_axis=0)]


@model
def products():
    x, value = fed(floats(3, 4), [None, 4])
    y, other = fed(floats(2, 3, 4), [None, 3, 4])
    found = [tf.matmul(x, weights(4, 5))]
    found += [tf.matmul(x, weights(5, 4), transpose_b=True), tf.matmul(x, x, transpose_a=True)]
    found += [tf.matmul(y, y, transpose_b=True), tf.matmul(y, y, adjoint_a=True), tf.tensordot(y, weights(4, 2), 1)]
    return {x: value, y: other}, [
        *found,
        tf.einsum("bij,jk->bik", y, weights(4, 3)),
        tf.nn.xw_plus_b(x, weights(4, 2), weights(2)),
    ]


@model
def blocks_of_space():
    x, value = fed(floats(2, 6, 8, 3), [None, 6, 8, 3])
    found = [tf.space_to_depth(x, 2), tf.depth_to_space(tf.concat([x, x, x, x], 3), 2)]
    found += [
        tf.space_to_batch_nd(x, [3, 2], [[1, 2], [0, 0]]),
        tf.nn.atrous_conv2d(x, weights(3, 3, 3, 2), 2, "SAME"),
    ]
    dealt = tf.space_to_batch_nd(x, [2, 2], [[0, 0], [0, 0]])
    return {x: value}, [*found, tf.batch_to_space_nd(dealt, [2, 2], [[0, 1], [1, 0]])]


@model
def resizes():
    x, value = fed(floats(2, 5, 6, 3), [None, 5, 6, 3])
    found = []
    for align in (False, True):
        found += [tf.image.resize_bilinear(x, [8, 9], align_corners=align)]
        found += [tf.image.resize_nearest_neighbor(x, [8, 4], align_corners=align)]
    return {x: value}, [*found, tf.image.resize_bilinear(x, [11, 13], half_pixel_centers=True)]


@model
def dynamic_lstm():
    x, value = fed(floats(3, 5, 4), [None, 5, 4])
    outputs, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(6), x, dtype=tf.float32)
    return {x: value}, [outputs, state.c, state.h]


@model
def ragged_gru():
    x, value = fed(floats(3, 5, 4), [None, None, 4])
    lengths, count = fed(np.array([5, 2, 3], np.int32), [None])
    outputs, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(6), x, lengths, dtype=tf.float32)
    return {x: value, lengths: count}, [outputs, state]


@model
def both_directions():
    x, value = fed(floats(2, 4, 3), [None, None, 3])
    lengths, count = fed(np.array([4, 2], np.int32), [None])
    cells = [tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(3) for _ in range(2)]) for _ in range(2)]
    outputs, _ = tf.nn.bidirectional_dynamic_rnn(*cells, x, lengths, dtype=tf.float32)
    return {x: value, lengths: count}, list(outputs)


@model
def block_cells():
    x, value = fed(floats(4, 3, 5))
    lstm = tf.contrib.rnn.LSTMBlockCell(4, use_peephole=True)
    gru = tf.contrib.rnn.GRUBlockCellV2(4)
    outputs, _ = tf.nn.static_rnn(lstm, tf.unstack(x), dtype=tf.float32)
    others, _ = tf.nn.static_rnn(gru, tf.unstack(x), dtype=tf.float32)
    return {x: value}, [*outputs, *others]


@model
def block_lstm():
    x, value = fed(floats(4, 3, 5))
    zeros = tf.zeros([3, 6])
    options = {"wci": weights(6), "wcf": weights(6), "wco": weights(6), "b": weights(24), "use_peephole": True}
    found = tf.raw_ops.BlockLSTM(
        seq_len_max=tf.constant(3, tf.int64),
        x=x,
        cs_prev=zeros,
        h_prev=zeros,
        w=weights(11, 24),
        cell_clip=-1,
        **options,
    )
    return {x: value}, [found.h]


@model
def plain_loop():
    n, count = fed(np.array(5, np.int32))
    x, value = fed(floats(2, 2))
    step = weights(2, 2)
    _, product, sums = tf.while_loop(
        lambda i, product, sums: i < n,
        lambda i, product, sums: (i + 1, tf.matmul(product, step), sums + tf.reduce_sum(product)),
        [0, x, 0.0],
    )
    return {n: count, x: value}, [product, sums]


@model
def mapped():
    x, value = fed(floats(4, 3), [None, 3])
    return {x: value}, [tf.map_fn(lambda row: row * tf.reduce_sum(row), x), tf.scan(lambda a, b: a + b, x)]


def _decoder(of_memory, size):
    """(a cell with attention to the memory of a batch of 2, its zero state for a batch of `size`, feeds)."""
    memory, value = fed(floats(2, 5, 4))
    cell = tf.contrib.seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(6), of_memory(memory), attention_layer_size=6)
    return cell, cell.zero_state(size, tf.float32), {memory: value}


@model
def beams_with_attention():
    seq2seq = tf.contrib.seq2seq

    def of_memory(memory):
        return seq2seq.LuongAttention(6, seq2seq.tile_batch(memory, 3))

    cell, state, feeds = _decoder(of_memory, 6)
    projection = tf.layers.Dense(9, kernel_initializer=tf.random_normal_initializer())
    decoder = seq2seq.BeamSearchDecoder(cell, weights(9, 4), [1, 1], 2, state, 3, output_layer=projection)
    outputs, _, lengths = seq2seq.dynamic_decode(decoder, maximum_iterations=7)
    return feeds, [outputs.predicted_ids, lengths]


@model
def monotonic_attention():
    """Its running products are those of all of the memory; the helper reads inputs behind the last in a branch."""
    seq2seq = tf.contrib.seq2seq
    cell, state, feeds = _decoder(lambda memory: seq2seq.BahdanauMonotonicAttention(6, memory, mode="parallel"), 2)
    (memory,) = feeds
    helper = seq2seq.TrainingHelper(memory, [5, 3])
    outputs, *_ = seq2seq.dynamic_decode(seq2seq.BasicDecoder(cell, helper, state))
    return feeds, [outputs.rnn_output]
