"""TensorArrays and stacks whose handles are strings, as graphs from before TensorFlow 1.0 have them."""

import numpy as np
import pytest

import stillflow as tf

raw = tf.raw_ops


class Arrays:
    """The ops of one version, by what they do."""

    def __init__(self, version):
        self._version = version

    def __getattr__(self, name):
        return getattr(raw, f"TensorArray{name}{self._version}")

    def make(self, size=3, **attrs):
        return self(size=size, dtype=tf.float32, **attrs)

    def __call__(self, **arguments):
        return getattr(raw, f"TensorArray{self._version}")(**arguments)


@pytest.fixture(params=["", "V2"])
def arrays(request):
    return Arrays(request.param)


def run(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


def test_elements_are_written_and_read(arrays):
    handle = arrays.make()
    flow = arrays.Write(handle=handle, index=1, value=[5.0, 6.0], flow_in=0.0)
    assert run(arrays.Size(handle=handle, flow_in=flow)) == 3
    assert run(arrays.Read(handle=handle, index=1, flow_in=flow, dtype=tf.float32)).tolist() == [5, 6]


def test_elements_are_scattered_and_gathered(arrays):
    handle = arrays.make()
    flow = arrays.Scatter(handle=handle, indices=[2, 0, 1], value=[[5.0, 6.0], [1, 2], [3, 4]], flow_in=0.0)
    found = arrays.Gather(handle=handle, indices=[0, 2], flow_in=flow, dtype=tf.float32)
    assert run(found).tolist() == [[1, 2], [5, 6]]


def test_elements_are_split_and_put_together(arrays):
    handle = arrays.make()
    lengths = np.array([1, 0, 2])
    flow = arrays.Split(handle=handle, value=[[5.0, 6.0], [1, 2], [3, 4]], lengths=lengths, flow_in=0.0)
    value, found = run(arrays.Concat(handle=handle, flow_in=flow, dtype=tf.float32))
    assert value.tolist() == [[5, 6], [1, 2], [3, 4]] and found.tolist() == lengths.tolist()


def test_gradients_add_up(arrays):
    handle = arrays.make()
    flow = arrays.Write(handle=handle, index=1, value=[5.0, 6.0], flow_in=0.0)
    gradients = arrays.Grad(handle=tf.identity(handle), flow_in=flow, source="gradients")
    for value in ([1.0, 1.0], [1.0, 2.0]):
        flow = arrays.Write(handle=gradients, index=1, value=value, flow_in=flow)
    assert run(arrays.Read(handle=gradients, index=1, flow_in=flow, dtype=tf.float32)).tolist() == [2, 3]


def test_a_loop_writes(arrays):
    handle = arrays.make(4)

    def body(i, flow):
        return i + 1, arrays.Write(handle=handle, index=i, value=2 * tf.cast(i, tf.float32), flow_in=flow)

    _, flow = tf.while_loop(lambda i, flow: i < 4, body, [0, 0.0])
    assert run(arrays.Gather(handle=handle, indices=tf.range(4), flow_in=flow, dtype=tf.float32)).tolist() == [
        0,
        2,
        4,
        6,
    ]


def test_nothing_is_written_after_closing(arrays):
    handle = arrays.make(tensor_array_name="mine")
    with tf.control_dependencies([arrays.Close(handle=handle)]):
        flow = arrays.Write(handle=handle, index=0, value=1.0, flow_in=tf.constant(0.0))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"TensorArray mine_\d+ has already been closed"):
        run(flow)


def test_handles_are_text(arrays):
    handle = arrays.make(name="here")
    container, name = run(tf.identity(handle))
    assert container == b"_tensor_arrays" and name.startswith(b"here_")
    assert run(tf.strings.length(tf.strings.join([handle, "x"])))[0] == len("_tensor_arraysx")


def test_text_is_no_handle():
    text = tf.placeholder(tf.string, [2])
    read = raw.TensorArrayReadV2(handle=text, index=0, flow_in=0.0, dtype=tf.float32)
    for value in (["a", "b"], ["", ""], run(raw.TensorArrayV2(size=1, dtype=tf.float32))):
        with pytest.raises(tf.errors.NotFoundError, match="Could not find resource"):
            run(read, {text: value})
    size = raw.TensorArraySizeV2(handle=raw.Stack(elem_type=tf.float32), flow_in=0.0)
    with pytest.raises(tf.errors.NotFoundError, match=r"_stacks/_\d+, a TensorArray"):
        run(size)


def test_values_of_other_types_are_refused(arrays):
    read = arrays.Read(handle=arrays.make(), index=1, flow_in=0.0, dtype=tf.int32)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="TensorArray dtype is float but Op requested dtype int32"
    ):
        run(read)


def test_arrays_are_packed_and_unpacked_whole():
    def unpacked(rows, **attrs):
        handle = raw.TensorArray(size=3, dtype=tf.float32, **attrs)
        flow = raw.TensorArrayUnpack(handle=handle, value=np.ones([rows, 2], np.float32), flow_in=0.0)
        return raw.TensorArrayPack(handle=handle, flow_in=flow, dtype=tf.float32)

    assert run(unpacked(3)).tolist() == [[1, 1]] * 3
    assert run(unpacked(4, dynamic_size=True)).shape == (4, 2)
    for rows in (2, 4):
        message = rf"must have first dimension equal to the array size \({rows} vs. 3\)"
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            run(unpacked(rows))


def test_stacks_give_back_in_reverse_order():
    stack = raw.Stack(elem_type=tf.int32, stack_name="x")
    count = tf.while_loop(lambda i: i < 4, lambda i: raw.StackPush(handle=stack, elem=i) + 1, [0], back_prop=False)

    def body(i, found):
        return i - 1, found * 10 + tf.reshape(raw.StackPop(handle=stack, elem_type=tf.int32), [])

    assert run(tf.while_loop(lambda i, found: i > 0, body, [count, 0], back_prop=False)[1]) == 3210
    empty = raw.Stack(elem_type=tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="is empty when calling Pop"):
        run(raw.StackPop(handle=empty, elem_type=tf.int32))
    with tf.control_dependencies([raw.StackClose(handle=empty)]):
        pushed = raw.StackPush(handle=empty, elem=tf.constant(1) + 0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Stack has already been closed"):
        run(pushed)
