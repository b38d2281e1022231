"""MetaGraphs: collections of all kinds go there and back; graphs of TensorFlow train on here."""

import logging
from pathlib import Path

import numpy as np
import pytest
from stillflow.python.framework import ops

import stillflow as tf
from stillflow.formats import protobuf


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def small_model(use_resource=False):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    with tf.variable_scope("", use_resource=use_resource):
        w = tf.get_variable("w", [3, 1])
        tf.get_variable("part", [4, 2], partitioner=tf.fixed_size_partitioner(2), trainable=False)
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0), name="loss")
    tf.add_to_collection(tf.GraphKeys.LOSSES, loss)
    step = tf.train.get_or_create_global_step()
    train = tf.train.AdamOptimizer(0.1).minimize(loss, global_step=step, name="train")

    for name, items in {"ints": [1, -2], "floats": [0.5], "texts": ["a", b"b"], "ops": [train], "vars": [w]}.items():
        for item in items:
            tf.add_to_collection(name, item)
    return x, loss, train


FEED = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize("use_resource", [False, True])
def test_there_and_back(use_resource, as_text):
    x, loss, train = small_model(use_resource)
    saver = tf.train.Saver(max_to_keep=3)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(train, {x: FEED})
        saver.save(session, "./m", write_meta_graph=False)
        saver.export_meta_graph("./m.meta", as_text=as_text)
        expected = [session.run([loss, train], {x: FEED})[0] for _ in range(3)]
    before = {key: len(tf.get_collection(key)) for key in tf.get_default_graph().get_all_collection_keys()}
    with tf.Graph().as_default() as graph:
        again = tf.train.import_meta_graph("m.meta")
        assert again.saver_def == saver.saver_def
        assert {key: len(tf.get_collection(key)) for key in graph.get_all_collection_keys()} == before
        assert tf.get_collection("ints") == [1, -2]
        assert tf.get_collection("floats") == [0.5]
        assert tf.get_collection("texts") == [b"a", b"b"]
        assert tf.get_collection("ops") == [graph.get_operation_by_name("train")]
        (loss,) = tf.get_collection(tf.GraphKeys.LOSSES)
        assert loss is graph.get_tensor_by_name("loss:0")
        assert tf.trainable_variables()[0] is tf.global_variables()[0]
        part = next(v for v in tf.global_variables() if v.op.name == "part/part_1")
        assert part._get_save_slice_info().spec == "4 2 2,2:0,2"
        with tf.Session() as session:
            again.restore(session, "m")
            found = [session.run([loss, "train"], {"x:0": FEED})[0] for _ in range(3)]
        assert found == expected
        # Once more: the same message.
        graph_def = graph.as_graph_def(add_shapes=True)
        first, second = tf.MetaGraphDef(), tf.train.export_meta_graph(graph_def=graph_def, saver_def=again.saver_def)
        if not as_text:
            first.ParseFromString(Path("m.meta").read_bytes())
            assert second.graph_def == first.graph_def
            assert second.meta_info_def == first.meta_info_def
            for key in set(first.collection_def) - {"vars"}:  # which have become tensors
                assert second.collection_def[key] == first.collection_def[key], key


def test_in_a_scope():
    small_model()
    tf.train.Saver().export_meta_graph("m.meta")
    with tf.Graph().as_default() as graph:
        for scope, unique in (("q", "q"), ("q", "q_1")):
            saver = tf.train.import_meta_graph("m.meta", import_scope=scope)
            assert saver.saver_def.restore_op_name == f"{unique}/save/restore_all"
        assert sorted(v.op.name for v in tf.trainable_variables()) == ["q/w", "q_1/w"]
        assert tf.get_collection("texts") == ["q/a", "q/b", "q_1/a", "q_1/b"]
        assert [op.name for op in tf.get_collection("ops")] == ["q/train", "q_1/train"]
        assert graph.get_operation_by_name("q_1/w").type == "VariableV2"
        names = [v._get_save_slice_info().full_name for v in tf.global_variables() if v._get_save_slice_info()]
        assert names == ["q/part", "q/part", "q_1/part", "q_1/part"]


def test_exporting_a_scope_and_importing_it_with_other_inputs():
    x = tf.constant(2.0, name="x")
    with tf.name_scope("a"):
        with tf.device("/cpu:0"):
            tf.add_to_collection("ends", tf.multiply(x, tf.constant(5.0, name="five"), name="y"))
        tf.add_to_collection("texts", "elsewhere")
    tf.add_to_collection("ends", tf.add(x, 1.0, name="outside"))
    proto = tf.train.export_meta_graph(export_scope="a", clear_devices=True)
    assert [node.name for node in proto.graph_def.node] == ["five", "y"]
    assert proto.graph_def.node[1].input[:] == ["$unbound_inputs_x", "five"]
    assert proto.graph_def.node[1].device == ""
    assert proto.collection_def["ends"].node_list.value[:] == ["y:0"]
    assert "texts" not in proto.collection_def
    with tf.Graph().as_default() as graph:
        with pytest.raises(
            ValueError, match=r"Graph contains unbound inputs: \$unbound_inputs_x. Must provide these"
        ):
            tf.train.import_meta_graph(proto)
        tf.train.import_meta_graph(proto, input_map={"$unbound_inputs_x": tf.constant(3.0)}, import_scope="b")
        with tf.Session() as session:
            assert session.run("b/y:0") == 15.0
        assert tf.get_collection("ends") == [graph.get_tensor_by_name("b/y:0")]


def test_what_export_leaves_out(caplog):
    small_model()
    saver = tf.train.Saver()
    other = tf.train.Saver()
    tf.add_to_collection(tf.GraphKeys.SAVERS, saver)
    tf.add_to_collection(tf.GraphKeys.SAVERS, other)
    tf.add_to_collection("mixed", 1)
    tf.add_to_collection("mixed", "two")
    tf.add_to_collection(("no", "string"), 3)
    full = other.export_meta_graph()
    assert len(full.collection_def["savers"].bytes_list.value) == 2
    with caplog.at_level(logging.WARNING, "tensorflow"):
        stripped = other.export_meta_graph(clear_extraneous_savers=True, strip_default_attrs=True)
    assert "Issue encountered when serializing mixed." in caplog.text
    assert "Only collections with string type keys will be serialized" in caplog.text
    assert "mixed" not in stripped.collection_def
    names = {node.name.split("/")[0] for node in stripped.graph_def.node}
    assert "save_1" in names and "save" not in names
    assert stripped.meta_info_def.stripped_default_attrs
    assert len(stripped.collection_def["savers"].bytes_list.value) == 1
    by_name = {node.name: node for node in stripped.graph_def.node}
    assert "transpose_a" not in by_name["MatMul"].attr and "T" in by_name["MatMul"].attr
    assert [op.name for op in full.meta_info_def.stripped_op_list.op] == sorted({n.op for n in full.graph_def.node})
    only = other.export_meta_graph(collection_list=["ints"])
    assert list(only.collection_def) == ["ints"]


def test_ops_of_functions_that_attributes_name_are_not_listed(new_graph):
    tf.data.Dataset.range(3).map(lambda i: i * i).make_one_shot_iterator().get_next()
    exported = tf.train.export_meta_graph()
    assert exported.graph_def.library.function
    listed = [op.name for op in exported.meta_info_def.stripped_op_list.op]
    assert listed == sorted({node.op for node in exported.graph_def.node}) and "Mul" not in listed


def test_files_that_are_no_meta_graph():
    with pytest.raises(OSError, match="File nope.meta does not exist."):
        tf.train.import_meta_graph("nope.meta")
    with pytest.raises(TypeError, match="Expected binary or unicode string, got {}"):
        tf.train.import_meta_graph({})
    Path("bad.meta").write_bytes(b"\xff\xfe")
    with pytest.raises(UnicodeDecodeError):
        tf.train.import_meta_graph("bad.meta")
    Path("bad.meta").write_text("what is this")
    with pytest.raises(OSError, match="Cannot parse file bad.meta"):
        tf.train.import_meta_graph("bad.meta")
    tf.constant(1.0)
    tf.train.export_meta_graph("none.meta")
    with tf.Graph().as_default():
        assert tf.train.import_meta_graph("none.meta") is None


def test_variables_of_before_1_9_are_trainable_by_their_collection():
    tf.Variable(1.0, name="a")
    tf.Variable(1.0, name="b", trainable=False)
    proto = tf.train.export_meta_graph()
    proto.meta_info_def.tensorflow_version = "1.4.1"
    kind = protobuf.message("VariableDef")
    for key in ("variables", "trainable_variables"):
        values = proto.collection_def[key].bytes_list.value
        for i, value in enumerate(values):
            message = kind.FromString(value)
            message.ClearField("trainable")
            values[i] = message.SerializeToString()
    with tf.Graph().as_default():
        tf.train.import_meta_graph(proto)
        assert [v.op.name for v in tf.trainable_variables()] == ["a"]
        assert {v.op.name: v.trainable for v in tf.global_variables()} == {"a": True, "b": False}


def test_branches_loops_and_queue_runners_go_on_after_an_import():
    x = tf.placeholder(tf.float32, [], name="x")
    tf.cond(x > 0, lambda: x * 2.0, lambda: x * 3.0, name="branch")
    tf.while_loop(lambda i: i < 5, lambda i: i + 1, [0], name="loop")
    names = tf.train.string_input_producer(["a", "b"], shuffle=False)
    tf.identity(names.dequeue(), name="name")
    message = tf.train.export_meta_graph()
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.train.import_meta_graph(message)
        y = graph.get_tensor_by_name("branch/Merge:0")
        x = graph.get_tensor_by_name("x:0")
        gradient = tf.gradients(y, x)  # finds its way through the imported contexts
        assert len(tf.get_collection(tf.GraphKeys.COND_CONTEXT)) == 2
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        assert session.run([y, gradient, "loop/Exit:0"], {x: -1.0}) == [-3.0, [3.0], 5]
        assert [session.run("name:0") for _ in range(3)] == [b"a", b"b", b"a"]
        coordinator.request_stop()
        coordinator.join(threads)
        assert tf.train.export_meta_graph().collection_def == message.collection_def


def test_collections_of_a_programs_own_messages_travel():
    kind = protobuf.message("NameAttrList")
    register = ops.register_proto_function
    register(
        "own", kind, to_proto=lambda item, export_scope=None: kind(name=item),
        from_proto=lambda message, import_scope=None: f"{import_scope}:{message.name}",
    )  # fmt: skip
    assert ops.get_collection_proto_type("own") is kind
    assert ops.get_to_proto_function("none") is ops.get_from_proto_function("none") is None
    with pytest.raises(KeyError, match="own"):
        register("own", kind)
    with pytest.raises(TypeError, match="to_proto must be callable"):
        register("other", kind, to_proto=5)
    tf.constant(1.0, name="c")
    tf.add_to_collection("own", "first")
    message = tf.train.export_meta_graph()
    assert kind.FromString(message.collection_def["own"].bytes_list.value[0]).name == "first"
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(message, import_scope="inside")
        assert graph.get_collection("own") == ["inside:first"]
