"""Snippets and cases evaluated while operations run when they are called, by TensorFlow and stillflow alike.

What comes of one is its outcome: a list with a value for each tensor that it returns and, last, the number that is
drawn next; or the text of the error in which it ends. The code here runs under Python 3.7 as well.
"""

import base64
import zlib

import numpy as np

# Functions whose results the tape watches.
_WATCHED = "constant convert_to_tensor linspace ones placeholder_with_default zeros".split()


class Differentiating:
    """The module `tf`, but with a function `gradients` that asks a gradient tape. Constants are watched."""

    def __init__(self, tf, tape):
        self._tf = tf
        self._tape = tape

    def __getattr__(self, name):
        found = getattr(self._tf, name)
        if name not in _WATCHED:
            return found

        def function(*args, **kwargs):
            tensor = found(*args, **kwargs)
            if tensor.dtype.is_floating or tensor.dtype.is_complex:
                self._tape.watch(tensor)
            return tensor

        return function

    def gradients(self, ys, xs, grad_ys=None, name=None, unconnected_gradients="none", **others):
        del name, others  # what places nodes
        sources = xs if isinstance(xs, (list, tuple)) else [xs]
        return self._tape.gradient(
            ys, list(sources), output_gradients=grad_ys, unconnected_gradients=unconnected_gradients
        )


def outcome(tf, function):
    """What comes of `function(tf)`."""
    try:
        tf.set_random_seed(87)
        with tf.GradientTape(persistent=True) as tape:
            result = function(Differentiating(tf, tape))
        values = _values(tf, result)
        return values + [tf.random_uniform([], maxval=2**31 - 1, dtype=tf.int32).numpy()]
    except Exception as error:
        return error_text(error)


def outcome_of_case(tf, case):
    """What comes of a case of tests/programs/values, called with constants."""

    def function(tf):
        inputs = [np.asarray(array).astype(tf.as_dtype(dtype).as_numpy_dtype) for dtype, array in case.inputs]
        return case.build(*[tf.constant(array) for array in inputs])

    return outcome(tf, function)


def error_text(error):
    return "{}: {}".format(type(error).__name__, str(getattr(error, "message", error)).split("\n")[0])


def _values(tf, result):
    """The arrays in a nested structure of tensors."""
    if result is None:
        return ["None"]
    if isinstance(result, dict):
        return [value for key in sorted(result) for value in _values(tf, result[key])]
    if isinstance(result, tf.IndexedSlices):
        return _values(tf, [result.indices, result.values])
    if isinstance(result, (list, tuple)):
        return [value for item in result for value in _values(tf, item)]
    if not hasattr(result, "dtype"):
        return [type(result).__name__]
    if result.dtype in (tf.resource, tf.variant):
        return ["handle"]
    value = result.numpy() if hasattr(result, "numpy") else result
    return [np.array(value, object) if isinstance(value, bytes) else np.asarray(value)]


# ---- As text ------------------------------------------------------------------------------------------------


def to_text(value):
    """A value of an outcome as something that JSON can hold."""
    if isinstance(value, str):
        return value
    value = np.asarray(value)
    if value.dtype == object:
        return {"strings": [item.decode("latin-1") for item in value.ravel()], "shape": list(value.shape)}
    if (
        value.size == 1
        and value.dtype.name in ("int32", "int64", "bool", "float32", "float64")
        and np.isfinite(value)
    ):
        return {"value": value.ravel()[0].item(), "dtype": value.dtype.name, "shape": list(value.shape)}
    name = "bfloat16" if value.dtype.name == "bfloat16" or value.dtype.kind == "V" else value.dtype.name
    data = zlib.compress(np.ascontiguousarray(value).tobytes(), 9)
    return {"data": base64.b85encode(data).decode(), "dtype": name, "shape": list(value.shape)}


def from_text(item, bfloat16):
    """The value that was written as `item`. `bfloat16` is numpy's type of that name."""
    if isinstance(item, str):
        return item
    if "strings" in item:
        found = np.empty(len(item["strings"]), object)
        found[:] = [text.encode("latin-1") for text in item["strings"]]
        return found.reshape(item["shape"])
    dtype = np.dtype(bfloat16 if item["dtype"] == "bfloat16" else item["dtype"])
    if "value" in item:
        return np.array(item["value"], dtype).reshape(item["shape"])
    return np.frombuffer(zlib.decompress(base64.b85decode(item["data"])), dtype).reshape(item["shape"])
