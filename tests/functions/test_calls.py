"""Graphs with functions, recorded from TensorFlow 1.15.5: they are read, run and written again."""

import threading
import time
from pathlib import Path

import function_cases
import numpy as np
import pytest
from function_cases import CASES

import stillflow as tf
from stillflow.formats import protobuf
from stillflow.functions.defun import Defun
from stillflow.graph.function_def import function_def_message

RECORDED = np.load(Path(__file__).parent.parent / "golden" / "functions.npz", allow_pickle=True)


def imported(name):
    graph_def = protobuf.message("GraphDef").FromString(RECORDED[name].tobytes())
    tf.import_graph_def(graph_def, name="")
    fetches = [tf.get_default_graph().get_tensor_by_name(text) for text in RECORDED[f"{name}.fetches"].tolist()]
    return graph_def, fetches, str(RECORDED[f"{name}.initializer"]) or None


@pytest.mark.parametrize("name", CASES)
def test_calls_give_tensorflows_values_in_run_after_run(name):
    with tf.Graph().as_default():
        _, fetches, initializer = imported(name)
        with tf.Session() as session:
            for key, value in function_cases.values(session, fetches, initializer).items():
                recorded = RECORDED[f"{name}.{key}"]
                assert value.shape == recorded.shape
                assert value.tolist() == recorded.tolist()


@pytest.mark.parametrize("name", CASES)
def test_the_library_is_written_as_it_was_read(name):
    with tf.Graph().as_default() as graph:
        graph_def, _, _ = imported(name)
        written = graph.as_graph_def()
        assert written.versions == graph_def.versions
        functions = {function.signature.name: function for function in graph_def.library.function}
        assert {function.signature.name: function for function in written.library.function} == functions


@pytest.mark.parametrize("name", CASES)
def test_a_body_that_was_read_is_the_function_it_was_read_from(name):
    with tf.Graph().as_default() as graph:
        graph_def, _, _ = imported(name)
        for definition in graph_def.library.function:
            if not definition.signature.name.startswith("__"):
                continue  # in those of the first kind, results had other names before
            body = graph._functions[definition.signature.name].body
            found = function_def_message(body, definition.signature.name)
            assert {node.name: node for node in found.node_def} == {node.name: node for node in definition.node_def}
            assert [arg.type for arg in found.signature.input_arg] == [a.type for a in definition.signature.input_arg]
            assert found.control_ret == definition.control_ret
            made = {name for name in definition.ret.values() if ":" in name}  # names of arguments may change
            assert {name for name in found.ret.values() if ":" in name} == made
            assert found.signature.is_stateful == definition.signature.is_stateful


def test_random_streams_inside_of_functions_are_part_of_the_random_state():
    with tf.Graph().as_default():
        _, fetches, _ = imported("random_stream")
        with tf.Session() as session:
            session.run(fetches)
            state = tf.random_state(session)
            expected = [session.run(fetches)[0].tolist() for _ in range(3)]
            tf.random_state(session, state)
            assert [session.run(fetches)[0].tolist() for _ in range(3)] == expected
        with tf.Session() as session:
            tf.random_state(session, state)
            assert [session.run(fetches)[0].tolist() for _ in range(3)] == expected


def test_a_call_that_draws_nothing_is_no_part_of_the_random_state():
    @Defun(tf.float32, noinline=True)
    def sign(x):
        return tf.cond(tf.greater(x, 0.0), lambda: 1.0, lambda: -1.0)

    with tf.Session() as session:
        assert session.run(sign(tf.constant(2.0))) == 1
        assert tf.random_state(session) == {"streams": {}, "states": {}}


def test_random_state_of_another_op_is_refused():
    with tf.Graph().as_default():
        _, fetches, _ = imported("random_stream")
        with tf.Session() as session:
            session.run(fetches)
            state = tf.random_state(session)
            ((name, data),) = state["states"].items()
            for damaged in (b"", data[:-1], data + b"\0", b"\xff" * len(data)):
                with pytest.raises(tf.errors.FailedPreconditionError):
                    tf.random_state(session, {"streams": {}, "states": {name: damaged}})


def test_a_function_that_calls_itself_is_refused():
    with tf.Graph().as_default():
        graph_def, _, _ = imported("nested")
    for function in graph_def.library.function:
        for node in function.node_def:
            if "f" in node.attr:
                node.attr["f"].func.name = function.signature.name
    with tf.Graph().as_default():
        tf.import_graph_def(graph_def, name="")
        with tf.Session() as session, pytest.raises(tf.errors.UnimplementedError, match="calls itself"):
            session.run(RECORDED["nested.fetches"].tolist())


def test_a_function_that_is_not_there_is_an_error_when_it_is_called():
    with tf.Graph().as_default():
        graph_def, _, _ = imported("nested")
    del graph_def.library.function[:]
    with tf.Graph().as_default():
        tf.import_graph_def(graph_def, name="")
        with tf.Session() as session, pytest.raises(tf.errors.NotFoundError, match="is not defined"):
            session.run(RECORDED["nested.fetches"].tolist())


def test_broken_bodies_are_errors_and_nothing_worse():
    with tf.Graph().as_default():
        graph_def, _, _ = imported("captured_constant")
    edits = {
        "no argument of that name": lambda f: f.node_def[0].input.__setitem__(0, "nothing"),
        "no such output": lambda f: f.ret.update({f.signature.output_arg[0].name: "mul:z:7"}),
        "unknown op": lambda f: setattr(f.node_def[0], "op", "NoSuchOp"),
        "one argument less": lambda f: f.signature.input_arg.pop(),
        "another type": lambda f: setattr(f.signature.input_arg[0], "type", 3),
        "a type to be chosen": lambda f: setattr(f.signature.input_arg[0], "type", 0),
    }
    for what, edit in edits.items():
        broken = type(graph_def).FromString(graph_def.SerializeToString())
        edit(broken.library.function[0])
        with tf.Graph().as_default():
            tf.import_graph_def(broken, name="")
            with tf.Session() as session, pytest.raises((tf.errors.OpError, ValueError)):
                session.run(RECORDED["captured_constant.fetches"].tolist())
                pytest.fail(what)


def long_loop():
    """A loop of functions that takes minutes."""
    with tf.Graph().as_default():
        graph_def, _, _ = imported("loop")
    for node in graph_def.node:
        if node.op == "Const":
            del node.attr["value"].tensor.int_val[:]
            node.attr["value"].tensor.int_val.append(2**31 - 1)
    tf.import_graph_def(graph_def, name="")
    return RECORDED["loop.fetches"].tolist()


def test_a_call_ends_with_its_run_when_time_is_out():
    with tf.Graph().as_default(), tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=200)) as session:
        fetches = long_loop()
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(fetches)
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(fetches)


def test_a_call_ends_when_the_session_is_closed():
    with tf.Graph().as_default():
        session = tf.Session()
        fetches = long_loop()
        raised = []

        def run():
            try:
                session.run(fetches)
            except tf.errors.OpError as error:
                raised.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        time.sleep(0.2)
        session.close()
        thread.join(20)
        assert not thread.is_alive()
        assert isinstance(raised[0], tf.errors.CancelledError)


def test_an_error_names_the_node_inside_and_the_call():
    with tf.Graph().as_default():
        graph_def, _, _ = imported("strings")
    (function,) = graph_def.library.function
    (join,) = [node for node in function.node_def if node.op == "StringJoin"]
    join.op = "ReadFile"
    del join.input[1:]
    for name in list(join.attr):
        del join.attr[name]
    function.ret[function.signature.output_arg[0].name] = f"{join.name}:contents:0"
    for node in list(function.node_def):
        if node.op == "Identity":
            function.node_def.remove(node)
    (constant,) = [node for node in graph_def.node if node.op == "Const"]
    constant.attr["value"].tensor.tensor_shape.Clear()
    del constant.attr["value"].tensor.string_val[1:]
    with tf.Graph().as_default():
        tf.import_graph_def(graph_def, name="")
        fetches = RECORDED["strings.fetches"].tolist()
        with tf.Session() as session, pytest.raises(tf.errors.NotFoundError) as raised:
            session.run(fetches)
    assert f"{{{{node {join.name}}}}}" in str(raised.value)
    assert fetches[0].split(":")[0] in str(raised.value)
