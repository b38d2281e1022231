"""tf.train.Checkpoint: saves objects, and restores them, also those that come later."""

from __future__ import annotations

import os
import weakref
from typing import Any

from stillflow import ops
from stillflow.files import filesystem
from stillflow.formats import protobuf
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.saver import checkpoint_state
from stillflow.saver.checkpoint_reader import open_checkpoint
from stillflow.saver.objects import sharded
from stillflow.saver.objects.object_graph import (
    OBJECT_GRAPH_KEY,
    ObjectGraph,
    dependencies_of,
    read_object_graph,
    saveables_with_graph,
)
from stillflow.saver.objects.python_state import FedText, TextSaveable
from stillflow.saver.objects.restoration import Restoration
from stillflow.saver.objects.status import (
    CheckpointLoadStatus,
    InitializationOnlyStatus,
    NameBasedSaverStatus,
    session_or_default,
)
from stillflow.tracking.base import TracedFunction, Trackable
from stillflow.tracking.structures import AutoTrackable
from stillflow.variables.variable import Variable


class ObjectSaver:
    """The nodes that save and restore what a root depends on; they are made anew when that changes.

    Arguments are those of ObjectGraph. A root that owns this is given as a weak reference, so that what it depends on
    goes with it.
    """

    def __init__(self, root, list_dependencies=dependencies_of):
        self._given_root = root
        self._list_dependencies = list_dependencies
        self._prefix = None  # tensors that are fed
        self._object_graph = None
        self._restore_prefix = None
        self._saved_graph = None
        self._save_tensor = None
        self._known_restore_ops: dict = {}
        self._fed_texts: dict = {}  # see FedText

    @property
    def _root(self):
        return self._given_root() if isinstance(self._given_root, weakref.ref) else self._given_root

    def objects(self):
        """The ObjectGraph of the root as it is now."""
        return ObjectGraph(self._root, self._list_dependencies)

    @by_mode
    def save(self, prefix, session):
        """Writes a checkpoint and returns its path."""
        prefix = filesystem.path_text(prefix)
        session = session_or_default(session)
        graph = get_default_graph()
        if self._prefix is None:
            with graph.device("/cpu:0"):
                self._object_graph = convert_to_tensor("", dtypes.string)
                self._prefix = convert_to_tensor("", dtypes.string)
        values, proto = self.objects().serialized(fed_texts=self._fed_texts)
        if self._save_tensor is None or proto != self._saved_graph:
            self._save_tensor = self._add_save([*values, TextSaveable(self._object_graph, OBJECT_GRAPH_KEY)])
            self._saved_graph = proto
        _make_folder_of(prefix)
        feeds = {self._prefix: prefix, self._object_graph: protobuf.to_bytes(proto)}
        feeds.update((each.op, each.value.now()) for each in values if isinstance(each, FedText))
        return os.fsdecode(session.run(self._save_tensor, feeds))

    def _add_save(self, values):
        """The checkpoint's path, once each device has written a part and these are merged."""
        merge = sharded.add_save(self._prefix, values)
        graph = get_default_graph()
        with graph.device("/cpu:0"), graph.control_dependencies([merge]):
            return ops.identity(self._prefix)

    def restore(self, save_path):
        """Begins a restoration and returns its status."""
        if save_path is None:
            return InitializationOnlyStatus(self._root)
        save_path = filesystem.path_text(save_path)
        reader = open_checkpoint(save_path)
        if OBJECT_GRAPH_KEY.encode() not in reader.tensors:
            status = NameBasedSaverStatus(self._root, save_path, {key.decode() for key in reader.tensors})
            status.begin()
            return status
        proto = read_object_graph(reader, save_path)
        self.prepare_restoration(save_path)
        restoration = Restoration(proto, save_path, self._restore_prefix, self._known_restore_ops)
        restoration.position(0).restore(self._root)
        return CheckpointLoadStatus(restoration, self._root, {self._restore_prefix: save_path})

    def set_restore_prefix(self, save_path):
        """Makes operations that restore read this one checkpoint; otherwise its path is fed to them."""
        with get_default_graph().device("/cpu:0"):
            self._restore_prefix = convert_to_tensor(save_path)

    @by_mode
    def prepare_restoration(self, save_path):
        """Makes the tensor that holds the path when values are restored."""
        if self._restore_prefix is None:
            with get_default_graph().device("/cpu:0"):
                self._restore_prefix = convert_to_tensor("model", dtypes.string)


def _make_folder_of(prefix):
    folder = os.path.dirname(prefix)
    if folder:
        with filesystem.typed_errors(folder):
            system, path = filesystem.system_of(folder)
            system.make_dirs(path)


@public("train.Checkpoint", "contrib.eager.Checkpoint")
class Checkpoint(AutoTrackable):
    """A group of objects that is saved and restored together: variables, optimizers, other Checkpoints, and lists and
    dicts of them that are assigned to attributes.

    Values are found again by the names of attributes, not by the names of variables. What is restored before an
    object has been made is given to it when it comes.
    """

    _save_counter: Variable | None
    _save_assign_op: Any
    _saver: ObjectSaver

    def __init__(self, **kwargs):
        """Makes an attribute of every argument.

        Raises ValueError for an argument that cannot be tracked.
        """
        for name, value in sorted(kwargs.items()):
            if not isinstance(value, (Trackable, TracedFunction)):
                raise ValueError(
                    "`Checkpoint` was expecting a trackable object (an object derived from `TrackableBase`), got "
                    f"{value}. If you believe this object should be trackable (i.e. it is part of the TensorFlow "
                    "Python API and manages state), please open an issue."
                )
            setattr(self, name, value)
        # Not as attributes are set: these are not tracked.
        self.__dict__.update(_save_counter=None, _save_assign_op=None, _saver=ObjectSaver(weakref.ref(self)))

    @property
    def save_counter(self):
        """The variable that counts how often `save` has been called; an int64 that begins at 0."""
        if self._save_counter is None:
            with get_default_graph().device("/cpu:0"):
                variable = Variable(0, name="save_counter", dtype=dtypes.int64, trainable=False, use_resource=True)
                self.__dict__["_save_counter"] = self._track_trackable(variable, name="save_counter")
        return self._save_counter

    def write(self, file_prefix, session=None):
        """Writes a checkpoint; it is not counted, and the file "checkpoint" is left alone.

        Args:
          file_prefix: the path; the names of the files begin with it. Folders are made.
          session: the session with the values, by default the default session.

        Returns:
          The path.

        Raises:
          ValueError: for lists and dicts that have changed so that they cannot be saved.
          tf.errors.OpError: if a variable has no value, or a file cannot be written.
        """
        return self._saver.save(file_prefix, session)

    def save(self, file_prefix, session=None):
        """Counts, writes a checkpoint with that number behind its path, and notes it in the file "checkpoint".

        Arguments, result and errors are those of `write`.
        """
        number = self._count(session)
        file_prefix = filesystem.path_text(file_prefix)
        path = self.write(f"{file_prefix}-{number}", session)
        checkpoint_state.write_state(os.path.dirname(file_prefix), path, [path], save_relative_paths=True)
        return path

    @by_mode
    def _count(self, session):
        """Counts one checkpoint more, and returns how many that makes."""
        session = session_or_default(session)
        if self._save_counter is None:
            session.run(self.save_counter.initializer)
        if self._save_assign_op is None:
            with get_default_graph().colocate_with(self.save_counter.op):
                self.__dict__["_save_assign_op"] = self.save_counter.assign_add(1, read_value=True)
        return session.run(self._save_assign_op)

    def restore(self, save_path):
        """Finds the objects in a checkpoint; the status that it returns restores them, and those that come later.

        Args:
          save_path: the path that `save` returned; None if there is no checkpoint, to initialize everything. A
            checkpoint of tf.train.Saver will do, too: variables are then found by their names.

        Returns:
          A status, with `run_restore_ops`, `initialize_or_restore`, `assert_consumed`,
          `assert_existing_objects_matched`, `assert_nontrivial_match`, and `expect_partial`.

        Raises:
          tf.errors.OpError: if there is no checkpoint of that path, or it is damaged.
        """
        status = self._saver.restore(save_path)
        _ = self.save_counter
        return status


# ---- In eager execution: nodes run as they are made, and none is kept ------------------------------------------


@eager_version_of(ObjectSaver.save)
def save_at_once(saver, prefix, session):
    prefix = filesystem.path_text(prefix)
    saveables = saveables_with_graph(saver.objects())
    _make_folder_of(prefix)
    saver._prefix = convert_to_tensor(prefix)
    saver._add_save(saveables)
    return prefix


@eager_version_of(ObjectSaver.prepare_restoration)
def prepare_restoration(saver, save_path):
    saver._known_restore_ops.clear()  # what has run is no operation to run again
    saver._restore_prefix = convert_to_tensor(save_path)


@eager_version_of(Checkpoint._count)
def count(checkpoint, session):
    return checkpoint.save_counter.assign_add(1).numpy()
