"""tensorflow.python.training.tensorboard_logging: log messages that also go to event files."""

from __future__ import annotations

import time
from typing import Any

from stillflow.formats import protobuf
from stillflow.names import public_module
from stillflow.platform import logging

public_module("python.training.tensorboard_logging")

DEBUG = "DEBUG"
INFO = "INFO"
WARN = "WARN"
ERROR = "ERROR"
FATAL = "FATAL"

# {level: (that of LogMessage, that of logging)}.
_LEVELS = {
    DEBUG: (10, logging.DEBUG), INFO: (20, logging.INFO), WARN: (30, logging.WARN), ERROR: (40, logging.ERROR),
    FATAL: (50, logging.FATAL),
}  # fmt: skip
_NOT_SET = object()


class _Settings:
    verbosity = WARN
    writer: Any = _NOT_SET


def get_verbosity():
    """The least level that goes to the event file."""
    return _Settings.verbosity


def set_verbosity(verbosity):
    """Sets the least level that goes to the event file. Raises ValueError for what is no level."""
    _Settings.verbosity = _checked(verbosity)


def _checked(level):
    if level not in _LEVELS:
        raise ValueError(f"Level {level} is not a valid tensorboard_logging level")
    return level


def set_summary_writer(summary_writer):
    """Sets the FileWriter that gets the messages; None for none. To be called before anything is logged."""
    _Settings.writer = summary_writer


def _clear_summary_writer():
    """Forgets that a writer was set, or none."""
    _Settings.writer = _NOT_SET


def log(level, message, *args):
    """Logs `message % args`, and writes it to the event file if the level is high enough.

    Raises:
      RuntimeError: if no writer was set.
      ValueError: for what is no level.
    """
    if _Settings.writer is _NOT_SET:
        raise RuntimeError("Must call set_summary_writer before doing any logging from tensorboard_logging")
    number, _ = _LEVELS[_checked(level)]
    if _Settings.writer and number >= _LEVELS[_Settings.verbosity][0]:
        event = protobuf.message("Event")(wall_time=time.time())
        event.log_message.level = number
        event.log_message.message = message % args
        _Settings.writer.add_event(event)
    logging.log(_LEVELS[level][1], message, *args)


def debug(message, *args):
    """`log` at the level DEBUG."""
    log(DEBUG, message, *args)


def info(message, *args):
    """`log` at the level INFO."""
    log(INFO, message, *args)


def warn(message, *args):
    """`log` at the level WARN."""
    log(WARN, message, *args)


def error(message, *args):
    """`log` at the level ERROR."""
    log(ERROR, message, *args)


def fatal(message, *args):
    """`log` at the level FATAL; the program goes on."""
    log(FATAL, message, *args)
