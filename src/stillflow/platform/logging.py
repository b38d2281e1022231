"""tf.logging: the logger "tensorflow" of Python's logging, on the standard error stream."""

from __future__ import annotations

import collections
import logging as _logging
import sys as _sys
import threading as _threading
from logging import DEBUG, ERROR, FATAL, INFO, WARN

from stillflow.names import public, public_module

__all__ = [
    "DEBUG",
    "ERROR",
    "FATAL",
    "INFO",
    "WARN",
    "TaskLevelStatusMessage",
    "debug",
    "error",
    "fatal",
    "flush",
    "get_verbosity",
    "info",
    "log",
    "log_every_n",
    "log_first_n",
    "log_if",
    "set_verbosity",
    "vlog",
    "warn",
    "warning",
]

public_module("logging", "python.platform.tf_logging")

_lock = _threading.Lock()
_calls: collections.Counter = collections.Counter()  # by file and line


class _Handler(_logging.StreamHandler):
    """Writes to standard error as it is at the time, unless the program has handlers of its own."""

    def emit(self, record):
        if not _logging.getLogger().handlers:
            self.stream = _sys.stderr
            super().emit(record)


def _new_logger():
    logger = _logging.getLogger("tensorflow")
    handler = _Handler()
    handler.setFormatter(_logging.Formatter(_logging.BASIC_FORMAT))
    logger.addHandler(handler)
    return logger


_logger = _new_logger()  # libraries change it under this name


@public("get_logger")
def get_logger():
    """The logger that all messages go through."""
    return _logger


def _emit(level, msg, args, kwargs):
    # Two frames up is the line that says something.
    get_logger().log(level, msg, *args, stacklevel=3, **kwargs)


def log(level, msg, *args, **kwargs):
    """Logs `msg % args` at a level."""
    _emit(level, msg, args, kwargs)


def vlog(level, msg, *args, **kwargs):
    """Logs `msg % args` at a level."""
    _emit(level, msg, args, kwargs)


def debug(msg, *args, **kwargs):
    """Logs `msg % args` for those who look for errors."""
    _emit(DEBUG, msg, args, kwargs)


def info(msg, *args, **kwargs):
    """Logs `msg % args` for the curious."""
    _emit(INFO, msg, args, kwargs)


def warn(msg, *args, **kwargs):
    """Logs `msg % args` as a warning."""
    _emit(WARN, msg, args, kwargs)


warning = warn


def error(msg, *args, **kwargs):
    """Logs `msg % args` as an error."""
    _emit(ERROR, msg, args, kwargs)


def fatal(msg, *args, **kwargs):
    """Logs `msg % args` as the gravest kind of error; the program goes on."""
    _emit(FATAL, msg, args, kwargs)


def TaskLevelStatusMessage(msg):  # noqa: N802
    """Logs an error."""
    _emit(ERROR, msg, (), {})


def _calls_before():
    """How often the line that calls the caller has called before."""
    frame = _sys._getframe(2)
    line = frame.f_code.co_filename, frame.f_lineno
    with _lock:
        _calls[line] += 1
        return _calls[line] - 1


def log_every_n(level, msg, n, *args):
    """Logs the first and then every n-th time that this line is reached."""
    if _calls_before() % n == 0:
        _emit(level, msg, args, {})


def log_first_n(level, msg, n, *args):
    """Logs the first `n` times that this line is reached."""
    if _calls_before() < n:
        _emit(level, msg, args, {})


def log_if(level, msg, condition, *args):
    """Logs if the condition is true."""
    if condition:
        _emit(level, msg, args, {})


def flush():
    """Flushes what the handlers hold."""
    for handler in (*get_logger().handlers, *_logging.getLogger().handlers):
        handler.flush()


def get_verbosity():
    """The level from which messages are logged."""
    return get_logger().getEffectiveLevel()


def set_verbosity(v):
    """Sets the level from which messages are logged, a number or a name."""
    get_logger().setLevel(v)
