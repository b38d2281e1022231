"""tf.losses and tf.sets."""


def cases(tf):
    losses = tf.losses
    x = [[1.0, 2.0], [3.0, 4.0]]

    def of(function, *args, **kwargs):
        return lambda: function(*args, **kwargs)

    return {
        "labels none": of(losses.mean_squared_error, None, x),
        "predictions none": of(losses.log_loss, x, None),
        "logits none": of(losses.hinge_loss, x, None),
        "multi_class_labels none": of(losses.sigmoid_cross_entropy, None, x),
        "onehot_labels none": of(losses.softmax_cross_entropy, None, x),
        "weights none": of(losses.mean_squared_error, x, x, None),
        "weights none of sparse": of(losses.sparse_softmax_cross_entropy, [0, 1], x, None),
        "no axis": of(losses.cosine_distance, x, x),
        "two axes": of(losses.cosine_distance, x, x, axis=1, dim=1),
        "shapes": of(losses.absolute_difference, x, [[1.0], [2.0]]),
        "shapes of huber": of(losses.huber_loss, x, [1.0]),
        "shapes of softmax": of(losses.softmax_cross_entropy, x, [[1.0, 2.0, 3.0]]),
        "rank of weights": of(losses.mean_squared_error, x, x, [1.0, 2.0]),
        "size of weights": of(losses.mean_squared_error, x, x, [[1.0, 2.0, 3.0]]),
        "weights of pairs": of(losses.mean_pairwise_squared_error, x, x, [[1.0, 2.0, 3.0]]),
        "reduction": of(losses.compute_weighted_loss, x, reduction="other"),
        "no losses": of(losses.get_total_loss),
        "sizes of sets": of(tf.sets.set_union, [[1], [2]], [[1, 2]]),
        "rank of sets": of(tf.sets.set_union, [1], [1]),
        "type of sets": of(tf.sets.set_union, [[1.0]], [[1.0]]),
        "types of sets": of(tf.sets.set_union, [[1]], tf.constant([[1]], tf.int64)),
        "size of dense set": of(tf.sets.set_size, tf.constant([[1]])),
        "size of floats": of(tf.sets.set_size, tf.SparseTensor([[0, 0]], [1.0], [1, 1])),
        "rank of sparse sets": of(
            tf.sets.set_union, tf.SparseTensor([[0]], [1], [1]), tf.SparseTensor([[0]], [1], [1])
        ),
    }
