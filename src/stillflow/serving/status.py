"""Errors of requests: tf.errors, and the HTTP status that TensorFlow Serving gives each."""

from __future__ import annotations

from stillflow import errors

_HTTP_STATUS = {
    errors.CANCELLED: "499 Client Closed Request",
    errors.INVALID_ARGUMENT: "400 Bad Request",
    errors.DEADLINE_EXCEEDED: "504 Gateway Timeout",
    errors.NOT_FOUND: "404 Not Found",
    errors.ALREADY_EXISTS: "409 Conflict",
    errors.PERMISSION_DENIED: "403 Forbidden",
    errors.UNAUTHENTICATED: "401 Unauthorized",
    errors.RESOURCE_EXHAUSTED: "429 Too Many Requests",
    errors.FAILED_PRECONDITION: "400 Bad Request",
    errors.ABORTED: "409 Conflict",
    errors.OUT_OF_RANGE: "400 Bad Request",
    errors.UNIMPLEMENTED: "501 Not Implemented",
    errors.UNAVAILABLE: "503 Service Unavailable",
}


def http_status(error):
    """The status line's code and words for a tf.errors.OpError."""
    return _HTTP_STATUS.get(error.error_code, "500 Internal Server Error")


def invalid(message):
    """The error of a request that is wrong."""
    return errors.InvalidArgumentError(None, None, message)


def unimplemented(message):
    """The error of a request for what is not there."""
    return errors.UnimplementedError(None, None, message)


def not_found(message):
    """The error of a request for a model that is not served."""
    return errors.NotFoundError(None, None, message)
