"""Lists as values of variables, their errors, and that changes of one do not show in another."""

import importlib

import pytest

import stillflow as tf

lists = importlib.import_module("stillflow.python.ops.list_ops")


def _stacked(handles):
    return [lists.tensor_list_stack(handle, tf.float32) for handle in handles]


def test_variables_of_lists_are_updated_row_by_row():
    with tf.Graph().as_default(), tf.Session() as session:
        first = lists.tensor_list_from_tensor([1.0, 2.0], [])
        variable = tf.get_variable("v", initializer=[first] * 4, use_resource=True)
        session.run(variable.initializer)
        new = [lists.tensor_list_from_tensor([number, number], []) for number in (3.0, 4.0)]
        for _ in range(3):
            session.run(tf.scatter_update(variable, [1, 3], new).op)
        found = session.run(_stacked(tf.unstack(variable)))
    assert [value.tolist() for value in found] == [[1.0, 2.0], [3.0, 3.0], [1.0, 2.0], [4.0, 4.0]]


def test_a_list_that_others_read_is_not_changed():
    with tf.Graph().as_default(), tf.Session() as session:
        given = lists.tensor_list_from_tensor(tf.placeholder_with_default([1.0, 2.0], [2]), [])
        changed = [lists.tensor_list_set_item(given, i, tf.constant(9.0)) for i in range(2)]
        longer = lists.tensor_list_push_back(given, tf.constant(7.0))
        found = session.run(_stacked([given, *changed, longer]))
    assert [value.tolist() for value in found] == [[1.0, 2.0], [9.0, 2.0], [1.0, 9.0], [1.0, 2.0, 7.0]]


def test_lists_are_added_element_by_element_and_zeros_are_like_them():
    with tf.Graph().as_default(), tf.Session() as session:
        a = lists.tensor_list_set_item(lists.tensor_list_reserve([2], 2, tf.float32), 1, tf.constant([1.0, 2.0]))
        b = lists.tensor_list_from_tensor([[5.0, 6.0], [7.0, 8.0]], [2])
        found = session.run(_stacked([tf.add_n([a, b]), tf.zeros_like(b)]))
        assert [value.tolist() for value in found] == [[[5.0, 6.0], [8.0, 10.0]], [[0.0, 0.0], [0.0, 0.0]]]
        longer = lists.tensor_list_push_back(b, tf.constant([1.0, 1.0]))
        with pytest.raises(tf.errors.InvalidArgumentError, match="different lengths. One is 2 and the other is 3"):
            session.run(_stacked([tf.add_n([a, longer])]))


def _unknown(value):
    return tf.placeholder_with_default(value, None)


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda given: lists.tensor_list_get_item(given, 5, tf.float32), "access element 5 in a list with 2"),
        (lambda given: lists.tensor_list_get_item(given, -1, tf.float32), "access element -1 in a list"),
        (lambda given: lists.tensor_list_get_item(given, 0, tf.int32), "op elements int32 but list elements float"),
        (lambda given: lists.tensor_list_stack(given, tf.float32, 3), "expected a list with 3 elements but"),
        (lambda given: lists.tensor_list_set_item(given, 0, _unknown([[1.0]])), "incompatible shape at a list index"),
        (lambda given: lists.tensor_list_push_back(given, _unknown([[1.0]])), "incompatible shape to a list"),
        (lambda given: lists.tensor_list_gather(given, [7], tf.float32), "Index 7 out o range; list only has 2"),
        (lambda given: lists.tensor_list_resize(given, -1), "expects size to be non-negative. Got: -1"),
        (lambda given: lists.tensor_list_scatter([1.0], [-1], []), "must all be non-negative"),
        (lambda given: lists.tensor_list_split([1.0, 2.0], None, _unknown(tf.constant([1, 5], tf.int64))),
         r"to slice \[1, 6\]"),
        (lambda given: lists.tensor_list_length(tf.data.Dataset.range(3)._variant_tensor), "handle is not a list"),
        (lambda given: lists.tensor_list_stack(lists.tensor_list_reserve(None, 2, tf.int32), tf.int32),
         "only contains uninitialized tensors"),
        (lambda given: lists.tensor_list_pop_back(lists.tensor_list_resize(given, 0), tf.float32), "an empty list"),
    ],
)  # fmt: skip
def test_errors_are_those_of_tensorflow(build, text):
    with tf.Graph().as_default(), tf.Session() as session:
        given = lists.tensor_list_from_tensor(_unknown([[1.0, 2.0], [3.0, 4.0]]), [2])
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            session.run(build(given))


def test_a_list_is_not_saved(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        given = lists.tensor_list_from_tensor([1.0], [])
        save = tf.raw_ops.SaveV2(
            prefix=str(tmp_path / "a"), tensor_names=["a"], shape_and_slices=[""], tensors=[given]
        )
        with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.UnimplementedError), match="variant"):
            session.run(save)
