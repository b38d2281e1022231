"""tf.train.Saver: writes variables to checkpoints, keeps the newest ones, and brings variables back."""

from __future__ import annotations

import contextlib
import logging
import math
import operator
import os
import time

from stillflow import errors
from stillflow.files import filesystem
from stillflow.formats import protobuf
from stillflow.graph import collection_protos
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph, require_graph
from stillflow.graph.inner_functions import prepend_name_scope
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.names import public
from stillflow.saver import at_once, checkpoint_state, restoring, session_state
from stillflow.saver.builder import V2, BulkSaverBuilder
from stillflow.saver.meta_graph import export_meta_graph, refuse_eager_execution
from stillflow.saver.saveable import saveables
from stillflow.session.session import BaseSession

_log = logging.getLogger("tensorflow")


@public("python.ops.variables._all_saveable_objects")
def all_saveable_objects(scope=None):
    """What a Saver saves by default: the global variables, and the saveable objects that are no variables."""
    graph = get_default_graph()
    return graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope) + graph.get_collection(
        GraphKeys.SAVEABLE_OBJECTS, scope
    )


@public("train.Saver")
class Saver:
    """Saves variables to checkpoints and restores them.

    A checkpoint appears whole or not at all: killed at any instant, a program finds the one before. Restoring gives
    all variables their values, or, if it fails, changes none.
    """

    def __init__(
        self, var_list=None, reshape=False, sharded=False, max_to_keep=5, keep_checkpoint_every_n_hours=10000.0,
        name=None, restore_sequentially=False, saver_def=None, builder=None, defer_build=False, allow_empty=False,
        write_version=V2, pad_step_number=False, save_relative_paths=False, filename=None, save_random_state=None,
    ):  # fmt: skip
        """Adds the nodes that save and restore to the default graph.

        Args:
          var_list: the variables, as a list, or as {name in the checkpoint: variable}; by default all of the graph
            that can be saved.
          reshape: whether values may be restored into variables of another shape with as many elements.
          sharded: whether each device writes a file of its own.
          max_to_keep: how many checkpoints to keep; None or 0 keeps all.
          keep_checkpoint_every_n_hours: one checkpoint in so many hours is kept in any case.
          name: the name scope of the nodes, "save" by default; with `saver_def` the scope that they were imported in.
          restore_sequentially: accepted; restoring reads everything before it assigns anything.
          saver_def: a SaverDef message, of nodes that the graph has already.
          builder: what adds the nodes, by default a bulk builder.
          defer_build: whether `build` will be called later.
          allow_empty: whether there may be no variables; such a Saver does nothing.
          write_version: SaverDef.V2, or SaverDef.V1 for the format before TensorFlow 0.12.
          pad_step_number: whether step numbers in names have eight digits at least.
          save_relative_paths: whether the file "checkpoint" has paths relative to its folder.
          filename: the default of the tensor that is fed with the name of the checkpoint.
          save_random_state: whether checkpoints also keep where random ops have got to, so that a run that is resumed
            goes on with the same bits. By default they do if `var_list` is not given; what does not fit a graph is
            then left out when it is restored, with a warning. True makes that an error.

        Raises:
          ValueError: if there are no variables, two of one name, or `var_list` with `defer_build`.
          TypeError: for what is no variable.
          RuntimeError: if the graph is finalized.
        """
        if defer_build and var_list:
            raise ValueError(
                "If `var_list` is provided then build cannot be deferred. Either set defer_build=False or "
                "var_list=None."
            )
        self._var_list = var_list
        self._reshape = reshape
        self._sharded = sharded
        self._max_to_keep = max_to_keep
        self._keep_checkpoint_every_n_hours = keep_checkpoint_every_n_hours
        self._name = name
        self._restore_sequentially = restore_sequentially
        self.saver_def = saver_def
        self._builder = builder
        self._is_built = False
        self._allow_empty = allow_empty
        self._is_empty = False
        self._write_version = write_version
        self._pad_step_number = pad_step_number
        self._save_relative_paths = save_relative_paths
        self._filename = filename
        self._keeps_state = var_list is None if save_random_state is None else save_random_state
        self._demands_state = bool(save_random_state)
        self._last_checkpoints: list = []  # (path, time)
        self._checkpoints_to_be_deleted: list = []
        self._next_checkpoint_time = 0.0
        self._object_saver = None
        self._begin(defer_build)

    @by_mode
    def _begin(self, defer_build):
        if not defer_build:
            self.build()
        if self.saver_def:
            self._check_saver_def()
            self._write_version = self.saver_def.version

    def build(self):
        """Adds the nodes, if that was deferred. Raises ValueError if there are no variables.

        Raises RuntimeError in eager execution, where there are no nodes.
        """
        require_graph("Use save/restore instead of build in eager mode.")
        if self._is_built:
            return
        self._is_built = True
        if not self.saver_def:
            if self._builder is None:
                self._builder = BulkSaverBuilder(self._write_version)
            if self._var_list is None:
                self._var_list = all_saveable_objects()
            if not self._var_list:
                if not self._allow_empty:
                    raise ValueError("No variables to save")
                self._is_empty = True
                return
            self.saver_def = self._builder.build(
                self._var_list,
                reshape=self._reshape,
                sharded=self._sharded,
                max_to_keep=self._max_to_keep,
                keep_checkpoint_every_n_hours=self._keep_checkpoint_every_n_hours,
                name=self._name,
                restore_sequentially=self._restore_sequentially,
                filename=self._filename or "model",
            )
        elif self._name:
            for field in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
                setattr(self.saver_def, field, prepend_name_scope(getattr(self.saver_def, field), self._name))
        self._check_saver_def()
        self._next_checkpoint_time = time.time() + self.saver_def.keep_checkpoint_every_n_hours * 3600

    def _check_saver_def(self):
        if not isinstance(self.saver_def, protobuf.message("SaverDef")):
            raise ValueError(f"saver_def must be a saver_pb2.SaverDef: {self.saver_def}")
        if not self.saver_def.save_tensor_name:
            raise ValueError(f"saver_def must specify the save_tensor_name: {self.saver_def}")
        if not self.saver_def.restore_op_name:
            raise ValueError(f"saver_def must specify the restore_op_name: {self.saver_def}")

    # ---- Which checkpoints there are ------------------------------------------------------------------------

    @property
    def last_checkpoints(self):
        """The paths of the checkpoints that are kept and may be deleted later, oldest first."""
        return [path for path, _ in self._last_checkpoints]

    def set_last_checkpoints(self, last_checkpoints):
        """Replaces that list. Raises AssertionError for what is no list."""
        if not isinstance(last_checkpoints, list):
            raise AssertionError(f"last_checkpoints must be a list, but is {type(last_checkpoints)}")
        # When they were written is not known; as in TensorFlow they are then kept for good.
        self._last_checkpoints = [(path, math.inf) for path in last_checkpoints]

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time):
        """Replaces the list by (path, seconds since 1970). Raises AssertionError for what is no list."""
        if not isinstance(last_checkpoints_with_time, list):
            raise AssertionError(f"last_checkpoints_with_time must be a list, but is {last_checkpoints_with_time}")
        self._last_checkpoints = last_checkpoints_with_time

    def recover_last_checkpoints(self, checkpoint_paths):
        """Replaces the list by those of the paths at which there are checkpoints, as after a restart."""
        self.set_last_checkpoints_with_time(checkpoint_state.existing_with_mtimes(checkpoint_paths))

    def _record(self, path):
        """Adds a new checkpoint, and finds out whether one has to go for it."""
        if not self.saver_def.max_to_keep:
            return
        self._last_checkpoints = [item for item in self._last_checkpoints if item[0] != path]
        self._last_checkpoints.append((path, time.time()))
        if len(self._last_checkpoints) > self.saver_def.max_to_keep:
            self._checkpoints_to_be_deleted.append(self._last_checkpoints.pop(0))

    def _delete_old(self, meta_graph_suffix):
        if not self._checkpoints_to_be_deleted:
            return
        path, written = self._checkpoints_to_be_deleted.pop(0)
        if written > self._next_checkpoint_time:
            self._next_checkpoint_time += self.saver_def.keep_checkpoint_every_n_hours * 3600
            return
        try:
            checkpoint_state.remove_checkpoint(path, self.saver_def.version, meta_graph_suffix)
        except errors.OpError as error:
            _log.warning("Ignoring: %s", error)

    # ---- As messages ----------------------------------------------------------------------------------------

    def as_saver_def(self):
        """The SaverDef message."""
        return self.saver_def

    def to_proto(self, export_scope=None):
        """The SaverDef message for a graph that is exported from a name scope; None if the nodes are not in it."""
        if export_scope is None:
            return self.saver_def
        prefix = export_scope.rstrip("/") + "/"
        if not (
            self.saver_def.filename_tensor_name.startswith(prefix)
            and self.saver_def.save_tensor_name.startswith(prefix)
            and self.saver_def.restore_op_name.startswith(prefix)
        ):
            return None
        found = protobuf.message("SaverDef")()
        found.CopyFrom(self.saver_def)
        for field in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
            setattr(found, field, getattr(found, field).removeprefix(prefix))
        return found

    @staticmethod
    def from_proto(saver_def, import_scope=None):
        """A Saver over nodes that the graph has, of a SaverDef message."""
        return Saver(saver_def=saver_def, name=import_scope)

    def export_meta_graph(
        self, filename=None, collection_list=None, as_text=False, export_scope=None, clear_devices=False,
        clear_extraneous_savers=False, strip_default_attrs=False, save_debug_info=False,
    ):  # fmt: skip
        """Writes the default graph, its collections and this Saver to `filename`; see tf.train.export_meta_graph.

        Raises RuntimeError in eager execution.
        """
        refuse_eager_execution()
        return export_meta_graph(
            filename=filename,
            graph_def=get_default_graph().as_graph_def(add_shapes=True),
            saver_def=self.saver_def,
            collection_list=collection_list,
            as_text=as_text,
            export_scope=export_scope,
            clear_devices=clear_devices,
            clear_extraneous_savers=clear_extraneous_savers,
            strip_default_attrs=strip_default_attrs,
            save_debug_info=save_debug_info,
        )

    # ---- Saving ---------------------------------------------------------------------------------------------

    def save(
        self, sess, save_path, global_step=None, latest_filename=None, meta_graph_suffix="meta",
        write_meta_graph=True, write_state=True, strip_default_attrs=False, save_debug_info=False,
    ):  # fmt: skip
        """Writes a checkpoint; then the MetaGraph and the file "checkpoint"; then deletes what is not to be kept.

        Args:
          sess: the session with the values; without meaning in eager execution.
          save_path: the path; the names of the files begin with it.
          global_step: a number, or a tensor of one or its name, to put behind the path.
          latest_filename: what to call the file "checkpoint".
          meta_graph_suffix: of the MetaGraph's name.
          write_meta_graph: whether to write it.
          write_state: whether to note the new checkpoint, in the Saver and in the file "checkpoint".
          strip_default_attrs, save_debug_info: as in export_meta_graph.

        Returns:
          The path of the checkpoint; None if there are no variables.

        Raises:
          TypeError: if `sess` is no session.
          ValueError: if the folder is not there, and for names that collide.
          RuntimeError: if the Saver has not been built.
          tf.errors.OpError: if the disk is full, or a variable has no value; older checkpoints are as they were.
        """
        if not self._is_built:
            raise RuntimeError("`build()` should be called before save if defer_build==True")
        latest_filename = latest_filename or "checkpoint"
        if os.path.split(latest_filename)[0]:
            raise ValueError("'latest_filename' must not contain path components")
        check_session(sess)
        save_path = filesystem.path_text(save_path)
        checkpoint_file = self._with_step(sess, save_path, global_step, latest_filename)
        model_checkpoint_path = None
        if not self._is_empty:
            model_checkpoint_path = self._write(sess, checkpoint_file, save_path)
        if write_meta_graph:
            self._write_meta_graph(
                sess, checkpoint_state.meta_graph_filename(checkpoint_file, meta_graph_suffix),
                strip_default_attrs=strip_default_attrs, save_debug_info=save_debug_info,
            )  # fmt: skip
        if write_state and not self._is_empty:
            self._record(model_checkpoint_path)
            checkpoint_state.write_state(
                os.path.dirname(save_path),
                model_checkpoint_path,
                self.last_checkpoints,
                latest_filename,
                self._save_relative_paths,
            )
            self._delete_old(meta_graph_suffix)
        return model_checkpoint_path

    def _with_step(self, sess, save_path, global_step, latest_filename):
        if global_step is None:
            if os.path.basename(save_path) == latest_filename and not self._sharded:
                raise ValueError(
                    f"'latest_filename' collides with 'save_path': '{latest_filename}' and '{save_path}'"
                )
            return save_path
        try:
            step = operator.index(global_step)
        except TypeError:
            step = step_of(sess, global_step)
        return f"{save_path}-{step:08d}" if self._pad_step_number else f"{save_path}-{step}"

    def _write(self, sess, checkpoint_file, save_path):
        if not checkpoint_file:
            raise ValueError("no path specified")
        keeps_state = self._keeps_state and self.saver_def.version == V2
        try:
            if keeps_state:
                session_state.note(sess, checkpoint_file)
            with contextlib.suppress(OSError):  # a folder that is not there is told about when it is written to
                filesystem.finish_removals(os.path.dirname(checkpoint_file))
            return self._write_variables(sess, checkpoint_file)
        except (errors.FailedPreconditionError, errors.NotFoundError):
            if not os.path.isdir(os.path.dirname(save_path)):
                message = f"Parent directory of {save_path} doesn't exist, can't save."
                raise ValueError(message) from None
            raise
        finally:
            if keeps_state:
                session_state.forget(sess, checkpoint_file)

    @by_mode
    def _write_variables(self, sess, checkpoint_file):
        """Writes the checkpoint and returns its path."""
        with filesystem.freed_by_thread(*checkpoint_state.data_files(checkpoint_file)):
            written = sess.run(
                self.saver_def.save_tensor_name, {self.saver_def.filename_tensor_name: checkpoint_file}
            )
        return os.fsdecode(written)

    @by_mode
    def _write_meta_graph(self, sess, filename, **options):
        with sess.graph.as_default():
            self.export_meta_graph(filename, **options)

    # ---- Restoring ------------------------------------------------------------------------------------------

    def restore(self, sess, save_path):
        """Gives the variables the values of a checkpoint; they need not be initialized.

        Raises:
          ValueError: if there is no checkpoint of that path.
          tf.errors.NotFoundError: if it lacks a variable.
          tf.errors.InvalidArgumentError: if a type or shape is another one.
          tf.errors.DataLossError, OutOfRangeError: if it is damaged.
          After any error all variables have the values they had.

        In eager execution `sess` is without meaning, and a ValueError says that a shape is another one.
        """
        if self._is_empty:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        prefix = filesystem.path_text(save_path)
        if not checkpoint_state.checkpoint_exists(prefix):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {prefix}")
        _log.info("Restoring parameters from %s", prefix)
        self._read_variables(sess, prefix)

    @by_mode
    def _read_variables(self, sess, prefix):
        restoring.restore(self, sess, prefix, self._keeps_state, self._demands_state)

    def _of_objects(self, graph, keys):
        """The Saver of the same variables under the `keys` of a checkpoint of tf.train.Checkpoint, made once."""
        if self._object_saver is None:
            with graph.as_default():
                variables = all_saveable_objects() if self._var_list is None else self._var_list
                objects = restoring.renamed(saveables(variables), keys)
                self._object_saver = Saver(objects, save_random_state=False)
        return self._object_saver


@by_mode
def check_session(sess):
    """Raises TypeError for what is no session."""
    if not isinstance(sess, BaseSession):
        raise TypeError(f"'sess' must be a Session; {sess}")


@by_mode
def step_of(sess, global_step):
    """The value of a tensor, or of the tensor of that name."""
    return int(sess.run(global_step))


def _to_proto(saver, export_scope=None):
    return saver.to_proto(export_scope)


collection_protos.register(GraphKeys.SAVERS, "SaverDef", _to_proto, Saver.from_proto)


# ---- In eager execution: no session, and no nodes --------------------------------------------------------------


@eager_version_of(Saver._begin)
def begin_without_nodes(saver, defer_build):
    if saver._var_list is None:
        raise RuntimeError(
            "When eager execution is enabled, `var_list` must specify a list or dict of variables to save"
        )
    if saver._demands_state:
        raise RuntimeError("There is no session whose random state could be saved when eager execution is enabled.")
    if saver._builder is None:
        saver._builder = BulkSaverBuilder(saver._write_version)
    saver.saver_def = protobuf.message("SaverDef")(
        filename_tensor_name=saver._filename or "",
        save_tensor_name=saver._filename or "model",
        max_to_keep=saver._max_to_keep or 0,
        keep_checkpoint_every_n_hours=saver._keep_checkpoint_every_n_hours,
        version=saver._write_version,
    )
    saver._next_checkpoint_time = time.time() + saver._keep_checkpoint_every_n_hours * 3600
    saver._is_built = True


@eager_version_of(check_session)
def ignore_session(sess):
    """Whatever it is, nothing is asked of it."""


@eager_version_of(step_of)
def eager_step_of(sess, global_step):
    return int(global_step.numpy())


@eager_version_of(Saver._write_variables)
def write_variables(saver, sess, checkpoint_file):
    at_once.write(saver._builder, saver._var_list, checkpoint_file)
    saver.saver_def.filename_tensor_name = saver.saver_def.save_tensor_name = checkpoint_file
    return checkpoint_file


@eager_version_of(Saver._write_meta_graph)
def write_no_meta_graph(saver, sess, filename, **options):
    """There is no graph."""


@eager_version_of(Saver._read_variables)
def read_variables(saver, sess, prefix):
    restoring.restore_at_once(saver, prefix)
