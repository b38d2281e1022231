"""tf.contrib.losses.metric_learning, tf.contrib.deprecated and tf.contrib.lookup's old names."""

import numpy as np

from programs.snippets.lookup_tables import _counted_names


def _embeddings(tf, name, phase):
    values = np.sin(np.arange(18) * 0.7 + phase).reshape(6, 3).astype(np.float32)
    return tf.constant(values, name=name)


def _with_gradients(tf, losses, *inputs):
    return losses + [g for loss in losses for g in tf.gradients(loss, list(inputs)) if g is not None]


def metric_learning(tf):
    a, b = _embeddings(tf, "a", 0.0), _embeddings(tf, "b", 0.4)
    labels = tf.constant([0, 1, 0, 2, 1, 0])
    m = tf.contrib.losses.metric_learning
    losses = [
        m.contrastive_loss(tf.constant([1, 0, 1, 0, 0, 1]), a, b, margin=2.0),
        m.triplet_semihard_loss(labels, a),
        m.lifted_struct_loss(labels, a, margin=0.5),
        m.npairs_loss(labels, a, b),
    ]
    return _with_gradients(tf, losses, a, b)


def several_labels(tf):
    a, b = _embeddings(tf, "a", 0.0)[:2], _embeddings(tf, "b", 0.4)[:2]
    labels = [
        tf.SparseTensor([[0], [2]], tf.constant([1, 1], tf.int64), [4]),
        tf.SparseTensor([[0], [1]], tf.constant([1, 1], tf.int64), [4]),
    ]
    loss = tf.contrib.losses.metric_learning.npairs_loss_multilabel(labels, a, b)
    return _with_gradients(tf, [loss], a, b)


def old_summaries(tf):
    m = tf.contrib.deprecated
    found = [
        m.scalar_summary("loss", 0.5),
        m.scalar_summary(["a", "b"], [1.0, 2.0], name="two", collections=["other"]),
        m.image_summary("image", tf.ones([1, 2, 2, 1])),
    ]
    m.histogram_summary("weights", tf.ones([3]))
    m.merge_summary(found[:2], collections=["merged"])
    m.merge_all_summaries()
    names = [tf.constant([t.name for t in tf.get_collection(key)]) for key in ("summaries", "other", "merged")]
    return [*found, *names]


def old_tables(tf):
    m = tf.contrib.lookup
    keys, values = tf.constant(["a", "b"]), tf.constant([3, 4], tf.int64)
    table = m.HashTable(m.KeyValueTensorInitializer(keys, values), -1)
    shared = m.HashTable(m.KeyValueTensorInitializer(values, keys), "none", shared_name="shared", name="named")
    query = tf.constant(["b", "c", "a"])
    with _counted_names():
        made = m.string_to_index_table_from_tensor(tf.constant(["x", "a"]))
        found = [
            table.lookup(query),
            shared.lookup(tf.constant([4, 5], tf.int64)),
            m.string_to_index(query, tf.constant(["a", "b"])),
            m.index_to_string(tf.constant([1, 7], tf.int64), tf.constant(["a", "b"])),
            made.lookup(query),
            tf.constant([table.name, shared.name]),
        ]
    with tf.control_dependencies([table.init, shared.init, tf.tables_initializer()]):
        ready = tf.identity(tf.zeros([]))
    return [ready], found
