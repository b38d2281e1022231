"""Sessions and hooks that would send tensors to a debug server. There are none here, and the names say so."""

from __future__ import annotations

from stillflow import errors
from stillflow.debug.run_keys import GRPC_URL_PREFIX
from stillflow.debug.wrappers.requests import check_session, check_type
from stillflow.names import public
from stillflow.training_loop.hooks.hook import SessionRunHook


def _refuse(name, addresses):
    raise errors.UnimplementedError(
        None, None,
        f"{name} sends tensors over gRPC to {', '.join(addresses)}: to TensorBoard's debugger, which TensorBoard "
        "has no longer, or to a server of one's own. DumpingDebugWrapperSession and DumpingDebugHook write files.",
    )  # fmt: skip


def _urls(addresses):
    """The URLs of addresses, one or a list. Raises TypeError for what is no text."""
    if not isinstance(addresses, (str, list)):
        raise TypeError(f"Expected type str or list in grpc_debug_server_addresses, received type {type(addresses)}")
    addresses = [addresses] if isinstance(addresses, str) else addresses
    for address in addresses:
        if not isinstance(address, str):
            raise TypeError(f"Expected type str in list grpc_debug_server_addresses, received type {type(address)}")
    return [address if address.startswith(GRPC_URL_PREFIX) else GRPC_URL_PREFIX + address for address in addresses]


class _GrpcWrapperSession:
    def __init__(self, sess, grpc_debug_server_addresses, *args, watch_fn=None, **kwargs):
        check_session(sess)
        if watch_fn is not None and not callable(watch_fn):
            raise TypeError("watch_fn is not callable")
        _refuse(type(self).__name__, _urls(grpc_debug_server_addresses))


@public("python.debug.GrpcDebugWrapperSession", "python.debug.wrappers.grpc_wrapper.GrpcDebugWrapperSession")
class GrpcDebugWrapperSession(_GrpcWrapperSession):
    """Raises tf.errors.UnimplementedError; TypeError for arguments that TensorFlow does not take."""


@public(
    "python.debug.TensorBoardDebugWrapperSession",
    "python.debug.wrappers.grpc_wrapper.TensorBoardDebugWrapperSession",
)
class TensorBoardDebugWrapperSession(_GrpcWrapperSession):
    """Raises tf.errors.UnimplementedError; TypeError for arguments that TensorFlow does not take."""


class _GrpcHook(SessionRunHook):
    def __init__(self, grpc_debug_server_addresses, *args, **kwargs):
        check_type(grpc_debug_server_addresses, (str, list))
        _refuse(type(self).__name__, _urls(grpc_debug_server_addresses))


@public("python.debug.GrpcDebugHook", "python.debug.wrappers.hooks.GrpcDebugHook")
class GrpcDebugHook(_GrpcHook):
    """Raises tf.errors.UnimplementedError; TypeError for addresses that are no text."""


@public("python.debug.TensorBoardDebugHook", "python.debug.wrappers.hooks.TensorBoardDebugHook")
class TensorBoardDebugHook(_GrpcHook):
    """Raises tf.errors.UnimplementedError; TypeError for addresses that are no text."""
