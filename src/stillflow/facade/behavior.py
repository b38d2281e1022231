"""tf.*: which behaviour is in force. It is that of TensorFlow 1: graphs, run by sessions."""

from __future__ import annotations

__all__ = [
    "disable_control_flow_v2",
    "disable_eager_execution",
    "disable_tensor_equality",
    "disable_v2_behavior",
    "disable_v2_tensorshape",
    "executing_eagerly",
]


def disable_v2_behavior():
    """Chooses the behaviour of TensorFlow 1, which there is; resource variables are no longer the default."""
    from stillflow.variables import use_resources_by_default

    use_resources_by_default(False)


def disable_eager_execution():
    """Chooses graphs and sessions, which there are."""


def disable_control_flow_v2():
    """Chooses TensorFlow 1's control flow, which there is."""


def disable_tensor_equality():
    """Chooses that tensors compare by identity, as they do."""


def disable_v2_tensorshape():
    """Chooses TensorFlow 1's TensorShape, which there is."""


def executing_eagerly():
    """Whether operations run when they are called: False."""
    return False
