"""`stillflow serve` answers requests as TensorFlow Serving does, and lives through broken ones."""

import contextlib
import http.client
import json
import random
import socket
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stillflow as tf
from stillflow.command_line import main
from stillflow.serving import command, json_text, models
from stillflow.serving.batching import Batcher

pytest.importorskip("waitress")


def _save(folder):
    """A SavedModel: rows doubled and named, several inputs of several types, and a classifier of Examples."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        word = tf.placeholder(tf.string, [None], name="word")
        count = tf.placeholder(tf.int32, [None], name="count")
        scale = tf.get_variable("scale", initializer=2.0)
        examples = tf.placeholder(tf.string, [None], name="examples")
        parsed = tf.parse_example(examples, {"x": tf.FixedLenFeature([2], tf.float32)})["x"]
        scores = tf.nn.softmax(parsed)
        info = tf.saved_model.build_tensor_info

        def signature(inputs, outputs, method="tensorflow/serving/predict"):
            inputs, outputs = ({k: info(v) for k, v in tensors.items()} for tensors in (inputs, outputs))
            return tf.saved_model.build_signature_def(inputs, outputs, method)

        classes = tf.tile([["a", "b"]], [tf.shape(parsed)[0], 1])
        signatures = {
            "serving_default": signature({"x": x}, {"y": x * scale}),
            "several": signature(
                {"word": word, "count": count},
                {"twice": count * 2, "word_bytes": tf.string_join([word, "!"]), "words": word},
            ),
            "scalar": signature({"x": x}, {"sum": tf.reduce_sum(x), "half": tf.cast(x, tf.float64) / 3}),
            "classes": signature(
                {"inputs": examples}, {"classes": classes, "scores": scores}, "tensorflow/serving/classify"
            ),
            "sums": signature(
                {"inputs": examples}, {"outputs": tf.reduce_sum(parsed, 1)}, "tensorflow/serving/regress"
            ),
        }
        session.run(tf.global_variables_initializer())
        builder = tf.saved_model.Builder(str(folder))
        builder.add_meta_graph_and_variables(session, ["serve"], signatures)
        builder.save()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "half"
    for version in ("1", "3"):
        _save(folder / version)
    made, close = command.make_server(models.load(folder), port=0, max_bytes=1 << 20)
    thread = threading.Thread(target=made.run, daemon=True)
    thread.start()
    yield made
    # Its loop ends where nothing is left to listen to. It must not meet sockets that another thread closed.
    made.trigger.pull_trigger(lambda: made.asyncore.close_all(made._map))
    thread.join()
    close()


def ask(server, path, body=None, method=None):
    """(status, text) of a request."""
    connection = http.client.HTTPConnection("127.0.0.1", server.effective_port, timeout=30)
    try:
        data = body if body is None or isinstance(body, (bytes, str)) else json.dumps(body)
        connection.request(method or ("GET" if body is None else "POST"), path, data)
        answer = connection.getresponse()
        return answer.status, answer.read().decode("utf-8", "replace")
    finally:
        connection.close()


def predict(server, body):
    return ask(server, "/v1/models/half:predict", body)


def refused(server, body, path="/v1/models/half:predict"):
    """The message of the error."""
    status, text = ask(server, path, body)
    assert status in (400, 404, 501)
    return json.loads(text)["error"]


# ---- Answers ------------------------------------------------------------------------------------------------------


def test_rows_and_columns(server):
    assert predict(server, {"instances": [[1, 0.1], [3, 1e-7]]}) == (
        200,
        '{\n    "predictions": [[2.0, 0.2], [6.0, 2e-07]\n    ]\n}',
    )
    status, text = ask(server, "/v1/models/half/versions/3:predict", {"inputs": {"x": [[1, 2]]}})
    assert (status, json.loads(text)) == (200, {"outputs": [[2.0, 4.0]]})


def test_several_named_tensors(server):
    instances = [{"word": "é", "count": 2}, {"word": {"b64": "/w=="}, "count": -1}]
    status, text = predict(server, {"signature_name": "several", "instances": instances})
    assert status == 200
    assert text.startswith(
        '{\n    "predictions": [\n        {\n            "twice": 4,\n            "word_bytes": {\n'
    )
    first, second = json.loads(text.replace("\ufffd", "?"))["predictions"]
    assert first == {"twice": 4, "word_bytes": {"b64": "w6kh"}, "words": "é"}
    assert second == {"twice": -2, "word_bytes": {"b64": "/yE="}, "words": "?"}
    inputs = {"word": ["a", "b"], "count": [1, 2]}
    answer = json.loads(predict(server, {"signature_name": "several", "inputs": inputs})[1])
    assert answer["outputs"]["twice"] == [2, 4]


def test_columns_may_have_scalars_and_rows_may_not(server):
    body = {"signature_name": "scalar", "inputs": [[1, 2], [3, 4]]}
    assert json.loads(predict(server, body)[1])["outputs"] == {"sum": 10.0, "half": [[1 / 3, 2 / 3], [1.0, 4 / 3]]}
    message = refused(server, {"signature_name": "scalar", "instances": [[1, 2]]})
    assert message == "Tensor name: sum has no shape information "


def test_classify_and_regress(server):
    body = {"signature_name": "classes", "context": {"x": [0, 0.0]}, "examples": [{"x": [0.0, 0.0]}, {}]}
    body["context"]["x"] = [0.0, 0.0]
    status, text = ask(server, "/v1/models/half:classify", body)
    assert (status, json.loads(text)["results"]) == (200, [[["a", 0.5], ["b", 0.5]]] * 2)
    body = {"signature_name": "sums", "examples": [{"x": [1.5, 2.0]}, {"x": [0.0, 1.0]}]}
    assert ask(server, "/v1/models/half:regress", body) == (200, '{\n    "results": [3.5, 1.0]\n}')


def test_status_and_metadata(server):
    status, text = ask(server, "/v1/models/half")
    assert status == 200
    state = {"version": "3", "state": "AVAILABLE", "status": {"error_code": "OK", "error_message": ""}}
    assert json.loads(text) == {"model_version_status": [state]}
    found = json.loads(ask(server, "/v1/models/half/versions/3/metadata")[1])
    assert found["model_spec"] == {"name": "half", "signature_name": "", "version": "3"}
    signature = found["metadata"]["signature_def"]["signature_def"]["serving_default"]
    assert signature["method_name"] == "tensorflow/serving/predict"
    shape = {"dim": [{"size": "-1", "name": ""}, {"size": "2", "name": ""}], "unknown_rank": False}
    assert signature["inputs"]["x"] == {"dtype": "DT_FLOAT", "tensor_shape": shape, "name": "x:0"}


# ---- Refusals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", "JSON Parse error: The document is empty"),
        ("[1]", "JSON Value: [1] Is not object"),
        ("{", "JSON Parse error: Missing a name for object member. at offset: 1"),
        ('{"instances": [1 2]}', "JSON Parse error: Missing a comma or ] after an array element. at offset: 17"),
        ('{"a": 1 "b": 2}', "JSON Parse error: Missing a comma or } after an object member. at offset: 8"),
        ('{"instances": x}', "JSON Parse error: Invalid value. at offset: 14"),
        ("{}", "Missing 'inputs' or 'instances' key"),
        ('{"instances": []}', "JSON Value: {\n    \"instances\": []\n} No values in 'instances' array"),
        (
            {"instances": 3},
            "JSON Value: {\n    \"instances\": 3\n} Expecting 'instances' to be an list/array",
        ),
        (
            {"instances": [[1, "a"]]},
            "Failed to process element: 0 of 'instances' list. Error: Invalid argument: JSON Value: \"a\" Type: "
            "String is not of expected type: float",
        ),
        (
            {"instances": [[1, 2], [1]]},
            "Failed to process element: 1 of 'instances' list. Error: Invalid argument: Expecting tensor size: 2 but "
            "got: 1",
        ),
        (
            {"instances": [{"z": 1}]},
            "Failed to process element: 0 key: z of 'instances' list. Error: Invalid argument: JSON object: does not "
            "have named input: z",
        ),
        ({"inputs": {"z": 1}}, "Missing named input: x in 'inputs' object."),
        ({"inputs": [[1, [2]]]}, "Encountered list at unexpected level: 2 expected < 2"),
        (
            {"inputs": [[1, 2], 3]},
            "JSON Value: 3 found at incorrect level: 2 in the JSON DOM. Expected at level: 2",
        ),
        (
            {"signature_name": "none", "inputs": 1},
            'Serving signature name: "none" not found in signature def',
        ),
        (
            {"signature_name": "several", "inputs": [1]},
            "inputs is a plain value/list, but expecting an object as multiple input tensors required as per "
            "tensorinfo_map",
        ),
        (
            {"signature_name": "several", "inputs": {"word": [1], "count": [1]}},
            "JSON Value: 1 Type: Number is not of expected type: string",
        ),
        (
            {"signature_name": "several", "inputs": {"word": ["a"], "count": [1.5]}},
            "JSON Value: 1.5 Type: Number is not of expected type: int32",
        ),
    ],
)
def test_a_bad_request_is_told_why(server, body, message):
    assert refused(server, body) == message


def test_other_paths_are_refused(server):
    assert refused(server, {}, "/v1/models/other:predict") == "Servable not found for request: Latest(other)"
    assert refused(server, {}, "/v1/models/half/versions/1:predict") == (
        "Servable not found for request: Specific(half, 1)"
    )
    assert ask(server, "/v1/models/other")[0] == 404
    assert refused(server, {}, "/v1/models/half:explain") == "Malformed request: POST /v1/models/half:explain"
    assert json.loads(ask(server, "/v1/models")[1]) == {"error": "Missing model name in request."}
    assert ask(server, "/v1/models/half", method="DELETE")[0] == 400
    assert ask(server, "/")[0] == 404
    assert refused(server, {"examples": [1]}, "/v1/models/half:classify") == (
        "Example must be JSON object but got JSON Number"
    )
    body = {"examples": [{"x": 1.5}]}
    assert refused(server, body, "/v1/models/half:regress") == (
        "Expected regression signature method_name to be tensorflow/serving/regress. Was: tensorflow/serving/predict"
    )
    body = {"signature_name": "sums", "examples": [{"y": 1.5}]}
    status, text = ask(server, "/v1/models/half:regress", body)
    assert status == 400
    assert "Feature: x (data type: float) is required but could not be found" in json.loads(text)["error"]


def test_a_shape_that_the_graph_does_not_take(server):
    status, text = predict(server, {"instances": [[1, 2, 3]]})
    assert status == 400
    assert "Cannot feed value of shape (1, 3)" in json.loads(text)["error"]


def test_a_request_that_is_too_large(server):
    with socket.create_connection(("127.0.0.1", server.effective_port), timeout=10) as connection:
        connection.sendall(b"POST /v1/models/half:predict HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 413 ")


# ---- Damage -------------------------------------------------------------------------------------------------------


def _broken(generator):
    """Bytes that are nearly a request."""
    body = json.dumps({"instances": [[1.0, 2.0]], "signature_name": "serving_default"}).encode()
    head = b"POST /v1/models/half:predict HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body)
    kind = generator.randrange(6)
    if kind == 0:
        return generator.randbytes(generator.randrange(1, 200)) + b"\r\n\r\n"
    if kind == 1:  # cut off
        return (head + body)[: generator.randrange(1, len(head + body))]
    message = bytearray(head + body)
    if kind == 2:
        for _ in range(5):
            message[generator.randrange(len(message))] = generator.randrange(256)
    elif kind == 3:  # only in the body
        for _ in range(3):
            message[len(head) + generator.randrange(len(body))] = generator.randrange(256)
    elif kind == 4:
        message[:] = head.replace(b"Content-Length: ", b"Content-Length: 9" * generator.randrange(1, 3)) + body
    else:
        nested = b'{"instances": ' + b"[" * generator.randrange(1, 5000)
        message[:] = head.replace(b"%d" % len(body), b"%d" % len(nested)) + nested
    return bytes(message)


def test_a_thousand_broken_requests_leave_it_alive(server):
    generator = random.Random(5)
    for _ in range(1000):
        with socket.create_connection(("127.0.0.1", server.effective_port), timeout=10) as connection:
            connection.sendall(_broken(generator))
            connection.settimeout(0.001)  # nobody waits for the answer
            with contextlib.suppress(OSError):
                connection.recv(1)
    assert predict(server, {"instances": [[1, 2]]})[0] == 200


@settings(max_examples=100, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
    )
)
def test_what_is_written_is_read_again(value):
    writer = json_text.PrettyWriter()
    assert writer.value(value)
    assert repr(json.loads(writer.text())) == repr(json.loads(json.dumps(value)))


# ---- Batches ------------------------------------------------------------------------------------------------------


class _Slow:
    """A model that notes how many rows it is given, and waits for a signal at first."""

    def __init__(self, fails=False):
        self.begin = threading.Event()
        self.rows = []
        self.fails = fails

    def run(self, signature, feeds):
        self.rows.append(len(feeds["x"]))
        self.begin.wait(10)
        if self.fails and (feeds["x"] < 0).any():
            raise tf.errors.InvalidArgumentError(None, None, "negative")
        return {"y": feeds["x"] * 2}


def _run_together(batcher, model, inputs):
    answers = {}

    def one(number):
        try:
            answers[number] = batcher.run("signature", {"x": inputs[number]})["y"]
        except tf.errors.OpError as error:
            answers[number] = error.message

    threads = [threading.Thread(target=one, args=(number,)) for number in range(len(inputs))]
    threads[0].start()
    while not model.rows:
        pass
    for thread in threads[1:]:
        thread.start()
    while len(batcher._waiting) < len(inputs) - 1:
        pass
    model.begin.set()
    for thread in threads:
        thread.join(10)
    batcher.close()
    return answers


def test_requests_that_wait_run_together():
    model = _Slow()
    inputs = [np.full([2, 3], number) for number in range(5)]
    answers = _run_together(Batcher(model, 6), model, inputs)
    assert model.rows == [2, 6, 2]
    for number, value in enumerate(inputs):
        np.testing.assert_array_equal(answers[number], value * 2)


def test_one_that_fails_does_not_fail_the_others():
    model = _Slow(fails=True)
    answers = _run_together(Batcher(model, 8), model, [np.array([n]) for n in (1, 2, -3, 4)])
    assert answers.pop(2) == "negative"
    assert {number: value.tolist() for number, value in answers.items()} == {0: [2], 1: [4], 3: [8]}


# ---- The command --------------------------------------------------------------------------------------------------


def test_a_frozen_graph_is_served(tmp_path):
    with tf.Graph().as_default() as graph:
        tf.add(tf.placeholder(tf.float32, [None], name="a"), 1.0, name="b")
    (tmp_path / "frozen.pb").write_bytes(graph.as_graph_def().SerializeToString())
    model = models.load(tmp_path / "frozen.pb")
    assert (model.name, model.version) == ("frozen", 1)
    signature = model.signature("")
    assert model.run(signature, {"a": [1.0, 2.0]})["b"].tolist() == [2.0, 3.0]


def test_what_cannot_be_served_is_named(tmp_path, capsys):
    assert main(["serve", str(tmp_path / "none")]) == 2
    assert "There is no such file or folder." in capsys.readouterr().err
    assert main(["serve", str(tmp_path)]) == 2
    assert "There is no SavedModel" in capsys.readouterr().err
    (tmp_path / "bad.pb").write_bytes(b"\xff\xff")
    assert main(["serve", str(tmp_path / "bad.pb")]) == 2
    assert "Cannot parse the file" in capsys.readouterr().err
