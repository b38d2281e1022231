"""RemoteMonitor: results of epochs, sent to a server."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request

from stillflow.keras.callbacks.base import Callback
from stillflow.names import public
from stillflow.platform import logging


@public("keras.callbacks.RemoteMonitor")
class RemoteMonitor(Callback):
    """Sends the results of each epoch to a server by HTTP POST; a warning, if it cannot be reached.

    Args:
      root: the address of the server.
      path: where on it.
      field: the field of the form that holds the results, as JSON.
      headers: {name: value} of further headers.
      send_as_json: whether the request is JSON itself, instead of a form.
    """

    def __init__(
        self, root="http://localhost:9000", path="/publish/epoch/end/", field="data", headers=None,
        send_as_json=False,
    ):  # fmt: skip
        super().__init__()
        self.root = root
        self.path = path
        self.field = field
        self.headers = headers
        self.send_as_json = send_as_json

    def on_epoch_end(self, epoch, logs=None):
        text = json.dumps({"epoch": epoch, **(logs or {})}, default=float)
        headers = dict(self.headers or {})
        if self.send_as_json:
            headers.setdefault("Content-Type", "application/json")
        else:
            text = urllib.parse.urlencode({self.field: text})
        request = urllib.request.Request(self.root + self.path, text.encode(), headers)
        try:
            with urllib.request.urlopen(request) as reply:
                reply.read()
        except urllib.error.HTTPError:
            pass  # the server was reached
        except OSError:
            logging.warning(f"Warning: could not reach RemoteMonitor root server at {self.root}")
