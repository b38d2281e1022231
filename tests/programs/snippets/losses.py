"""tf.losses: values, weights, reductions, collections."""

import numpy as np

_LABELS = [[0.0, 1.0, 1.0], [1.0, 0.0, 0.5]]
_PREDICTIONS = [[0.1, 0.7, 0.2], [0.9, 0.5, 0.5]]
_WEIGHTS = {"one": 1.0, "scalar": 0.5, "column": [[1.0], [2.0]], "row": [[0.0, 1.0, 3.0]], "zero": 0.0}


def _pairs(tf):
    return tf.constant(_LABELS, name="labels"), tf.constant(_PREDICTIONS, name="predictions")


def _with_gradient(tf, losses, tensor):
    return losses + [g for g in tf.gradients([tf.reduce_sum(x) for x in losses], [tensor]) if g is not None]


def absolute_difference(tf):
    labels, predictions = _pairs(tf)
    losses = [tf.losses.absolute_difference(labels, predictions, w) for _, w in sorted(_WEIGHTS.items())]
    return _with_gradient(tf, losses, predictions)


def mean_squared_error(tf):
    labels, predictions = _pairs(tf)
    losses = [tf.losses.mean_squared_error(labels, predictions, w) for _, w in sorted(_WEIGHTS.items())]
    return _with_gradient(tf, losses, predictions)


def reductions(tf):
    labels, predictions = _pairs(tf)
    losses = [
        tf.losses.mean_squared_error(labels, predictions, weight, reduction=reduction)
        for reduction in tf.losses.Reduction.all()
        for weight in (0.5, [[1.0], [0.0]])
    ]
    return _with_gradient(tf, losses, predictions)


def huber_loss(tf):
    labels, predictions = _pairs(tf)
    losses = [tf.losses.huber_loss(labels, predictions, delta=d) for d in (1.0, 0.3, 0.1)]
    return _with_gradient(tf, losses, predictions)


def log_loss(tf):
    labels, predictions = _pairs(tf)
    losses = [tf.losses.log_loss(labels, predictions, epsilon=e) for e in (1e-7, 0.01)]
    return _with_gradient(tf, losses, predictions)


def cosine_distance(tf):
    labels, predictions = _pairs(tf)
    losses = [
        tf.losses.cosine_distance(labels, predictions, axis=1),
        tf.losses.cosine_distance(labels, predictions, dim=0, weights=[[1.0, 0.0, 2.0]]),
    ]
    return _with_gradient(tf, losses, predictions)


def hinge_loss(tf):
    labels = tf.constant([[0, 1, 1]], tf.int32)
    logits = tf.constant([[-2.0, 0.5, -1.0]])
    return _with_gradient(tf, [tf.losses.hinge_loss(labels, logits)], logits)


def mean_pairwise_squared_error(tf):
    labels, predictions = _pairs(tf)
    losses = [
        tf.losses.mean_pairwise_squared_error(labels, predictions),
        tf.losses.mean_pairwise_squared_error(labels, predictions, [[0.0], [3.0]]),
        tf.losses.mean_pairwise_squared_error(labels, predictions, np.ones((2, 3)) * 2),
        tf.losses.mean_pairwise_squared_error(labels, predictions, 0.0),
    ]
    return _with_gradient(tf, losses, predictions)


def sigmoid_cross_entropy(tf):
    labels = tf.constant([[0, 1, 1], [1, 0, 1]])
    logits = tf.constant([[-2.0, 0.5, -1.0], [0.0, 3.0, -30.0]])
    losses = [tf.losses.sigmoid_cross_entropy(labels, logits, label_smoothing=s) for s in (0, 0.2)]
    return _with_gradient(tf, losses, logits)


def softmax_cross_entropy(tf):
    labels = tf.constant([[0, 1, 0], [1, 0, 0]])
    logits = tf.constant([[-2.0, 0.5, -1.0], [0.0, 3.0, -30.0]])
    losses = [tf.losses.softmax_cross_entropy(labels, logits, label_smoothing=s) for s in (0, 0.2)]
    losses.append(tf.losses.softmax_cross_entropy(labels, logits, weights=[0.5, 2.0]))
    return _with_gradient(tf, losses, logits)


def sparse_softmax_cross_entropy(tf):
    logits = tf.constant([[-2.0, 0.5, -1.0], [0.0, 3.0, -30.0]])
    losses = [
        tf.losses.sparse_softmax_cross_entropy([1, 0], logits),
        tf.losses.sparse_softmax_cross_entropy([[1], [0]], logits, weights=[[0.5], [2.0]]),
        tf.losses.sparse_softmax_cross_entropy(tf.constant([1, 0], tf.int64), logits, weights=[0.0, 2.0]),
    ]
    return _with_gradient(tf, losses, logits)


def of_unknown_ranks(tf):
    logits = tf.placeholder_with_default([[-2.0, 0.5, -1.0], [0.0, 3.0, -30.0]], None)
    labels = tf.placeholder_with_default([1, 0], None)
    weights = tf.placeholder_with_default([[1.0], [0.5]], None)
    return [
        tf.losses.sparse_softmax_cross_entropy(labels, logits, weights),
        tf.losses.mean_squared_error(tf.cast(logits, tf.float32), logits + 1.0, weights),
    ]


def of_unknown_sizes(tf):
    labels = tf.placeholder_with_default(_LABELS, [None, 3])
    predictions = tf.placeholder_with_default(_PREDICTIONS, [None, None])
    weights = tf.placeholder_with_default([[1.0], [0.5]], [None, 1])
    scalar = tf.placeholder_with_default(0.5, [])
    return [tf.losses.mean_squared_error(labels, predictions, w) for w in (weights, scalar)]


def of_other_types(tf):
    halves = tf.constant(_PREDICTIONS, tf.float16)
    whole = tf.constant([[1, 0, 1], [2, 3, 4]])
    return [
        tf.losses.compute_weighted_loss(halves, 2.0),
        tf.losses.compute_weighted_loss(whole, [[1], [2]]),
        tf.losses.compute_weighted_loss(tf.cast(whole, tf.float64), 3, reduction=tf.losses.Reduction.NONE),
        tf.losses.mean_squared_error(whole, tf.cast(whole, tf.float64) / 3),
    ]


def collections_and_scopes(tf):
    labels, predictions = _pairs(tf)
    with tf.name_scope("outer"):
        tf.losses.mean_squared_error(labels, predictions, scope="named")
        tf.losses.log_loss(labels, predictions, loss_collection="mine")
        tf.losses.hinge_loss(labels, predictions, loss_collection=None)
    tf.losses.add_loss(tf.constant(3.0, name="own"))
    tf.get_variable("v", [2], initializer=tf.ones_initializer(), regularizer=tf.reduce_sum)
    totals = [
        tf.losses.get_regularization_loss(),
        tf.losses.get_regularization_loss("other"),
        tf.losses.get_total_loss(),
        tf.losses.get_total_loss(False, name="without"),
        tf.losses.get_total_loss(scope="outer"),
    ]
    found = [
        tf.losses.get_losses(), tf.losses.get_losses("outer"), tf.losses.get_losses(loss_collection="mine"),
        tf.losses.get_regularization_losses(), tf.losses.get_regularization_losses("w"),
    ]  # fmt: skip
    return totals + [tf.constant([loss.name for loss in losses], tf.string) for losses in found]
