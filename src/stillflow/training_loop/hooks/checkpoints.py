"""tf.train.CheckpointSaverHook: checkpoints every so many steps or seconds."""

from __future__ import annotations

import os

from stillflow.formats import protobuf
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.importer.graph_util import write_graph
from stillflow.names import public
from stillflow.saver.meta_graph import export_meta_graph
from stillflow.summary.writer import FileWriterCache
from stillflow.training_loop.hooks.hook import SessionRunArgs, SessionRunHook
from stillflow.training_loop.hooks.step_reading import step_tensor
from stillflow.training_loop.hooks.step_timer import SecondOrStepTimer
from stillflow.training_loop.messages import log


@public("train.CheckpointSaverListener", "estimator.CheckpointSaverListener")
class CheckpointSaverListener:
    """Something that a CheckpointSaverHook calls around each checkpoint. Subclasses override what they need."""

    def begin(self):
        """Called once, before the session is made; nodes may be added to the graph."""

    def before_save(self, session, global_step_value):
        """Called before a checkpoint is written."""

    def after_save(self, session, global_step_value):
        """Called after it. Training stops if this returns something true."""

    def end(self, session, global_step_value):
        """Called at the end of the session, after the last checkpoint."""


@public("train.CheckpointSaverHook", "estimator.CheckpointSaverHook")
class CheckpointSaverHook(SessionRunHook):
    """Writes a checkpoint when the session begins, every so many steps or seconds, and at the end.

    It also writes the graph to graph.pbtxt and to the event file, which is told of every checkpoint.

    Args:
      checkpoint_dir: the folder.
      save_secs: how often, in seconds.
      save_steps: how often, in steps; one of the two.
      saver: a Saver; by default that of the scaffold, else that of the collection SAVERS.
      checkpoint_basename: what the files' names begin with.
      scaffold: a Scaffold instead of the Saver.
      listeners: CheckpointSaverListeners.

    Raises ValueError unless one of `save_secs` and `save_steps` is given, and for both a Saver and a scaffold.
    """

    def __init__(
        self, checkpoint_dir, save_secs=None, save_steps=None, saver=None, checkpoint_basename="model.ckpt",
        scaffold=None, listeners=None,
    ):  # fmt: skip
        log().info("Create CheckpointSaverHook.")
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._saver = saver
        self._checkpoint_dir = checkpoint_dir
        self._save_path = os.path.join(checkpoint_dir, checkpoint_basename)  # noqa: PTH118  it may be a URL
        self._scaffold = scaffold
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        self._listeners = listeners or []
        self._steps_per_run = 1

    def _set_steps_per_run(self, steps_per_run):
        self._steps_per_run = steps_per_run

    def begin(self):
        self._summary_writer = FileWriterCache.get(self._checkpoint_dir)
        self._global_step_tensor = step_tensor("CheckpointSaverHook")
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session, coord):
        global_step = session.run(self._global_step_tensor)
        # Not before: other hooks may add nodes when they begin.
        graph = get_default_graph()
        graph_def = graph.as_graph_def(add_shapes=True)
        write_graph(graph_def, self._checkpoint_dir, "graph.pbtxt")
        saver = self._get_saver()
        self._summary_writer.add_graph(graph)
        self._summary_writer.add_meta_graph(
            export_meta_graph(
                graph_def=graph_def,
                saver_def=saver.saver_def if saver else None,
                collection_list=[],
            )
        )
        self._save(session, global_step)
        self._timer.update_last_triggered_step(global_step)

    def before_run(self, run_context):
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context, run_values):
        # What was read is the step before this one.
        if not self._timer.should_trigger_for_step(run_values.results + self._steps_per_run):
            return
        global_step = run_context.session.run(self._global_step_tensor)
        if self._timer.should_trigger_for_step(global_step):
            self._timer.update_last_triggered_step(global_step)
            if self._save(run_context.session, global_step):
                run_context.request_stop()

    def end(self, session):
        last_step = session.run(self._global_step_tensor)
        if last_step != self._timer.last_triggered_step():
            self._save(session, last_step)
        for listener in self._listeners:
            listener.end(session, last_step)

    def _save(self, session, step):
        """Writes a checkpoint. Whether a listener wants to stop."""
        log().info("Saving checkpoints for %d into %s.", step, self._save_path)
        for listener in self._listeners:
            listener.before_save(session, step)
        self._get_saver().save(session, self._save_path, global_step=step)
        session_log = protobuf.message("SessionLog")
        self._summary_writer.add_session_log(
            session_log(status=session_log.CHECKPOINT, checkpoint_path=self._save_path), step
        )
        should_stop = False
        for listener in self._listeners:
            if listener.after_save(session, step):
                log().info("A CheckpointSaverListener requested that training be stopped. listener: %s", listener)
                should_stop = True
        return should_stop

    def _get_saver(self):
        if self._saver is not None:
            return self._saver
        if self._scaffold is not None:
            return self._scaffold.saver
        savers = get_default_graph().get_collection(GraphKeys.SAVERS)
        if not savers:
            raise RuntimeError(
                f"No items in collection {GraphKeys.SAVERS}. Please add a saver to the collection or provide a saver "
                "or scaffold."
            )
        if len(savers) > 1:
            raise RuntimeError(
                f"More than one item in collection {GraphKeys.SAVERS}. Please indicate which one to use by passing "
                "it to the constructor."
            )
        self._saver = savers[0]
        return self._saver
