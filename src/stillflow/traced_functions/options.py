"""What calls of functions carry for TensorFlow's runtime."""

from __future__ import annotations

import contextlib
import threading

from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.names import public

# TensorFlow's ConfigProto with its graph optimizer switched off, for one CPU and one GPU, as it serializes it.
_CONFIG = b"\n\x07\n\x03CPU\x10\x01\n\x07\n\x03GPU\x10\x002\x02J\x008\x01"

_EXECUTORS = ("DEFAULT", "SINGLE_THREADED_EXECUTOR", "")


class _Settings(threading.local):
    def __init__(self):
        self.executor_type = ""


_settings = _Settings()


def config_proto():
    """The attribute `config_proto` of calls."""
    return _CONFIG


def executor_type():
    """The attribute `executor_type` of calls."""
    return _settings.executor_type


@by_mode
def check_executor(executor_type):
    """In a graph, what runs it finds out."""


@eager_version_of(check_executor)
def check_known_executor(executor_type):
    if executor_type not in (*_EXECUTORS, None):
        raise ValueError(f"Unknown executor type: {executor_type}")


@public("experimental.function_executor_type")
@contextlib.contextmanager
def function_executor_type(executor_type):
    """A context in which calls of functions name the executor that TensorFlow is to run them with.

    Here one executor runs all. Raises ValueError for an unknown name where operations are executed eagerly.
    """
    check_executor(executor_type)
    outer = _settings.executor_type
    _settings.executor_type = executor_type or ""
    try:
        yield
    finally:
        _settings.executor_type = outer
