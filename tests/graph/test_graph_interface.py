"""What programs ask graphs, operations and tensors for."""

import numpy as np
import pytest

import stillflow as tf


def test_operations(new_graph):
    x = tf.constant([1.0, 2.0], name="x")
    y = tf.add(x, x, name="y")
    op = y.op
    assert x.consumers() == [op, op]
    assert list(op.inputs) == [x, x]
    assert op.values() == (y,)
    assert op._input_types == op._output_types * 2 == [tf.float32] * 2
    assert op.get_attr("T") is tf.float32
    assert op.op_def.name == op.node_def.op == "Add"
    assert op.colocation_groups() == [b"loc:@y"]
    assert repr(op) == "<tf.Operation 'y' type=Add>"
    value = x.op.get_attr("value")
    np.testing.assert_array_equal(tf.make_ndarray(value), [1, 2])
    with pytest.raises(ValueError, match="Operation 'y' has no attr named 'zz'"):
        op.get_attr("zz")
    op._set_attr("_mark", tf.AttrValue(s=b"m"))
    shapes = tf.data.Dataset.from_tensors([1, 2])._variant_tensor.op.get_attr("output_shapes")
    assert [tf.TensorShape(shape).as_list() for shape in shapes] == [[2]] and shapes[0].dim[0].size == 2
    assert op.get_attr("_mark") == op.node_def.attr["_mark"].s == b"m"
    op._clear_attr("_mark")
    assert "_mark" not in op.node_def.attr
    assert op.traceback_with_start_lines[-1][:4] == op.traceback[-1]
    assert op.traceback_with_start_lines[-1][4] < op.traceback[-1][1]


def test_tensors(new_graph):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    assert x._shape_tuple() == (None, 2)
    assert x._shape_as_list() == [None, 2]
    assert x._shape.as_list() == [None, 2]
    assert x._as_node_def_input() == "x"
    assert tf.split(x, 2, axis=1)[1]._as_node_def_input() == "split:1"
    for shape, message in (
        ([None, 3], r"Dimension 1 in both shapes must be equal, but are 2 and 3. Shapes are \[\?,2\] and \[\?,3\]"),
        ([2], "Shapes must be equal rank, but are 2 and 1"),
    ):
        with pytest.raises(ValueError, match=message):
            x.set_shape(shape)
    x.set_shape([4, None])
    assert x.shape.as_list() == [4, 2]
    with tf.Session():
        assert x.eval({x: np.zeros((4, 2))}).shape == (4, 2)


def test_a_changed_attribute_changes_the_next_run(new_graph):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    y = tf.matmul(x, [[1.0, 0.0], [5.0, 0.0]])
    with tf.Session() as session:
        before = session.run(y)
        y.op._set_attr("transpose_a", tf.AttrValue(b=True))
        assert not np.array_equal(session.run(y), before)


def test_device_specs():
    spec = tf.DeviceSpec(job="ps", task=1, device_type="gpu", device_index=0)
    assert spec.to_string() == "/job:ps/task:1/device:GPU:0"
    cpu = tf.DeviceSpec.from_string("/cpu:0")
    assert cpu.make_merged_spec(spec) == spec
    assert spec.make_merged_spec(cpu).to_string() == "/job:ps/task:1/device:CPU:0"
    cpu.merge_from(tf.DeviceSpec(job="w"))
    assert cpu.to_string() == "/job:w/device:CPU:0"
    assert cpu.replace(task=3).to_string() == "/job:w/task:3/device:CPU:0"
    assert tf.DeviceSpec().parse_from_string("/job:ps/task:1/gpu:0") == spec
    assert len({spec, tf.DeviceSpec("ps", None, 1, "GPU", 0)}) == 1
    with pytest.raises(ValueError, match="Unknown attribute"):
        tf.DeviceSpec.from_string("/what:0")


def test_tensor_protos():
    proto = tf.make_tensor_proto([1, 2], shape=[3])
    assert list(proto.int_val) == [1, 2]
    assert tf.make_ndarray(proto).tolist() == [1, 2, 2]
    assert tf.make_ndarray(tf.make_tensor_proto(["a", b"b"])).tolist() == [b"a", b"b"]
    proto.tensor_shape.dim[0].size = 1
    with pytest.raises(ValueError, match="2 values for 1 elements"):
        tf.make_ndarray(proto)
    del proto.int_val[:]
    proto.tensor_shape.dim[0].size = 2**27  # 512 MiB of zeros, which take memory when they are written to
    zeros = tf.make_ndarray(proto)
    zeros[-1] = 5
    assert zeros.shape == (2**27,) and zeros[-1] == 5
    proto = tf.make_tensor_proto([1, 2])
    tf.make_ndarray(proto)[0] = 7
    assert tf.make_ndarray(proto).tolist() == [1, 2]
    for dtype in (tf.float16, tf.bfloat16, tf.bool, tf.int8, tf.uint64, tf.complex64):
        values = [[True], [False]] if dtype is tf.bool else [[1], [0]]
        array = tf.make_ndarray(tf.make_tensor_proto(values, dtype))
        assert array.tolist() == [[1], [0]]
        assert array.dtype == dtype.as_numpy_dtype
    for arguments, error, message in (
        ((None,), ValueError, "None values not supported"),
        (([1, 2, 3], None, [2]), ValueError, "Too many elements provided"),
        (([1, 2], None, [3], True), TypeError, r"Expected Tensor's shape: \(3,\), got \(2,\)"),
        ((1.5, tf.int32), TypeError, "Expected int32, got 1.5 of type 'float'"),
    ):
        with pytest.raises(error, match=message):
            tf.make_tensor_proto(*arguments)


def test_templates_refuse_new_variables_in_later_calls(new_graph):
    template = tf.make_template("t", lambda: tf.Variable(1.0))
    assert template.variables == []
    template()
    with pytest.raises(ValueError, match="Trainable variable created when calling a template after the first time"):
        template()
    growing = tf.make_template("g", lambda: tf.get_variable(f"w{len(tf.global_variables())}", []))
    growing()
    with pytest.raises(ValueError, match="does not exist, or was not created with tf.get_variable"):
        growing()
    with pytest.raises(ValueError, match="name cannot be None"):
        tf.make_template(None, lambda: 1)


def test_what_this_tensorflow_is():
    assert not tf.executing_eagerly()
    tf.get_default_graph()  # that there is a graph already is no error
    for function in (tf.disable_eager_execution, tf.disable_v2_behavior, tf.disable_v2_tensorshape):
        assert function() is None
    assert (tf.GRAPH_DEF_VERSION, tf.GRAPH_DEF_VERSION_MIN_CONSUMER) == (134, 0)
    assert tf.OpError is tf.errors.OpError
    assert tf.dimension_value(tf.Dimension(3)) == tf.dimension_value(3) == 3
    assert tf.dimension_at_index(tf.TensorShape([2, None]), 0).value == 2
    assert tf.dimension_at_index(tf.TensorShape(None), 5).value is None


def test_a_variable_is_kept_under_the_name_of_its_container(new_graph):
    with tf.container("c"):
        v = tf.Variable(1.0, name="v")
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(v) == 1
    assert v.op.get_attr("container") == b"c"


def test_shapes_of_tensors_are_the_same_objects_until_more_is_known(new_graph):
    x = tf.placeholder(tf.float32, [None, 3])
    known = x.shape
    assert x.shape is known is x.get_shape()
    x.set_shape([2, None])
    assert x.shape is not known and x.shape.as_list() == [2, 3] and known.as_list() == [None, 3]


def test_constants_that_libraries_ask_the_graph_for(new_graph):
    from stillflow.python import pywrap_tensorflow

    def known(tensor):
        return pywrap_tensorflow.TF_TryEvaluateConstant_wrapper(tensor.graph._c_graph, tensor._as_tf_output())

    assert known(tf.equal(tf.constant(2) + 1, 3)) == np.True_
    assert known(tf.equal(tf.placeholder(tf.int32, []), 3)) is None
