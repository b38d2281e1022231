"""tf.errors: the exceptions of TensorFlow, one class for each error code."""

from __future__ import annotations

import warnings
from typing import Any

from stillflow.names import public, public_module

public_module("errors", "python.framework.errors", "python.framework.errors_impl")

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class InaccessibleTensorError(ValueError):
    """A tensor was used, or an operation fetched, where it cannot be: it belongs to a function, branch or loop."""


@public("OpError")
class OpError(Exception):
    """An op failed while a graph ran.

    `op` is the Operation, or None when it is not known; `node_def` its NodeDef; `error_code` one of the codes
    of this module.
    """

    def __init__(self, node_def, op, message, error_code):
        super().__init__(node_def, op, message)
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = error_code

    def __reduce__(self):
        # An Operation belongs to its graph and does not travel; what is known of it stands in the message.
        arguments = (self._node_def, None, self._message)
        return type(self), arguments if type(self) is not OpError else (*arguments, self._error_code)

    @property
    def message(self):
        return self._message

    @property
    def op(self):
        return self._op

    @property
    def error_code(self):
        return self._error_code

    @property
    def node_def(self):
        if self._node_def is None and self._op is not None:
            return self._op.node_def
        return self._node_def

    def __str__(self):
        return self._message


_CLASSES: dict[int, Any] = {}


def _define(name: str, code: int, doc: str) -> Any:
    def __init__(self, node_def, op, message):  # noqa: N807
        OpError.__init__(self, node_def, op, message, code)

    error = type(name, (OpError,), {"__init__": __init__, "__doc__": doc, "__module__": __name__})
    _CLASSES[code] = error
    return error


CancelledError = _define("CancelledError", CANCELLED, "The run, or what it waited for, was cancelled.")


class UnknownError(OpError):
    """An error without a better name."""

    def __init__(self, node_def, op, message, error_code=UNKNOWN):
        super().__init__(node_def, op, message, error_code)


_CLASSES[UNKNOWN] = UnknownError
InvalidArgumentError = _define(
    "InvalidArgumentError", INVALID_ARGUMENT, "An op was given a value that is wrong in any state."
)
DeadlineExceededError = _define("DeadlineExceededError", DEADLINE_EXCEEDED, "Time ran out.")
NotFoundError = _define("NotFoundError", NOT_FOUND, "There is no such file, key, op or resource.")
AlreadyExistsError = _define("AlreadyExistsError", ALREADY_EXISTS, "What was to be made exists already.")
PermissionDeniedError = _define("PermissionDeniedError", PERMISSION_DENIED, "The caller may not do that.")
ResourceExhaustedError = _define("ResourceExhaustedError", RESOURCE_EXHAUSTED, "Memory or disk ran out.")
FailedPreconditionError = _define(
    "FailedPreconditionError", FAILED_PRECONDITION, "The state is not one in which that can be done."
)
AbortedError = _define("AbortedError", ABORTED, "The operation lost against a concurrent one.")
OutOfRangeError = _define("OutOfRangeError", OUT_OF_RANGE, "The input has come to its end.")
UnimplementedError = _define("UnimplementedError", UNIMPLEMENTED, "Valid, but not supported.")
InternalError = _define("InternalError", INTERNAL, "An invariant of the engine broke.")
UnavailableError = _define("UnavailableError", UNAVAILABLE, "Temporarily out of reach: try again.")
DataLossError = _define("DataLossError", DATA_LOSS, "Stored data is damaged.")
UnauthenticatedError = _define("UnauthenticatedError", UNAUTHENTICATED, "The caller did not say who it is.")


def exception_type_from_error_code(error_code: int) -> type[OpError]:
    """The class for a code. Raises KeyError for an unknown code."""
    return _CLASSES[error_code]


def error_code_from_exception_type(cls: type[OpError]) -> Any:
    """The code of a class. For what is no class of this module a warning, and an UnknownError instead."""
    for code, error in _CLASSES.items():
        if error is cls:
            return code
    warnings.warn("Unknown class exception", stacklevel=2)
    return UnknownError(None, None, "Unknown class exception", None)


def _make_specific_exception(node_def, op, message, error_code):
    """The exception for a code; for an unknown code a warning, and an UnknownError."""
    if error_code in _CLASSES:
        return _CLASSES[error_code](node_def, op, message)
    warnings.warn(f"Unknown error code: {error_code}", stacklevel=2)
    return UnknownError(node_def, op, message, error_code)


def make(error_code: int, message: str, op=None) -> OpError:
    """The exception for an engine's error code; with the Operation `op` the message says where that is."""
    if op is not None:
        message = op.located(message)
    error = _CLASSES.get(error_code)
    return OpError(None, op, message, error_code) if error is None else error(None, op, message)


class raise_exception_on_not_ok_status:  # noqa: N801
    """Kept for programs that wrap calls in it; errors are raised where they happen."""

    def __enter__(self):
        return None

    def __exit__(self, *exception):
        return False
