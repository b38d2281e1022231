"""Names that programs take from tensorflow.python: that they are there, and what those without a public name do."""

import argparse
import functools
import importlib
from pathlib import Path

import numpy as np
import pytest
from stillflow.python.framework import op_def_registry, ops
from stillflow.python.layers import utils as layer_utils
from stillflow.python.lib.io import file_io
from stillflow.python.ops import control_flow_util
from stillflow.python.util import deprecation, function_utils, object_identity, tf_decorator, tf_inspect

import stillflow as tf

# "module: names": of names that public programs import, those that are here.
NAMES = (Path(__file__).parent / "inner_names.txt").read_text().splitlines()


@pytest.mark.parametrize("line", NAMES, ids=lambda line: line.partition(":")[0])
def test_names_are_there(line):
    module, names = line.split(": ")
    found = importlib.import_module(f"stillflow.python.{module}")
    assert [name for name in names.split() if not hasattr(found, name)] == []


def test_decorators_are_seen_through(caplog):
    def plain(a, b=2, *c, d, **e):
        """About it."""

    decorated = tf_decorator.make_decorator(plain, lambda *args, **kwargs: plain(*args, **kwargs), "named")
    (decorator,), target = tf_decorator.unwrap(decorated)
    assert (target, decorator.decorator_name, decorated.__name__, decorated.__doc__) == (
        plain,
        "named",
        "plain",
        "About it.",
    )
    assert tf_inspect.getfullargspec(decorated).kwonlyargs == ["d"]
    assert tf_inspect.getargspec(decorated) == (["a", "b"], "c", "e", (2,))
    assert tf_inspect.getfullargspec(tf.cast).args == ["x", "dtype", "name"]  # below a wrapper of ours
    assert function_utils.has_kwargs(decorated) and not function_utils.has_kwargs(len.__class__.__repr__)
    assert function_utils.get_func_name(functools.partial(plain, 1)) == "plain"


def test_deprecated_functions_and_arguments_say_so_once(caplog):
    @deprecation.deprecated("2030-01-01", "Use other.")
    def old(x):
        return x + 1

    @deprecation.deprecated_args(None, "Leave it out.", "b", ("c", None))
    def takes(a, b=None, c=None):
        return a, b, c

    assert [old(1), old(2)] == [2, 3]
    assert (takes(1, c=None), takes(1, b=2)) == ((1, None, None), (1, 2, None))
    first, second = (record.getMessage() for record in caplog.records)
    assert "old (from test_inner_modules) is deprecated and will be removed after 2030-01-01." in first
    assert f"From {__file__}:" in first
    assert first.endswith("Instructions for updating:\nUse other.")
    assert "takes (from test_inner_modules) with b is deprecated and will be removed in a future version." in second
    with deprecation.silence():
        takes(1, 2, 3)
    assert len(caplog.records) == 2
    with pytest.raises(ValueError, match="Date must be YYYY-MM-DD. Got: tomorrow"):
        deprecation.deprecated("tomorrow", "Use other.")
    with pytest.raises(ValueError, match="Cannot specify both 'dim' and 'axis'"):
        deprecation.deprecated_argument_lookup("axis", 1, "dim", 2)


def test_sets_and_dictionaries_go_by_identity():
    a, b = [1], [1]
    assert a in object_identity.ObjectIdentitySet([a]) and b not in object_identity.ObjectIdentitySet([a])
    found = object_identity.ObjectIdentityDictionary()
    found[a], found[b] = 1, 2
    assert (len(found), found[a], list(found)) == (2, 1, [a, b])
    weak = object_identity.ObjectIdentityWeakSet()
    kept = argparse.Namespace()
    weak.add(kept)
    weak.add(argparse.Namespace())
    assert list(weak) == [kept]


def test_nodes_are_asked_about_their_control_flow():
    with tf.Graph().as_default() as graph:
        tf.while_loop(lambda i: i < 3, lambda i: tf.cond(i > 1, lambda: i + 1, lambda: i + 2), [tf.constant(0)])
        kinds = {op.type: op for op in graph.get_operations()}
        assert control_flow_util.IsLoopEnter(kinds["Enter"]) and control_flow_util.IsLoopExit(kinds["Exit"])
        assert control_flow_util.IsInWhileLoop(kinds["NextIteration"])
        assert not control_flow_util.IsInWhileLoop(graph.get_operation_by_name("Const"))
        merges = [op for op in graph.get_operations() if op.type == "Merge"]
        assert [control_flow_util.IsCondMerge(op) for op in merges] == [False, True]
        assert control_flow_util.GetOutputContext(kinds["Exit"]) is None


def test_scopes_in_names():
    assert ops.prepend_name_scope("^a/b", "scope/") == "^scope/a/b"
    assert ops.strip_name_scope("loc:@scope/a", "scope") == "loc:@a"
    assert ops.name_from_scope_name("a/b/") == "a/b"
    assert ops.uid() < ops.uid()


def test_sizes_of_windows():
    assert layer_utils.normalize_tuple(2, 3, "strides") == (2, 2, 2)
    assert [layer_utils.conv_output_length(10, 3, padding, 2) for padding in ("same", "valid", "full")] == [5, 4, 6]
    assert layer_utils.conv_input_length(5, 3, "same", 2) == 9
    assert [layer_utils.deconv_output_length(5, 3, padding, 2) for padding in ("same", "valid", "full")] == [
        10,
        11,
        7,
    ]
    assert layer_utils.convert_data_format("channels_first", 5) == "NCDHW"
    with pytest.raises(ValueError, match=r'must be one of "channels_first", "channels_last". Received: NHWC'):
        layer_utils.normalize_data_format("NHWC")


def test_whole_files(tmp_path):
    path = str(tmp_path / "file")
    file_io.write_string_to_file(path, "1234")
    assert file_io.file_crc32(path) == "0x9be3e0a3"
    with pytest.raises(tf.errors.AlreadyExistsError):
        file_io.atomic_write_string_to_file(path, "", overwrite=False)
    assert file_io.read_file_to_string(path, binary_mode=True) == b"1234"


def test_events_are_written_one_by_one(tmp_path):
    writer = tf.python.pywrap_tensorflow.EventsWriter(str(tmp_path / "events").encode())
    writer.WriteEvent(tf.Event(step=3))
    path = writer.FileName().decode()
    writer.Close()
    assert [event.step for event in tf.train.summary_iterator(path)] == [0, 3]


def test_ops_of_a_graph():
    with tf.Graph().as_default() as graph:
        tf.square(np.float32(2), name="a")
    assert tf.contrib.util.ops_used_by_graph_def(graph.as_graph_def()) == ["Const", "Square"]
    assert [op.name for op in tf.contrib.util.stripped_op_list_for_graph(graph.as_graph_def()).op] == [
        "Const",
        "Square",
    ]
    with pytest.raises(ValueError, match="Op Foo is used by the graph, but is not registered"):
        tf.contrib.util.stripped_op_list_for_graph(tf.GraphDef(node=[tf.NodeDef(op="Foo", name="a")]))


def test_registered_ops_are_messages_by_their_names():
    op_def = op_def_registry.get_registered_ops()["MatMul"]
    assert ([arg.name for arg in op_def.input_arg], [attr.name for attr in op_def.attr]) == (
        ["a", "b"],
        ["transpose_a", "transpose_b", "T"],
    )


@pytest.mark.parametrize(
    ("module", "here", "missing"),
    [
        ("contrib.framework.python.ops", "zero_initializer", "no_such_name"),
        ("core.framework.graph_pb2", "GraphDef", None),
        ("core.framework.api_def_pb2", None, "ApiDef"),
        ("python.ops.gen_math_ops", "mat_mul", "batch_fft"),
        ("python.ops.array_ops", "concat", None),
    ],
)
def test_modules_list_what_is_here(module, here, missing):
    imported: dict = {}
    exec(f"from stillflow.{module} import *", imported)  # raises AttributeError for a name that is not here
    assert (here is None or here in imported) and missing not in imported


def test_helpers_of_recurrent_nets_that_programs_take():
    from stillflow.contrib.seq2seq.python.ops import attention_wrapper
    from stillflow.python.framework import tensor_shape
    from stillflow.python.ops import rnn, rnn_cell_impl

    assert rnn_cell_impl._like_rnncell(tf.nn.rnn_cell.GRUCell(2)) and not rnn_cell_impl._like_rnncell(len)
    assert tensor_shape.unknown_shape(ndims=2).as_list() == [None, None]
    with pytest.raises(TypeError, match="Unknown argument: {'size': 1}"):
        tensor_shape.unknown_shape(size=1)
    assert rnn._maybe_tensor_shape_from_tensor(tf.constant([2, 3])).as_list() == [2, 3]
    assert rnn._maybe_tensor_shape_from_tensor(5) == 5
    score = attention_wrapper._bahdanau_score(
        processed_query=tf.ones([2, 4]), keys=tf.zeros([2, 3, 4]), attention_v=tf.ones([4])
    )
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(score), np.full((2, 3), 4 * np.tanh(1.0)), rtol=1e-6)


def test_modules_under_second_names():
    from stillflow.contrib.data.python.ops.threadpool import override_threadpool
    from stillflow.python.training.checkpoint_state_pb2 import CheckpointState

    assert CheckpointState is tf.train.CheckpointState
    assert tf.pywrap_tensorflow.NewCheckpointReader is tf.train.NewCheckpointReader
    assert override_threadpool.__name__ == "override_threadpool"
