"""RemoteMonitor posts the results of epochs, as a form or as JSON."""

import http.server
import json
import logging
import threading
import urllib.parse

import numpy as np
import pytest

import stillflow as tf


@pytest.fixture
def server():
    """The address of a server that answers "404" to what it notes, and a list of that."""
    requests = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            requests.append((self.path, dict(self.headers), body))
            self.send_error(404)

        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_port}", requests
        httpd.shutdown()


def results_of(root, **options):
    monitor = tf.keras.callbacks.RemoteMonitor(root, **options)
    with tf.Graph().as_default():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
        model.compile("sgd", "mse")
        return model.fit(np.ones((4, 2)), np.ones(4), epochs=2, verbose=0, callbacks=[monitor]).history["loss"]


def test_results_come_in_a_form(server):
    root, requests = server
    losses = results_of(root, path="/here", field="news", headers={"X-Run": "7"})
    assert [path for path, _, _ in requests] == ["/here"] * 2
    assert requests[0][1]["X-Run"] == "7"
    sent = [json.loads(urllib.parse.parse_qs(body)["news"][0]) for _, _, body in requests]
    assert sent == [{"epoch": epoch, "loss": pytest.approx(loss)} for epoch, loss in enumerate(losses)]


def test_results_come_as_json(server):
    root, requests = server
    losses = results_of(root, send_as_json=True)
    path, headers, body = requests[1]
    assert (path, headers["Content-Type"]) == ("/publish/epoch/end/", "application/json")
    assert json.loads(body) == {"epoch": 1, "loss": pytest.approx(losses[1])}


def test_server_that_is_away_is_warned_of(caplog):
    with caplog.at_level(logging.WARNING, "tensorflow"):
        results_of("http://127.0.0.1:9")
    assert "could not reach RemoteMonitor root server at http://127.0.0.1:9" in caplog.text
