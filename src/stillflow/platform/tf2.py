"""tensorflow.python.tf2: whether TensorFlow 2's behaviour is wanted where the two differ and nothing else says so."""

from __future__ import annotations

from stillflow.names import public

_enabled = False


@public("python.tf2.enabled")
def enabled():
    """Whether `enable` was called, and not `disable` after it."""
    return _enabled


@public("python.tf2.enable")
def enable():
    """Chooses TensorFlow 2's behaviour; for programs, tf.enable_v2_behavior is the whole of it."""
    global _enabled
    _enabled = True


@public("python.tf2.disable")
def disable():
    """Chooses TensorFlow 1's behaviour."""
    global _enabled
    _enabled = False
