"""Lists of tensors as values, with gradients."""

import importlib

import numpy as np


def _lists(tf):
    return importlib.import_module(tf.__name__ + ".python.ops.list_ops")


def _rows(tf):
    return tf.constant(np.arange(6.0).reshape(3, 2), name="rows")


def items(tf):
    lists, rows = _lists(tf), _rows(tf)
    given = lists.tensor_list_from_tensor(rows, element_shape=[2])
    item = lists.tensor_list_get_item(given, 1, tf.float64)
    changed = lists.tensor_list_set_item(given, 0, item * 3.0)
    whole = lists.tensor_list_stack(changed, tf.float64, element_shape=[2])
    return [whole, tf.gradients(whole * whole, rows)[0], lists.tensor_list_length(changed)]


def ends(tf):
    lists, row = _lists(tf), tf.placeholder_with_default([1.0, 2.0], [2])
    longer = lists.tensor_list_push_back(lists.tensor_list_reserve(None, 3, tf.float32), row)
    whole = lists.tensor_list_stack(longer, tf.float32)
    shorter, last = lists.tensor_list_pop_back(longer, tf.float32)
    return [whole, tf.gradients(whole * whole, row)[0], last, lists.tensor_list_length(shorter)]


def parts(tf):
    lists, column = _lists(tf), tf.constant([[1.0], [2.0], [3.0]])
    cut = lists.tensor_list_split(column, [None, 1], [1, 2])
    whole = lists.tensor_list_concat(cut, tf.float32)
    return [whole, tf.gradients(whole * whole, column)[0]]


def places(tf):
    lists, rows = _lists(tf), _rows(tf)
    picked = lists.tensor_list_gather(lists.tensor_list_from_tensor(rows, [2]), [2, 0], tf.float64)
    spread = lists.tensor_list_stack(lists.tensor_list_scatter(rows, [2, 0, 3], element_shape=[2]), tf.float64)
    return [picked, tf.gradients(picked * picked, rows)[0], spread, tf.gradients(spread * spread, rows)[0]]


def lists_of_loops(tf):
    lists, rows = _lists(tf), _rows(tf)
    _, grown = tf.while_loop(
        lambda i, grown: i < 3,
        lambda i, grown: (i + 1, lists.tensor_list_push_back(grown, tf.cast(i, tf.float64) * rows[0] + rows[1])),
        [tf.constant(0), lists.empty_tensor_list([2], tf.float64)],
    )
    whole = lists.tensor_list_stack(grown, tf.float64, element_shape=[2])
    return [whole, tf.gradients(whole * whole, rows)[0]]


def in_data_sets(tf):
    arrays = tf.data.Dataset.range(2).map(lambda i: tf.TensorArray(tf.int64, 2).write(0, i).write(1, i + 5))
    elements = arrays.map(lambda array: (array.stack(), array.size(), array.read(1))).batch(2)
    return list(elements.make_one_shot_iterator().get_next())
