"""What tf.compat.v2 spells in another way than tf."""


def arrays(tf):
    v2 = tf.compat.v2
    x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    images = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    return [
        v2.boolean_mask(x, [True, False, True], 1), v2.expand_dims(x, 1, "e"), v2.gather(x, [1, 0], axis=1),
        v2.gather_nd(x, [[1]], 0, "g"), v2.ones_like(x, "int32"), v2.zeros_like(input=x, name="z"),
        v2.pad(x, [[0, 1], [1, 0]], "CONSTANT", 7, "p"), v2.reverse_sequence(x, [2, 3], 1, 0), v2.shape(x, "int64"),
        v2.size(x, "int64", "s"), v2.squeeze(x[None], 0), v2.transpose(x, [1, 0], True, "t"),
        v2.nn.space_to_depth(images, 2, "NHWC", "d"), v2.space_to_batch(images, [2, 2], [[0, 0], [0, 0]]),
        v2.batch_to_space(v2.space_to_batch(images, [2, 1], [[0, 0], [0, 0]]), [2, 1], [[0, 0], [0, 0]]),
    ]  # fmt: skip


def math(tf):
    v2 = tf.compat.v2
    x = tf.constant([[1.0, 2.0, 0.0], [4.0, 5.0, 6.0]])
    return [
        v2.argmax(x, 1, tf.int32, "a"), v2.math.argmin(x), v2.reduce_all(x > 0, 1, True), v2.reduce_any(x > 5),
        v2.reduce_logsumexp(x, 0), v2.reduce_max(x, 1, name="m"), v2.math.reduce_mean(x, keepdims=True),
        v2.reduce_min(x), v2.reduce_prod(x, [0]), v2.reduce_sum(x, -1, True, "s"), v2.scalar_mul(2.0, x, "k"),
        v2.math.count_nonzero(x, 0), v2.math.confusion_matrix([0, 1], [1, 1], 2, [2, 3]), v2.norm(x, 1, 1),
        v2.nn.in_top_k([2, 0], x, 1, "top"), v2.math.l2_normalize(x, 1), v2.nn.softmax(x, 0), v2.nn.log_softmax(x),
        v2.math.bincount([1, 1, 3], None, 6), v2.math.bincount([1, 2], [0.5, 1.5], name="b"),
    ]  # fmt: skip


def checks(tf):
    v2 = tf.compat.v2
    x = tf.placeholder_with_default([1.0, 2.0], [None])
    found = [
        v2.assert_equal(x, x, "equal", 2, "e"), v2.assert_less(x, 3.0), v2.debugging.assert_greater_equal(x, 1.0),
        v2.debugging.assert_none_equal(x, 5.0, 3, "none"), v2.debugging.assert_near(x, x, 0.1, 0.2, "near"),
        v2.debugging.assert_positive(x, "positive", 2), v2.debugging.assert_rank(x, 1, "rank"),
        v2.debugging.assert_rank_at_least(x, 1), v2.debugging.assert_rank_in(x, [1, 2]),
    ]  # fmt: skip
    v2.debugging.assert_type(x, tf.float32)
    with tf.control_dependencies(found):
        return [v2.debugging.assert_all_finite(x, "finite")]


def nets(tf):
    v2 = tf.compat.v2
    x = tf.reshape(tf.range(32.0), [1, 4, 4, 2]) / 10
    f = tf.reshape(tf.range(16.0), [2, 2, 2, 2]) / 7
    line, g = x[:, :, 0], f[0]
    return [
        v2.nn.avg_pool2d(x, 2, 2, "VALID"), v2.nn.conv1d(line, g, 1, "SAME"), v2.nn.conv2d(x, f, 1, "VALID"),
        v2.nn.conv2d(x, f, [1, 1, 1, 1], "SAME", "NHWC", [1, 2, 2, 1], "dilated"),
        v2.nn.conv2d_transpose(x, f, [1, 8, 8, 2], 2), v2.nn.convolution(x, f, None, "SAME", dilations=[2, 1]),
        v2.nn.conv3d(x[None], f[None], [1, 1, 1, 1, 1], "SAME"), v2.nn.crelu(x - 1),
        v2.nn.depthwise_conv2d(x, f, [1, 1, 1, 1], "SAME", None, [2, 2]), v2.nn.dropout(x, 0.25, seed=3),
        *v2.nn.moments(x, [0, 1]), v2.nn.pool(x, [2, 2], "MAX", [2, 2], "SAME"),
        v2.nn.separable_conv2d(x, f, tf.ones([1, 1, 4, 3]), [1, 1, 1, 1], "VALID"),
        *v2.nn.weighted_moments(x, [0], tf.ones_like(x), True),
        v2.nn.embedding_lookup([tf.zeros([3, 1]), tf.ones([2, 1])], [0, 2, 3]),
        v2.nn.sigmoid_cross_entropy_with_logits(x, x), v2.nn.softmax_cross_entropy_with_logits(x, x, -1, "xent"),
        v2.nn.sparse_softmax_cross_entropy_with_logits([[[0] * 4] * 4], x),
        v2.nn.weighted_cross_entropy_with_logits(x, x, 2.0),
        v2.nn.nce_loss(tf.ones([4, 2]), tf.zeros([4]), tf.constant([[1], [2]]), tf.ones([2, 2]), 2, 4,
                       sampled_values=([0, 3], tf.ones([2, 1]), tf.ones([2]))),
    ]  # fmt: skip


def texts_and_sparse(tf):
    v2 = tf.compat.v2
    s = tf.SparseTensor([[0, 1], [1, 0]], [1.0, 0.01], [2, 2])
    total = v2.sparse.add(s, s, 0.5)
    joined = v2.sparse.concat(0, [s, s])
    return [
        v2.strings.length(["abc", "d"]), v2.strings.substr("abcd", 1, 2), v2.strings.to_number("2.5"),
        v2.strings.to_hash_bucket(["a", "b"], 10), v2.strings.reduce_join([["a", "b"], ["c", "d"]], 1, True, "-"),
        v2.io.serialize_sparse(s), *v2.io.decode_csv(["1,x"], [[0], [""]], ",", name="csv"),
        total.values, joined.indices, v2.sparse.reduce_sum(s, 1, True), v2.sparse.reduce_max(s),
        v2.sparse.segment_sum(tf.ones([3, 2]), [0, 1], [0, 0]), v2.random.poisson([0], 1.0, seed=1),
    ]  # fmt: skip


def initial_values(tf):
    v2 = tf.compat.v2
    names = "TruncatedNormal RandomNormal RandomUniform GlorotNormal GlorotUniform VarianceScaling lecun_uniform"
    found = [getattr(v2.initializers, name)(seed=5)([3, 2], "float32") for name in [*names.split(), "he_normal"]]
    found += [v2.random_uniform_initializer(0, 9, 2)([4], tf.int32), v2.keras.initializers.Identity(2.0)([2, 2])]
    found += [v2.constant_initializer([1.0, 2.0])([2, 1]), v2.ones_initializer()([2], tf.bool)]
    return [
        *found,
        v2.zeros_initializer()([1], tf.string),
        v2.constant(3, shape=[2]),
        v2.constant([1, 2], shape=[2, 1]),
    ]


def control(tf):
    v2 = tf.compat.v2
    x = tf.constant(3.0)
    with v2.name_scope("inner"):
        y = v2.while_loop(lambda i: i < 5, lambda i: [i + x], [tf.constant(0.0)], maximum_iterations=4, name="loop")[
            0
        ]
        z = v2.cond(x > 2, lambda: [x * 2], lambda: [x], "which")
    return [y, z[0], v2.gradients(y, x)[0], *v2.hessians(x * x * x, x), *v2.tuple([x, y], name="both")]


def transposed_convolutions(tf):
    nn = tf.compat.v2.nn
    x = tf.constant([[[[[1.0], [2.0]], [[3.0], [4.0]]]]], name="x")
    f = tf.constant([0.5, -1.0, 2.0], name="f")
    return [
        nn.conv3d_transpose(x, tf.reshape(f, [1, 1, 3, 1, 1]), [1, 1, 2, 4, 1], [1, 1, 2]),
        nn.conv2d_transpose(x[0], tf.reshape(f, [1, 3, 1, 1]), [1, 2, 4, 1], [1, 2]),
        nn.conv1d_transpose(x[0, 0], tf.reshape(f, [3, 1, 1]), [2, 4, 1], 2),
    ]
