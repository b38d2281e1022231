"""tf.import_graph_def: what TensorFlow wrote comes in, runs, and goes out again; what is wrong is refused."""

import importlib
from pathlib import Path

import numpy as np
import pytest
from graph_compare import differences, parse
from programs import peer, run_program
from programs.test_programs import NAMES

import stillflow as tf

GOLDEN = Path(__file__).parent.parent / "golden"


def node(name, op, *inputs, **attrs):
    result = tf.NodeDef(name=name, op=op, input=inputs)
    for key, value in attrs.items():
        if isinstance(value, tf.AttrValue):
            result.attr[key].CopyFrom(value)
        elif isinstance(value, tf.DType):
            result.attr[key].type = value.as_datatype_enum
        elif isinstance(value, bytes):
            result.attr[key].s = value
        elif isinstance(value, (list, tuple)):
            result.attr[key].list.s.extend(value)
        else:
            result.attr[key].i = value
    return result


def graph_of(*nodes):
    return tf.GraphDef(node=nodes, versions={"producer": 134})


def small_graph():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None], name="x")
        y = tf.add(x, 1.0, name="y")
        with tf.control_dependencies([x]):
            tf.identity(y, name="z")
    return graph.as_graph_def()


X = node("x", "Placeholder", dtype=tf.float32)


def identity(name, *inputs, dtype=tf.float32, **attrs):
    return node(name, "Identity", *inputs, T=dtype, **attrs)


# ---- There and back ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_programs_of_tensorflow_train_as_they_did_there(name):
    described = {}

    def watch(program, initializer):
        described.update(peer.describe(program, initializer, np.zeros(0, np.uint8)))

    with np.load(GOLDEN / "programs" / f"{name}.npz") as golden:
        ours = run_program(tf, importlib.import_module(f"programs.{name}"), watch=watch)
        imported = peer.run_imported(tf, {**described, "graph": golden["graph"]})
        assert imported
        for key, value in imported.items():
            np.testing.assert_array_equal(value, ours[key], err_msg=key)


def test_constants_in_every_encoding(new_graph):
    graph_def = parse(np.fromfile(GOLDEN / "graphs" / "consts.pb", np.uint8))
    tf.import_graph_def(graph_def, name="")
    found = differences(new_graph.as_graph_def(add_shapes=True), graph_def)
    assert not found, "\n".join(found)
    expected = {
        "f32_partial": [1, 2, 2, 2, 2],
        "f32_fill": [[3, 3, 3], [3, 3, 3]],
        "f64": [1e300, -0.5],
        "i64": [1 << 40, -1],
        "u64": [2**64 - 1, 1],
        "bool": [True, False],
        "f16": [1.5, -2.0, 65504.0],
        "bf16": [1.5, 3],
        "str": [b"a", b"bc", b""],
        "str_s": b"\xff\x00",
        "fill_op": [[9, 9], [9, 9]],
    }
    with tf.Session() as session:
        for name, value in session.run({name: f"{name}:0" for name in expected}).items():
            assert (value if isinstance(value, bytes) else value.tolist()) == expected[name], name


# ---- Names, maps, scopes ----------------------------------------------------------------------------------


def test_names_maps_and_returned_elements(new_graph):
    graph_def = small_graph()
    x = tf.constant([1.0, 2.0], name="x2")
    z, y, placeholder = tf.import_graph_def(graph_def, {"x": x}, ["z", "y:0", b"x"])
    assert (z.name, y.name, placeholder.name) == ("import/z", "import/y:0", "import/x")
    assert y.shape == [2]
    assert z.control_inputs == [placeholder]
    assert tf.import_graph_def(graph_def, name="") is None
    assert new_graph.get_tensor_by_name("y:0").shape.as_list() == [None]
    (mapped,) = tf.import_graph_def(graph_def, {"x:0": [5.0]}, ["x:0"], name="imp")
    assert mapped.name == "imp/_inputs/Const:0"
    tf.import_graph_def(graph_def, {"^x": x}, name="c")
    assert new_graph.get_operation_by_name("c/z").control_inputs == [x.op]
    tf.import_graph_def(graph_def)
    assert new_graph.get_operation_by_name("import_1/z")
    tf.import_graph_def(graph_def, name="")
    assert new_graph.get_operation_by_name("z_1").inputs[0].op.name == "y_1"
    with tf.name_scope("sc"):
        tf.import_graph_def(graph_def, name="x")
    assert new_graph.get_operation_by_name("sc/x/z")
    with tf.Session() as session:
        fed = {"import/x:0": [0.0], "imp/x:0": [0.0]}
        np.testing.assert_array_equal(session.run(["import/z:0", "import/y:0"], fed)[0], [2, 3])
        assert session.run("imp/z:0", fed) == [6]


def test_later_names_avoid_imported_ones(new_graph):
    tf.import_graph_def(small_graph(), name="")
    assert tf.identity(tf.constant(1.0), name="z").op.name == "z_1"
    with tf.Session() as session:
        assert session.run("z:0", {"x:0": [1.0]}) == [2]


def test_scopes_around_an_import(new_graph):
    first = tf.constant(1.0)
    graph_def = small_graph()
    graph_def.node[0].device = "/job:a"
    with tf.device("/cpu:0"), tf.control_dependencies([first]):
        tf.import_graph_def(graph_def)
    x, y = (new_graph.get_operation_by_name(f"import/{name}") for name in "xy")
    assert (x.device, y.device) == ("/job:a/device:CPU:0", "/device:CPU:0")
    assert x.control_inputs == [first.op]
    assert y.control_inputs == [first.op] or y.control_inputs == []


def test_colocation_follows_the_new_names(new_graph):
    target = node("t", "Placeholder", dtype=tf.float32)
    target.device = "/job:ps"
    tf.import_graph_def(graph_of(target, identity("i", "t", _class=[b"loc:@t"])), name="s")
    op = new_graph.get_operation_by_name("s/i")
    assert op.colocation_groups() == [b"loc:@s/t"]
    assert op.device == "/job:ps"


def test_nodes_in_any_order(new_graph):
    tf.import_graph_def(graph_of(identity("b", "a"), identity("a", "x"), X), name="")
    assert [op.name for op in new_graph.get_operations()] == ["x", "a", "b"]


def test_long_chains(new_graph):
    nodes = [X, *(identity(f"n{i}", f"n{i - 1}" if i else "x") for i in range(20000))]
    tf.import_graph_def(graph_of(*nodes), name="")
    with tf.Session() as session:
        assert session.run("n19999:0", {"x:0": 3.0}) == 3


def test_attributes(new_graph):
    # Left out, with a default: filled in. Beginning with an underscore: kept. Known to the producer alone: dropped.
    argmax = node("a", "ArgMax", "x", "d", T=tf.float32, Tidx=tf.int32, _mark=b"m", newer=5)
    dimension = node("d", "Const", dtype=tf.int32, value=tf.AttrValue(tensor={"dtype": 3, "tensor_shape": {}}))
    op_list = type(tf.GraphDef().library.function.add().signature)
    from stillflow.formats import protobuf

    producer = protobuf.message("OpList")(op=[op_list(name="ArgMax")])
    attr = producer.op[0].attr.add(name="newer", type="int")
    attr.default_value.i = 5
    (a,) = tf.import_graph_def(
        graph_of(X, dimension, argmax), None, ["a"], name="", producer_op_list=producer)  # fmt: skip
    assert a.get_attr("output_type") == tf.int64
    assert a.get_attr("_mark") == b"m"
    with pytest.raises(ValueError, match="no attr named 'newer'"):
        a.get_attr("newer")
    attr.default_value.i = 6
    with pytest.raises(ValueError, match="NodeDef mentions attr 'newer' not in Op<name=ArgMax"):
        tf.import_graph_def(graph_of(X, dimension, argmax), producer_op_list=producer)


def test_recorded_shapes_are_used_and_left_out(new_graph):
    graph_def = small_graph()
    shapes = graph_def.node[0].attr["_output_shapes"].list.shape.add()
    shapes.dim.add(size=4)
    (y,) = tf.import_graph_def(graph_def, return_elements=["y:0"], name="")
    assert y.shape.as_list() == [4]
    assert "_output_shapes" not in new_graph.as_graph_def().node[0].attr
    with_shapes = new_graph.as_graph_def(add_shapes=True)
    assert with_shapes.node[2].attr["_output_shapes"].list.shape[0].dim[0].size == 4
    shapes.dim.add(size=1)
    graph_def.node[0].attr["shape"].shape.CopyFrom(tf.TensorShape([3]).as_proto())
    with pytest.raises(ValueError, match="'import/x' has an _output_shapes attribute inconsistent"):
        tf.import_graph_def(graph_def)


def test_functions_of_a_library_are_kept(new_graph):
    graph_def = small_graph()
    graph_def.library.function.add().signature.name = "f"
    for _ in range(2):
        tf.import_graph_def(graph_def)
    assert [f.signature.name for f in new_graph.as_graph_def().library.function] == ["f"]


# ---- What is refused --------------------------------------------------------------------------------------

SHAPED = tf.AttrValue(shape={"dim": [{"size": -7}]})
SPLAT = tf.AttrValue(tensor={"dtype": 1, "tensor_shape": {"dim": [{"size": 1 << 20}] * 3}, "float_val": [1.0]})
CUT = tf.AttrValue(tensor={"dtype": 1, "tensor_shape": {"dim": [{"size": 2}]}, "tensor_content": b"123"})
OVERFLOW = tf.AttrValue(tensor={"dtype": 1, "tensor_shape": {"dim": [{"size": 1 << 40}] * 4}})
INTS = tf.AttrValue(tensor={"dtype": 3, "tensor_shape": {}, "int_val": [1]})

REFUSED = {
    "unknown op": ([node("a", "NoSuchOp")], "Op type not registered 'NoSuchOp'"),
    "unknown input": ([identity("a", "b")], "Node 'a': Unknown input node 'b'"),
    "unknown control input": ([X, identity("a", "x", "^nope")], r"Node 'a': Unknown input node '\^nope'"),
    "output that is not there": ([X, identity("a", "x:5")],
                                 "Node 'a': Connecting to invalid output 5 of source node x which has 1 outputs"),
    "output number of 64 bits": ([X, identity("a", "x:4294967296")], "Connecting to invalid output 4294967296"),
    "huge output number": ([X, identity("a", "x:99999999999999999999999")], "Unknown input node"),
    "twice the same name": ([X, X], "Node 'x' is not unique"),
    "bad name": ([node("a b", "NoOp")], "Node name contains invalid characters"),
    "empty name": ([node("", "NoOp")], "Node name contains invalid characters"),
    "attribute missing": ([node("a", "Placeholder")], "NodeDef missing attr 'dtype' from Op<name=Placeholder"),
    "unknown attribute": ([node("a", "Placeholder", dtype=tf.float32, zzz=1)], "NodeDef mentions attr 'zzz' not in"),
    "attribute of another kind": ([node("a", "Placeholder", dtype=5)],
                                  "AttrValue had value with type 'int' when 'type' expected"),
    "attribute without a value": ([node("a", "Placeholder", dtype=tf.AttrValue())], "'none' when 'type' expected"),
    "unknown type": ([node("a", "Placeholder", dtype=tf.AttrValue(type=99))], "cannot be read"),
    "reference type": ([node("a", "Placeholder", dtype=tf.AttrValue(type=101))], "reference type"),
    "type not allowed": ([X, node("a", "Sqrt", "x", T=tf.string)], "not in the list of allowed values"),
    "type of an input": ([X, identity("a", "x", dtype=tf.int32)],
                         "0 of node import/a was passed float from import/x:0 incompatible with expected int32"),
    "reference needed": ([X, node("a", "Assign", "x", "x", T=tf.float32)], "incompatible with expected float_ref"),
    "too many inputs": ([X, identity("a", "x", "x")], "do not match 2 inputs specified"),
    "too few inputs": ([identity("a")], "do not match 0 inputs specified"),
    "far too few inputs": ([X, node("a", "AddN", "x", N=2**31 - 1, T=tf.float32)], "do not match 1 inputs specified"),
    "outputs without end": ([X, node("a", "Unpack", "x", num=2**31 - 1, T=tf.float32)], "asks for 2147483647"),
    "negative number": ([X, node("a", "AddN", "x", N=-1, T=tf.float32)], "at least minimum 1"),
    "control input first": ([X, identity("a", "^x", "x")], "Control dependencies must come after regular"),
    "cycle": ([identity("a", "b"), identity("b", "a")], "2 nodes in a cycle"),
    "control cycle": ([X, identity("a", "x", "^b"), identity("b", "x", "^a")], "2 nodes in a cycle"),
    "cycle of one": ([identity("a", "a")], "1 nodes in a cycle"),
    "placed with nobody": ([node("p", "Placeholder", dtype=tf.float32, _class=[b"loc:@zz"])],
                           "Node 'p' expects to be colocated with unknown node 'zz'"),
    "placed with a number": ([node("p", "Placeholder", dtype=tf.float32, _class=tf.AttrValue(list={"i": [3]}))],
                             "Expected binary or unicode string, got 3"),
    "negative shape": ([node("p", "Placeholder", dtype=tf.float32, shape=SHAPED)], "must be >= "),
    "splat of 2^60": ([node("c", "Const", dtype=tf.float32, value=SPLAT)], "too large"),
    "content cut off": ([node("c", "Const", dtype=tf.float32, value=CUT)], "Cannot parse tensor from proto"),
    "shape overflows": ([node("c", "Const", dtype=tf.float32, value=OVERFLOW)], "Cannot parse tensor from proto"),
    "constant of another type": ([node("c", "Const", dtype=tf.float32, value=INTS)], "Constant of type int32"),
    "shapes do not fit": (
        [node("p", "Placeholder", dtype=tf.float32, shape=tf.AttrValue(shape={"dim": [{"size": 2}]})),
         node("q", "Placeholder", dtype=tf.float32, shape=tf.AttrValue(shape={"dim": [{"size": 3}]})),
         node("a", "Add", "p", "q", T=tf.float32)], "Dimensions must be equal, but are 2 and 3"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_graph_leaves_nothing_behind(name, new_graph):
    nodes, message = REFUSED[name]
    c = tf.constant(1.0, name="c0")
    before = new_graph.as_graph_def()
    kind = {"unknown op": tf.errors.NotFoundError, "placed with a number": TypeError}.get(name, ValueError)
    with pytest.raises(kind, match=message):
        tf.import_graph_def(graph_of(*nodes))
    assert new_graph.as_graph_def() == before
    assert not c.consumers()
    tf.import_graph_def(small_graph())
    assert new_graph.get_operation_by_name("import/x")


def test_arguments_are_checked(new_graph):
    graph_def = small_graph()
    x = tf.constant([1.0])
    for wrong in (5, None, "x", tf.NodeDef()):
        with pytest.raises(TypeError, match="graph_def must be a GraphDef proto"):
            tf.import_graph_def(wrong)
    with pytest.raises(TypeError, match="input_map must be a dictionary mapping strings to Tensor objects"):
        tf.import_graph_def(graph_def, {5: x})
    with pytest.raises(TypeError, match="return_elements must be a list of strings"):
        tf.import_graph_def(graph_def, return_elements=[7])
    with pytest.raises(ValueError, match=r"map inputs that were not found in graph_def: \[zzz:0, \^yyy, x:3\]"):
        tf.import_graph_def(graph_def, {"zzz": x, "^yyy": x, "x:3": x})
    with pytest.raises(ValueError, match="requires a non-empty `name` if `input_map` contains non-Tensor values"):
        tf.import_graph_def(graph_def, {"x": [1.0]}, name="")
    for element, message in (
        ("q:0", "Requested return tensor 'q:0' not found in graph def"),
        ("q", "Requested return node 'q' not found in graph def"),
        ("x:3", r"Invalid return output 3 of node 'x', which has 1 output\(s\)"),
    ):
        with pytest.raises(ValueError, match=message):
            tf.import_graph_def(graph_def, return_elements=[element])
    with pytest.raises(ValueError, match="was passed int32 from Const_1:0 incompatible with expected float"):
        tf.import_graph_def(graph_def, {"x": tf.constant(1)})
    graph_def.versions.min_consumer = 100000
    with pytest.raises(ValueError, match="min consumer version 100000 above current version 134"):
        tf.import_graph_def(graph_def)
    new_graph.finalize()
    with pytest.raises(RuntimeError, match="Graph is finalized and cannot be modified"):
        tf.import_graph_def(small_graph())


@pytest.mark.parametrize(("producer", "shape"), [(21, tf.TensorShape(None)), (22, tf.TensorShape([]))])
def test_an_empty_shape_of_a_placeholder_was_none_in_old_graphs(producer, shape):
    graph_def = tf.GraphDef(versions={"producer": producer})
    node = graph_def.node.add(name="x", op="Placeholder")
    node.attr["dtype"].type = tf.float32.as_datatype_enum
    node.attr["shape"].shape.SetInParent()
    (x,) = tf.import_graph_def(graph_def, return_elements=["x:0"])
    assert x.shape.rank == shape.rank
    assert tf.placeholder(tf.float32, [2]).shape == [2]
    with tf.Session() as session:
        assert session.run(x + 1, {x: 1}) == 2
        if shape.rank is None:
            assert session.run(x + 1, {x: [1, 2]}).tolist() == [2, 3]


def test_a_failed_import_leaves_the_version_of_a_graph():
    graph_def = tf.GraphDef(versions={"producer": 10})
    graph_def.node.add(name="x", op="NoSuchOp")
    with pytest.raises(tf.errors.NotFoundError):
        tf.import_graph_def(graph_def)
    assert tf.get_default_graph().graph_def_versions.producer == 134


def test_no_flipped_byte_does_harm():
    """Every single-byte change of a graph is refused with a typed error, or the graph runs."""
    from google.protobuf.message import DecodeError

    data = small_graph().SerializeToString()
    allowed = (ValueError, TypeError, KeyError, tf.errors.OpError, DecodeError, RuntimeError)
    for position in range(len(data)):
        for flip in (0x01, 0x80, 0xFF):
            changed = data[:position] + bytes([data[position] ^ flip]) + data[position + 1 :]
            with tf.Graph().as_default(), tf.Session() as session:
                try:
                    tf.import_graph_def(tf.GraphDef.FromString(changed), name="")
                    session.run("z:0", {"x:0": [1.0]})
                except allowed:
                    pass
