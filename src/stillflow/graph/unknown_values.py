"""The error for tensors of graphs that are used as if they had values."""

from __future__ import annotations

from stillflow.platform.conversion_status import Status, control_status_ctx


class OperatorNotAllowedInGraphError(TypeError):
    """A tensor is used as if it had a value already."""


def not_in_graphs(task):
    """The error for a tensor that is used as a value; it says what of autograph would help."""
    advice = {
        Status.ENABLED: "is not allowed: AutoGraph did not convert this function. Try decorating it directly with "
        "@tf.function.",
        Status.DISABLED: "is not allowed: AutoGraph is disabled in this function. Try decorating it directly with "
        "@tf.function.",
        Status.UNSPECIFIED: "is not allowed in Graph execution. Use Eager execution or decorate this function with "
        "@tf.function.",
    }
    return OperatorNotAllowedInGraphError(f"{task} {advice[control_status_ctx().status]}")
