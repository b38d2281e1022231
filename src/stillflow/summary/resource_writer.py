"""Summary writers that are resources of a session or of eager execution: what tf.contrib.summary writes to."""

from __future__ import annotations

import abc
import contextlib
import functools
import itertools
import os

from stillflow import ops
from stillflow.eager.modes import context
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies, device
from stillflow.graph.default_graph import get_default_graph, require_graph
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.graph.name_scope import init_scope, name_scope
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor

_INITIALIZERS = "_SUMMARY_WRITER_V2"
_FLUSH_MILLIS = 2 * 60 * 1000


@public("contrib.summary.SummaryWriter", "compat.v2.summary.SummaryWriter")
class SummaryWriter(abc.ABC):
    """Where summaries go. Made by create_file_writer."""

    @abc.abstractmethod
    def set_as_default(self):
        """Makes it the default writer of this thread."""

    @abc.abstractmethod
    def as_default(self):
        """A context in which it is the default writer of this thread; it is flushed at the end."""

    def init(self):
        """The operation that opens it. Executed eagerly it is open from the start."""
        raise NotImplementedError()

    def flush(self):
        """Writes what is waiting."""
        raise NotImplementedError()

    def close(self):
        """Writes what is waiting and closes the file."""
        raise NotImplementedError()


@by_mode
def _collect_initializer(writer):
    get_default_graph().add_to_collection(_INITIALIZERS, writer._init_op)


@eager_version_of(_collect_initializer)
def _free_with(writer):
    get_default_graph().free_with(writer, writer._resource, "summary_writer")


@by_mode
def _is_closed(writer):
    return False  # of a graph: its sessions know


@eager_version_of(_is_closed)
def _is_closed_now(writer):
    return writer._v2 and writer._closed


@by_mode
def _note_closed(writer):
    pass


@eager_version_of(_note_closed)
def _note_closed_now(writer):
    writer._closed = True


@public("python.ops.summary_ops_v2.ResourceSummaryWriter")
class ResourceSummaryWriter(SummaryWriter):
    """A writer whose file a session has open, or eager execution.

    Args:
      shared_name: writers of one name are one.
      init_op_fn: a function of the resource that opens the file.
      name: a name for the resource's node.
      v2: whether, executed eagerly, it refuses to be used once it is closed.
    """

    def __init__(self, shared_name, init_op_fn, name=None, v2=False):
        self._v2 = v2
        self._closed = False
        self._resource = ops.summary_writer(shared_name=shared_name or "", name=name)
        self._init_op_fn = init_op_fn
        self._init_op = init_op_fn(self._resource)
        _collect_initializer(self)

    def _refuse_if_closed(self):
        if _is_closed(self):
            raise RuntimeError("SummaryWriter is already closed")

    def set_as_default(self):
        self._refuse_if_closed()
        context().summary_writer = self

    @contextlib.contextmanager
    def as_default(self):
        self._refuse_if_closed()
        state = context()
        before, state.summary_writer = state.summary_writer, self
        try:
            yield self
            self.flush()
        finally:
            state.summary_writer = before

    def init(self):
        """The operation that opens the file.

        That of tf.contrib.summary opens a file anew, even after `close`. Raises RuntimeError for others then.
        """
        if not self._v2:
            return self._init_op_fn(self._resource)
        self._refuse_if_closed()
        return self._init_op

    def flush(self):
        return None if _is_closed(self) else flush(writer=self)

    def close(self):
        if _is_closed(self):
            return None
        try:
            with control_dependencies([self.flush()]), device("cpu:0"):
                return ops.close_summary_writer(self._resource)
        finally:
            _note_closed(self)


@public("python.ops.summary_ops_v2.NoopSummaryWriter")
class NoopSummaryWriter(SummaryWriter):
    """A writer that writes nothing and never becomes the default."""

    def set_as_default(self):
        pass

    @contextlib.contextmanager
    def as_default(self):
        yield

    def init(self):
        pass

    def flush(self):
        pass

    def close(self):
        pass


@public("compat.v2.summary.create_noop_writer", "python.ops.summary_ops_v2.create_noop_writer")
def create_noop_writer():
    """A writer that writes nothing."""
    return NoopSummaryWriter()


def _settings(max_queue, flush_millis, filename_suffix):
    """The arguments as TensorFlow's nodes have them, with constants for what is not given."""
    return {
        "max_queue": ops.constant(10) if max_queue is None else max_queue,
        "flush_millis": ops.constant(_FLUSH_MILLIS) if flush_millis is None else flush_millis,
        "filename_suffix": ops.constant(".v2") if filename_suffix is None else filename_suffix,
    }


@public("contrib.summary.create_file_writer")
def create_file_writer(logdir, max_queue=None, flush_millis=None, filename_suffix=None, name=None):
    """A SummaryWriter that writes an event file.

    Args:
      logdir: the directory, made if it is not there. None gives a writer that writes nothing.
      max_queue: how many events may wait in memory; 10 by default.
      flush_millis: how old the oldest of them may be when the next one comes; two minutes by default.
      filename_suffix: what the file's name ends with; ".v2" by default.
      name: the shared name of the resource; "logdir:" and the directory by default. Writers of one name are one, with
        the arguments of the first.

    Raises, when the file is opened, tf.errors.FailedPreconditionError if `logdir` is a file, and what else the system
    says. Files on remote file systems (gs://) are not written: see tf.summary.FileWriter.
    """
    if logdir is None:
        return NoopSummaryWriter()
    logdir = str(logdir)
    with device("cpu:0"):
        settings = _settings(max_queue, flush_millis, filename_suffix)
        make = functools.partial(ops.create_summary_file_writer, logdir=logdir, **settings)
        return ResourceSummaryWriter(f"logdir:{logdir}" if name is None else name, make)


@public("contrib.summary.create_summary_file_writer")
def create_summary_file_writer(*args, **kwargs):
    """create_file_writer, under its former name."""
    from absl import logging

    logging.warning("Deprecation Warning: create_summary_file_writer was renamed to create_file_writer")
    return create_file_writer(*args, **kwargs)


_numbers = itertools.count()


@by_mode
def _check_arguments(is_in_function, arguments):
    pass


@eager_version_of(_check_arguments)
def _refuse_nodes(is_in_function, arguments):
    """Raises ValueError for tensors of a graph: the file is opened at once."""
    for name, value in arguments.items():
        if not isinstance(value, Tensor) or value.graph is get_default_graph():
            continue
        if is_in_function:
            raise ValueError(
                f'Invalid graph Tensor argument "{name}={value}" to create_file_writer() inside an @tf.function. '
                "The create call will be lifted into the outer eager execution context, so it cannot consume graph "
                "tensors defined inside the function body."
            )
        raise ValueError(f'Invalid graph Tensor argument "{name}={value}" to eagerly executed create_file_writer().')


@by_mode
def _own_name(scope):
    """What no other writer of this graph has as its shared name."""
    return scope.rstrip("/")


@eager_version_of(_own_name)
def _no_name(scope):
    return ""


@public("compat.v2.summary.create_file_writer", "python.ops.summary_ops_v2.create_file_writer_v2")
def create_file_writer_v2(logdir, max_queue=None, flush_millis=None, filename_suffix=None, name=None):
    """A SummaryWriter with an event file of its own. Inside a tf.function it is made once, outside of it.

    Args:
      logdir, max_queue, flush_millis, filename_suffix: as of tf.contrib.summary.create_file_writer. The process and a
        number stand before the suffix.
      name: a name for the scope of its nodes.

    Raises:
      ValueError: if `logdir` is None, or if an argument is a tensor of a graph while the writer is made eagerly.
    """
    if logdir is None:
        raise ValueError("logdir cannot be None")
    arguments = {
        "logdir": logdir,
        "max_queue": max_queue,
        "flush_millis": flush_millis,
        "filename_suffix": filename_suffix,
    }
    is_in_function = get_default_graph().building_function
    with name_scope(name, "create_file_writer") as scope, device("cpu:0"), init_scope():
        _check_arguments(is_in_function, arguments)
        logdir = convert_to_tensor(logdir, dtypes.string)
        settings = _settings(max_queue, flush_millis, filename_suffix)
        prefix = ops.constant(f".{os.getpid()}.{next(_numbers)}")
        settings["filename_suffix"] = prefix + settings["filename_suffix"]
        make = functools.partial(ops.create_summary_file_writer, logdir=logdir, **settings)
        return ResourceSummaryWriter(_own_name(scope), make, name=name, v2=True)


@public("contrib.summary.summary_writer_initializer_op")
def summary_writer_initializer_op():
    """The operations that open the files of all writers of the default graph.

    Raises RuntimeError in eager execution, where they are open from the start.
    """
    require_graph("tf.contrib.summary.summary_writer_initializer_op is only supported in graph mode.")
    return get_default_graph().get_collection(_INITIALIZERS)


@public("contrib.summary.flush", "compat.v2.summary.flush")
def flush(writer=None, name=None):
    """Writes what is waiting in a writer, a SummaryWriter or its resource; by default in the thread's default one.

    Returns the operation, which does nothing if there is no writer.
    """
    if writer is None:
        writer = context().summary_writer
        if writer is None:
            return ops.no_op()
    resource = writer._resource if isinstance(writer, ResourceSummaryWriter) else writer
    with device("cpu:0"):
        return ops.flush_summary_writer(resource, name=name)


@public("contrib.summary.eval_dir")
def eval_dir(model_dir, name=None):
    """The directory of an evaluation's event files: "eval" or "eval_NAME" below the model's."""
    return os.path.join(model_dir, f"eval_{name}" if name else "eval")  # noqa: PTH118  it may be of another system
