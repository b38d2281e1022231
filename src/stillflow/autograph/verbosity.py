"""What conversion tells: tf.autograph.set_verbosity, tf.autograph.trace."""

from __future__ import annotations

import logging
import os
import sys
import traceback

from stillflow.names import public

_log = logging.getLogger("tensorflow")


class _Settings:
    level: int | None = None  # goes before the environment's
    echoes = hasattr(sys, "ps1")


_settings = _Settings()


@public("autograph.set_verbosity")
def set_verbosity(level, alsologtostdout=False):
    """Sets how much conversion logs.

    Args:
      level: 0 for nothing; more for more, up to 10. Otherwise the environment variable AUTOGRAPH_VERBOSITY says it.
      alsologtostdout: whether to print it, too.
    """
    _settings.level = level
    _settings.echoes = alsologtostdout


@public("autograph.trace")
def trace(*args):
    """Prints the arguments while the graph is built."""
    print(*args)


def _is_logged(level):
    set_level = _settings.level
    return (int(os.environ.get("AUTOGRAPH_VERBOSITY", "0")) if set_level is None else set_level) >= level


def log(level, message, *args, exc_info=False):
    """Logs a message of a level."""
    if _is_logged(level):
        _log.info(message, *args, exc_info=exc_info)
        _echo(message, args)
        if exc_info and _settings.echoes:
            traceback.print_exc()


def warn(message, *args):
    """Logs a warning."""
    _log.warning(message, *args)
    _echo(f"WARNING: {message}", args)


def _echo(message, args):
    if _settings.echoes:
        print(message % args)
