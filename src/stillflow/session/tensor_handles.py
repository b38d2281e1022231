"""TensorHandle: a tensor that a session keeps between runs, without a copy in Python."""

from __future__ import annotations

import threading
import weakref

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.device import canonical_name
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.platform.compat import as_str_any

# So many handles die before their tensors are deleted, as in TensorFlow.
_MOST_DEAD = 10

# {graph: {what its nodes do with a handle that is fed: (the placeholder, the tensor or operation)}}
_NODES: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


@public("python.ops.session_ops.TensorHandle")
class TensorHandle:
    """What `run` returns for a fetched `get_session_handle`. The tensor lives as long as the handle.

    Args:
      handle: the handle as text, "node;number;device".
      dtype: the tensor's type.
      session: the session that keeps the tensor.
    """

    def __init__(self, handle, dtype, session):
        self._handle = as_str_any(handle)
        self._dtype = dtype
        self._session = session
        self._is_owner = True

    def __del__(self):
        if self._is_owner:
            self._session._dead_handles.append(self._handle)

    def __str__(self):
        return self._handle

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.eval(), dtype)

    @property
    def handle(self):
        """The handle as text, which is what placeholders of `get_session_tensor` are fed."""
        return self._handle

    def eval(self):
        """The value of the tensor. Raises TypeError after `delete` and `get_raw_handle`."""
        self._check_owner()
        holder, value = _nodes(
            self._session.graph, ("read", self._handle.split(";")[0], self._dtype),
            lambda holder: ops.get_session_tensor(holder, dtype=self._dtype), self._handle,
        )  # fmt: skip
        return self._session.run(value, {holder: self._handle})

    def delete(self):
        """Deletes the tensor. Raises TypeError if it may have been deleted before."""
        self._check_owner()
        self._is_owner = False
        _delete(self._session, self._handle)

    def get_raw_handle(self):
        """The handle as text; the tensor is now the caller's to delete, with `delete_session_tensor`."""
        self._is_owner = False
        return self._handle

    def _check_owner(self):
        if not self._is_owner:
            raise TypeError(f"Persistent tensor {self._handle} may have already been deleted.")


@public("get_session_handle")
def get_session_handle(data, name=None):
    """A string tensor: the handle under which the session keeps the tensor `data`, for later runs.

    Where it is fetched, `run` returns a TensorHandle.

    Raises:
      TypeError: if `data` is no tensor.
    """
    if not isinstance(data, Tensor):
        raise TypeError("`data` must be of type Tensor.")
    with get_default_graph().colocate_with(data):
        return ops.get_session_handle(data, name=name)


@public("get_session_tensor")
def get_session_tensor(handle, dtype, name=None):
    """(placeholder, tensor): the tensor of type `dtype` that the session keeps under the handle that is fed.

    Args:
      handle: a handle as text; only its device matters.
      dtype: the type of the tensor.
      name: of the node that finds the tensor.
    """
    with get_default_graph().device(_device_of(handle)):
        holder = ops.placeholder(dtypes.string)
        return holder, ops.get_session_tensor(holder, dtype=dtype, name=name)


@public("delete_session_tensor")
def delete_session_tensor(handle, name=None):
    """(placeholder, operation): forgets the tensor that the session keeps under the handle that is fed."""
    with get_default_graph().device(_device_of(handle)):
        holder = ops.placeholder(dtypes.string)
        return holder, ops.delete_session_tensor(holder, name=name)


def is_handle(tensor):
    """Whether a fetched tensor becomes a TensorHandle."""
    return tensor.op.type == "GetSessionHandle"


def take_handle(tensor, value, session):
    """The TensorHandle of a fetched `value` of `tensor`. Tensors whose handles have died are deleted meanwhile."""
    if len(session._dead_handles) >= _MOST_DEAD and not session.graph.finalized:
        dead, session._dead_handles = session._dead_handles, []
        for handle in dead:
            _delete(session, handle)
    return TensorHandle(value, tensor.op.inputs[0].dtype, session)


def _delete(session, handle):
    holder, deleter = _nodes(
        session.graph, "delete", lambda holder: ops.delete_session_tensor(holder), handle
    )  # fmt: skip
    session.run(deleter, {holder: handle})


def _device_of(handle):
    return canonical_name(as_str_any(handle).split(";")[-1])


_LOCK = threading.Lock()


def _nodes(graph, key, make, handle):
    """The placeholder and the node for `key` in the graph, which are made when first needed."""
    with _LOCK:
        found = _NODES.setdefault(graph, {})
        if key not in found:
            with graph.as_default(), graph.device(_device_of(handle)):
                holder = ops.placeholder(dtypes.string)
                found[key] = holder, make(holder)
        return found[key]
