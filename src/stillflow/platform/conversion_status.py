"""Whether the program has asked for conversion where a function runs: tensorflow.python.autograph.core.ag_ctx."""

from __future__ import annotations

import enum
import threading

from stillflow.names import public


@public("python.autograph.core.ag_ctx.Status")
class Status(enum.Enum):
    """What the program has said."""

    UNSPECIFIED = 0
    ENABLED = 1
    DISABLED = 2


@public("python.autograph.core.ag_ctx.ControlStatusCtx")
class ControlStatusCtx:
    """A context in which conversion is asked for, or not to be done."""

    def __init__(self, status, options=None):
        self.status = status
        self.options = options

    def __enter__(self):
        _stack.contexts.append(self)
        return self

    def __exit__(self, *exception):
        assert _stack.contexts[-1] is self
        _stack.contexts.pop()

    def __repr__(self):
        return f"{type(self).__name__}[status={self.status}, options={self.options}]"


class _Stack(threading.local):
    def __init__(self):
        self.contexts = [ControlStatusCtx(Status.UNSPECIFIED)]


_stack = _Stack()


@public("python.autograph.core.ag_ctx.control_status_ctx")
def control_status_ctx():
    """The innermost ControlStatusCtx of this thread."""
    return _stack.contexts[-1]
