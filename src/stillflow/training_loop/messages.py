"""tf.logging for those below it: loaded when there is something to say."""

from __future__ import annotations


def log():
    """The module tf.logging."""
    from stillflow.platform import logging

    return logging
