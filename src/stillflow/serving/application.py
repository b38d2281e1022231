"""The REST API of TensorFlow Serving as a WSGI application."""

from __future__ import annotations

import logging
import re

import numpy as np

from stillflow import errors
from stillflow.serving import examples, json_text, tensors
from stillflow.serving.json_text import PrettyWriter, number_text
from stillflow.serving.models import CLASSIFY_METHOD, REGRESS_METHOD
from stillflow.serving.status import http_status, invalid, not_found

_OF_MODEL = r"/v1/models(?:/([^/:]+))?(?:/versions/(\d+)|/labels/([^/:]+))?"
_ASK = re.compile(_OF_MODEL + r":(classify|regress|predict)", re.IGNORECASE)
_LOOK = re.compile(_OF_MODEL + r"(?:/(metadata))?", re.IGNORECASE)
_CLASSIFY = "classification", CLASSIFY_METHOD
_REGRESS = "regression", REGRESS_METHOD


class Application:
    """Answers requests for models.

    Args:
      models: the Models.
      run: a function of a signature and {name: array} that returns {name: array}.
      max_bytes: how many bytes a request may have.
    """

    def __init__(self, models, run, max_bytes=256 << 20):
        self._models = models
        self._run = run
        self._max_bytes = max_bytes
        self._methods = {"predict": self._predict, "classify": self._classify, "regress": self._regress}

    def __call__(self, environ, start_response):
        status = "200 OK"
        try:
            text = self._answer(environ)
        except errors.OpError as error:
            status, text = http_status(error), json_text.error_text(error.message or type(error).__name__)
        except Exception:  # whatever a request does, the server goes on
            logging.getLogger("stillflow.serving").exception("A request failed")
            status, text = "500 Internal Server Error", json_text.error_text("Internal error: see the server's log.")
        body = text.encode("utf-8", "surrogateescape")
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
        start_response(status, headers)
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]

    def _answer(self, environ):
        method, path = environ["REQUEST_METHOD"], environ.get("PATH_INFO", "")
        path = path.encode("latin-1", "replace").decode("utf-8", "replace")
        malformed = f"Malformed request: {method} {path}"
        if not path.lower().startswith("/v1/"):
            raise not_found(malformed)
        if method == "POST" and (match := _ASK.fullmatch(path)) and match[1]:
            name, version, label, verb = match.groups()
            model = self._found(name, version, label)
            return self._methods[verb.lower()](model, json_text.parsed(self._body(environ)))
        if method == "GET" and (match := _LOOK.fullmatch(path)):
            name, version, label, metadata = match.groups()
            if not name:
                raise invalid("Missing model name in request.")
            return _metadata(self._found(name, version, label)) if metadata else self._status(name, version, label)
        raise invalid(malformed)

    def _found(self, name, version, label):
        if version is not None and len(version) > 18:
            raise invalid(f"Failed to convert version: {version} to numeric.")
        return self._models.find(name, None if version is None else int(version), label)

    def _body(self, environ):
        try:
            length = int(environ.get("CONTENT_LENGTH") or 0)
        except ValueError:
            raise invalid("The length of the request is no number.") from None
        if length > self._max_bytes:
            raise errors.ResourceExhaustedError(
                None, None, f"A request of {length} bytes is larger than {self._max_bytes}."
            )
        return environ["wsgi.input"].read(length)

    # ---- Questions ------------------------------------------------------------------------------------------

    def _predict(self, model, request):
        signature = model.signature(_signature_name(request))
        if not signature.inputs:
            name = _signature_name(request) or "DEFAULT"
            raise invalid(f"Failed to get input map for signature: {name}")
        inputs = {name: info.dtype for name, info in signature.inputs.items()}
        feeds, by_rows = tensors.predict_inputs(request, inputs)
        outputs = dict(sorted(self._run(signature, feeds).items()))
        return _rows(outputs) if by_rows else _columns(outputs)

    def _classify(self, model, request):
        serialized = examples.serialized_examples(request)
        signature = model.signature(_signature_name(request), _CLASSIFY)
        outputs = self._run(signature, {_only(signature.inputs): serialized})
        classes, scores = outputs.get("classes"), outputs.get("scores")
        if classes is None and scores is None:
            raise invalid(
                'Expected classification signature outputs to contain at least one of "classes" or "scores".'
            )
        for found in (classes, scores):
            if found is not None and np.ndim(found) != 2:
                raise invalid(f"Expected Tensor shape: [batch_size num_classes] but got {list(np.shape(found))}")
            if found is not None and len(found) != len(serialized):
                kind = "classes" if found is classes else "scores"
                raise invalid(f"Expected {kind} output batch size of {len(serialized)}. Got: {len(found)}")
        return _classifications(classes, scores)

    def _regress(self, model, request):
        serialized = examples.serialized_examples(request)
        signature = model.signature(_signature_name(request), _REGRESS)
        values = np.asarray(self._run(signature, {_only(signature.inputs): serialized})[_only(signature.outputs)])
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if values.ndim != 1:
            raise invalid(
                "Expected output Tensor shape to be either [batch_size] or [batch_size, 1] but got "
                f"{list(values.shape)}"
            )
        if len(values) != len(serialized):
            raise invalid(f"Input batch size did not match output batch size: {len(serialized)} vs. {len(values)}")
        writer = _results()
        writer.single_line = True
        writer.start("[")
        for value in values:
            writer.raw(number_text(value))
        writer.end()
        writer.end()
        return writer.text()

    def _status(self, name, version, label):
        try:
            model = self._found(name, version, label)
        except errors.NotFoundError:
            missing = f"versions of model {name}" if version is None else f"version {version} of model {name}"
            raise not_found(f"Could not find any {missing}") from None
        return (
            f'{{\n "model_version_status": [\n  {{\n   "version": "{model.version}",\n   "state": "AVAILABLE",\n'
            '   "status": {\n    "error_code": "OK",\n    "error_message": ""\n   }\n  }\n ]\n}\n'
        )


def _signature_name(request):
    name = request.get("signature_name", "")
    if not isinstance(name, str):
        raise invalid(
            f"JSON Value: {json_text.debug_text(request)} not formatted correctly. 'signature_name' key must be a "
            "string value."
        )
    return name


def _only(tensors_by_name):
    """The name of the one tensor that a signature has. Raises InvalidArgumentError if it has several."""
    if len(tensors_by_name) != 1:
        raise invalid("Expected one input Tensor.")
    return next(iter(tensors_by_name))


# ---- Answers ------------------------------------------------------------------------------------------------------


def _metadata(model):
    signatures = {name: signature.as_json() for name, signature in model.signatures.items()}
    writer = PrettyWriter()
    writer.value(
        {
            "model_spec": {"name": model.name, "signature_name": "", "version": str(model.version)},
            "metadata": {"signature_def": {"signature_def": signatures}},
        }
    )
    return writer.text() + "\n"


def _write(writer, name, value):
    """Writes an array as nested lists; strings of outputs whose name ends with "_bytes" in base64."""
    if isinstance(value, np.ndarray) and value.ndim:
        writer.start("[")
        for item in value:
            _write(writer, name, item)
        writer.end()
    elif isinstance(value, (bytes, str)):
        _write_bytes(writer, name, value if isinstance(value, bytes) else value.encode())
    elif isinstance(value, np.ndarray):
        _write(writer, name, value.item() if value.dtype == object else value[()])
    elif isinstance(value, np.complexfloating):
        raise invalid(f"Failed to write JSON value for tensor type: {value.dtype.name}")
    else:
        writer.raw(number_text(value))


def _write_bytes(writer, name, value):
    if name.endswith("_bytes"):
        writer.start("{")
        writer.string("b64")
        writer.string(tensors.base64_text(value))
        writer.end()
    else:
        writer.string(value.decode("utf-8", "surrogateescape"))


def _rows(outputs):
    arrays = {name: np.asarray(value) for name, value in outputs.items()}
    count = None
    for name, array in arrays.items():
        if array.ndim == 0:
            raise invalid(f"Tensor name: {name} has no shape information ")
        if count not in (None, len(array)):
            raise invalid(f"Tensor name: {name} has inconsistent batch size: {len(array)} expecting: {count}")
        count = len(array)
    writer = PrettyWriter()
    writer.start("{")
    writer.string("predictions")
    writer.start("[")
    for row in range(count or 0):
        if len(arrays) > 1:
            writer.start("{")
        writer.single_line = True
        for name, array in arrays.items():
            if len(arrays) > 1:
                writer.string(name)
            _write(writer, name, array[row])
        writer.single_line = False
        if len(arrays) > 1:
            writer.end()
    writer.end()
    writer.end()
    return writer.text()


def _columns(outputs):
    writer = PrettyWriter()
    writer.start("{")
    writer.string("outputs")
    if len(outputs) > 1:
        writer.start("{")
    for name, value in outputs.items():
        if len(outputs) > 1:
            writer.string(name)
        _write(writer, name, np.asarray(value))
    if len(outputs) > 1:
        writer.end()
    writer.end()
    return writer.text()


def _results():
    writer = PrettyWriter()
    writer.start("{")
    writer.string("results")
    return writer


def _classifications(classes, scores):
    writer = _results()
    writer.start("[")
    some = scores if classes is None else classes
    for row in range(len(some)):
        writer.single_line = True
        writer.start("[")
        for column in range(some.shape[1]):
            writer.start("[")
            writer.string("" if classes is None else classes[row][column].decode("utf-8", "surrogateescape"))
            writer.raw(number_text(np.float32(0) if scores is None else scores[row][column]))
            writer.end()
        writer.end()
        writer.single_line = False
    writer.end()
    writer.end()
    return writer.text()
