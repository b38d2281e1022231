"""tf.train.Supervisor: a session with threads that save and summarize while the program trains."""

from __future__ import annotations

import contextlib
import os

from stillflow.composites.summaries import merge_all
from stillflow.formats import protobuf
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph, require_graph
from stillflow.importer.graph_util import write_graph
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.saver.meta_graph import export_meta_graph
from stillflow.saver.saver import Saver
from stillflow.summary.writer import FileWriter
from stillflow.training.coordinator import Coordinator, LooperThread
from stillflow.training.global_step import global_step as value_of_step
from stillflow.training_loop.messages import log
from stillflow.training_loop.services import SVStepCounterThread, SVSummaryThread, SVTimerCheckpointThread
from stillflow.training_loop.session_manager import SessionManager
from stillflow.variables.listing import global_variables, global_variables_initializer, local_variables_initializer
from stillflow.variables.readiness import report_uninitialized_variables, tables_initializer

USE_DEFAULT = 0


@public("train.Supervisor")
class Supervisor:
    """Prepares a session, and saves and summarizes from threads of its own while the program trains.

        supervisor = tf.train.Supervisor(logdir="/tmp/train")
        with supervisor.managed_session() as session:
            while not supervisor.should_stop():
                session.run(train_op)

    For what is not given it takes what the graph's collections have, or adds it to the graph, and finalizes that.

    Args:
      graph: the graph; by default the default graph.
      ready_op: gives the names of the variables without a value, a string vector; None if nobody is to check.
      ready_for_local_init_op: the same for what `local_init_op` needs.
      is_chief: whether to initialize, restore and save; otherwise somebody else does.
      init_op: initializes the global variables.
      init_feed_dict: what to feed for that.
      local_init_op: initializes local variables and tables, for every session.
      logdir: the folder of checkpoints and summaries; None for neither.
      summary_op: gives a Summary message; None for no summaries.
      saver: a Saver; None for no checkpoints.
      global_step: the tensor or variable that counts steps.
      save_summaries_secs: how often to summarize, in seconds; 0 for never.
      save_model_secs: how often to save, in seconds; 0 for never.
      recovery_wait_secs: how long to sleep, in seconds, when something is waited for.
      stop_grace_secs: how long threads may take to stop, in seconds.
      checkpoint_basename: what the names of checkpoints begin with.
      session_manager: a SessionManager.
      summary_writer: a FileWriter; None for no event file.
      init_fn: a function of the session, called after `init_op`.
      local_init_run_options: a RunOptions message for `local_init_op`.

    Raises ValueError for a variable without a device, if this is not the chief.
    """

    # Stands for an argument that is not given, where None means something.
    USE_DEFAULT = USE_DEFAULT

    def __init__(
        self, graph=None, ready_op=USE_DEFAULT, ready_for_local_init_op=USE_DEFAULT, is_chief=True,
        init_op=USE_DEFAULT, init_feed_dict=None, local_init_op=USE_DEFAULT, logdir=None, summary_op=USE_DEFAULT,
        saver=USE_DEFAULT, global_step=USE_DEFAULT, save_summaries_secs=120, save_model_secs=600,
        recovery_wait_secs=30, stop_grace_secs=120, checkpoint_basename="model.ckpt", session_manager=None,
        summary_writer=USE_DEFAULT, init_fn=None, local_init_run_options=None,
    ):  # fmt: skip
        require_graph("Supervisors are compatible with eager execution.")  # TensorFlow's words
        graph = get_default_graph() if graph is None else graph
        self._graph = graph
        with graph.as_default():
            self._ready_op = found_or_made(ready_op, GraphKeys.READY_OP, report_uninitialized_variables)
            self._ready_for_local_init_op = found_or_made(
                ready_for_local_init_op, GraphKeys.READY_FOR_LOCAL_INIT_OP, lambda: None
            )
            self._init_op = found_or_made(init_op, GraphKeys.INIT_OP, global_variables_initializer)
            self._local_init_op = found_or_made(local_init_op, GraphKeys.LOCAL_INIT_OP, local_initializer)
            self._saver = found_or_made(saver, GraphKeys.SAVERS, lambda: Saver() if global_variables() else None)
            self._summary_op = found_or_made(summary_op, GraphKeys.SUMMARY_OP, merge_all)
            self._global_step = found_or_made(global_step, GraphKeys.GLOBAL_STEP, _tensor_called_global_step)
        self._meta_graph_def = export_meta_graph(
            graph_def=graph.as_graph_def(add_shapes=True),
            saver_def=self._saver.saver_def if self._saver else None,
            collection_list=[],
        )
        self._init_feed_dict = init_feed_dict
        self._init_fn = init_fn
        self._is_chief = is_chief
        self._coord = Coordinator()
        self._stop_grace_secs = stop_grace_secs
        self._logdir = logdir if is_chief else None
        self._save_summaries_secs = save_summaries_secs if is_chief else None
        self._save_model_secs = save_model_secs if is_chief else None
        self._save_path = None
        if self._logdir:
            self._save_path = os.path.join(logdir, checkpoint_basename)  # noqa: PTH118  it may be a URL
        self._summary_writer = self._writer(summary_writer) if is_chief else None
        self._graph_added_to_summary = False
        self._session_manager = session_manager
        if session_manager is None:
            self._session_manager = SessionManager(
                local_init_op=self._local_init_op,
                ready_op=self._ready_op,
                ready_for_local_init_op=self._ready_for_local_init_op,
                graph=graph,
                recovery_wait_secs=recovery_wait_secs,
                local_init_run_options=local_init_run_options,
            )
        if not is_chief:
            _check_devices(graph)
        graph.finalize()

    def _writer(self, summary_writer):
        if summary_writer is not USE_DEFAULT:
            return summary_writer
        return FileWriter(self._logdir) if self._logdir else None

    # ---- Its parts --------------------------------------------------------------------------------------------

    @property
    def is_chief(self):
        """Whether it initializes, restores and saves."""
        return self._is_chief

    @property
    def session_manager(self):
        return self._session_manager

    @property
    def coord(self):
        """The Coordinator of its threads."""
        return self._coord

    @property
    def init_op(self):
        return self._init_op

    @property
    def init_feed_dict(self):
        return self._init_feed_dict

    @property
    def ready_op(self):
        return self._ready_op

    @property
    def ready_for_local_init_op(self):
        return self._ready_for_local_init_op

    @property
    def summary_writer(self):
        return self._summary_writer

    @property
    def summary_op(self):
        return self._summary_op

    @property
    def save_summaries_secs(self):
        return self._save_summaries_secs

    @property
    def global_step(self):
        return self._global_step

    @property
    def saver(self):
        return self._saver

    @property
    def save_model_secs(self):
        return self._save_model_secs

    @property
    def save_path(self):
        """What the paths of checkpoints begin with; None without a folder."""
        return self._save_path

    # ---- Sessions ---------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def managed_session(self, master="", config=None, start_standard_services=True, close_summary_writer=True):
        """A context with a session that is ready; at its end the threads are stopped and the session is closed.

        An exception in it, or in a thread, is raised at its end; tf.errors.OutOfRangeError is the end of the input,
        and no error.

        Args:
          master: the session's target: "" for this process.
          config: a ConfigProto.
          start_standard_services: whether to start the threads that save and summarize, and the queue runners.
          close_summary_writer: whether to close the event file at the end.
        """
        session = None
        try:
            session = self.prepare_or_wait_for_session(
                master, config, start_standard_services=start_standard_services
            )
            yield session
        except Exception as error:
            self.request_stop(error)
        finally:
            try:
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                if session is not None:
                    session.close()

    def prepare_or_wait_for_session(
        self, master="", config=None, wait_for_checkpoint=False, max_wait_secs=7200, start_standard_services=True
    ):
        """A session that is ready: restored, initialized, or, if this is not the chief, waited for.

        Args:
          master: the session's target: "" for this process.
          config: a ConfigProto.
          wait_for_checkpoint: whether to wait for a checkpoint.
          max_wait_secs: for how long, in seconds.
          start_standard_services: whether to start the threads that save and summarize, and the queue runners.

        Raises what SessionManager's prepare_session and wait_for_session do.
        """
        self._coord.clear_stop()
        if self._summary_writer:
            self._summary_writer.reopen()
        if self._is_chief:
            session = self._session_manager.prepare_session(
                master,
                init_op=self._init_op,
                saver=self._saver,
                checkpoint_dir=self._logdir,
                wait_for_checkpoint=wait_for_checkpoint,
                max_wait_secs=max_wait_secs,
                config=config,
                init_feed_dict=self._init_feed_dict,
                init_fn=self._init_fn,
            )
            self._write_graph()
            if start_standard_services:
                log().info("Starting standard services.")
                self.start_standard_services(session)
        else:
            session = self._session_manager.wait_for_session(master, config=config, max_wait_secs=max_wait_secs)
        if start_standard_services:
            log().info("Starting queue runners.")
            self.start_queue_runners(session)
        return session

    def _write_graph(self):
        if self._logdir:
            write_graph(self._graph.as_graph_def(add_shapes=True), self._logdir, "graph.pbtxt")
        if self._summary_writer and not self._graph_added_to_summary:
            self._summary_writer.add_graph(self._graph)
            self._summary_writer.add_meta_graph(self._meta_graph_def)
            self._graph_added_to_summary = True

    # ---- Threads ----------------------------------------------------------------------------------------------

    def start_standard_services(self, sess):
        """Starts the threads that save, summarize and count the steps per second. Returns them as a list.

        Without a folder there are none, and it returns None. Raises RuntimeError if this is not the chief.
        """
        if not self._is_chief:
            raise RuntimeError(
                "Only chief supervisor can start standard services. Because only chief supervisors can write events."
            )
        if not self._logdir:
            log().warning("Standard services need a 'logdir' passed to the SessionManager")
            return None
        if self._global_step is not None and self._summary_writer:
            _add_session_log(self._summary_writer, "START", value_of_step(sess, self._global_step))
        threads: list[LooperThread] = []
        if self._save_summaries_secs and self._summary_writer:
            if self._summary_op is not None:
                threads.append(SVSummaryThread(self, sess))
            if self._global_step is not None:
                threads.append(SVStepCounterThread(self, sess))
        if self._saver and self._save_model_secs:
            threads.append(SVTimerCheckpointThread(self, sess))
        for thread in threads:
            thread.start()
        return threads

    def start_queue_runners(self, sess, queue_runners=None):
        """Starts the threads of the queue runners, by default all of the graph. Returns them as a list."""
        if queue_runners is None:
            queue_runners = self._graph.get_collection(GraphKeys.QUEUE_RUNNERS)
        return [
            thread
            for runner in queue_runners
            for thread in runner.create_threads(sess, coord=self._coord, daemon=True, start=True)
        ]

    def loop(self, timer_interval_secs, target, args=None, kwargs=None):
        """Starts a thread that calls a function every so many seconds, or without a pause for None. Returns it."""
        return LooperThread.loop(self._coord, timer_interval_secs, target=target, args=args, kwargs=kwargs)

    def stop(self, threads=None, close_summary_writer=True, ignore_live_threads=False):
        """Stops the threads; the session stays open.

        Args:
          threads: threads to wait for besides its own.
          close_summary_writer: whether to close the event file.
          ignore_live_threads: whether it is no error if some have not stopped in time.

        Raises what a thread, or `request_stop`, has reported, and RuntimeError if threads have not stopped.
        """
        self._coord.request_stop()
        try:
            self._coord.join(
                threads, stop_grace_period_secs=self._stop_grace_secs, ignore_live_threads=ignore_live_threads
            )
        finally:
            if close_summary_writer and self._summary_writer:
                _add_session_log(self._summary_writer, "STOP")
                self._summary_writer.close()
                self._graph_added_to_summary = False

    def request_stop(self, ex=None):
        """Asks the threads to stop; see Coordinator.request_stop."""
        self._coord.request_stop(ex=ex)

    def should_stop(self):
        """Whether somebody has asked to stop."""
        return self._coord.should_stop()

    def stop_on_exception(self):
        """A context in which an exception asks the threads to stop."""
        return self._coord.stop_on_exception()

    def wait_for_stop(self):
        """Waits until somebody asks to stop."""
        self._coord.wait_for_stop()

    def summary_computed(self, sess, summary, global_step=None):
        """Writes a Summary message, or the bytes of one, to the event file.

        Args:
          sess: the session.
          summary: the message.
          global_step: its step; by default that of the session.

        Raises RuntimeError if there is no event file.
        """
        if not self._summary_writer:
            raise RuntimeError("Writing a summary requires a summary writer.")
        if global_step is None and self._global_step is not None:
            global_step = value_of_step(sess, self._global_step)
        self._summary_writer.add_summary(summary, global_step)

    # Names of before 1.0.
    PrepareSession = prepare_or_wait_for_session
    StartQueueRunners = start_queue_runners
    StartStandardServices = start_standard_services
    Stop = stop
    RequestStop = request_stop
    Loop = loop
    ShouldStop = should_stop
    StopOnException = stop_on_exception
    WaitForStop = wait_for_stop
    SummaryComputed = summary_computed


def _add_session_log(writer, status, step=None):
    message = protobuf.message("SessionLog")
    writer.add_session_log(message(status=getattr(message, status)), step)


def found_or_made(given, collection_key, make):
    """What was given; else the first thing of a collection of the default graph; else what is made for it."""
    if given is not USE_DEFAULT:
        return given
    graph = get_default_graph()
    found = graph.get_collection(collection_key)
    if len(found) > 1:
        log().info("Found %d %s operations. Returning the first one.", len(found), collection_key)
    if found:
        return found[0]
    made = make()
    if made is not None:
        graph.add_to_collection(collection_key, made)
    return made


def local_initializer():
    """An operation that initializes local variables and tables."""
    return group(local_variables_initializer(), tables_initializer())


def _tensor_called_global_step():
    try:
        found = get_default_graph().get_tensor_by_name("global_step:0")
    except KeyError:
        return None
    if found.dtype.base_dtype in (dtypes.int32, dtypes.int64):
        return found
    log().warning("Found 'global_step' is not an int type: %s", found.dtype)
    return None


def _check_devices(graph):
    for op in graph.get_operations():
        if op._op_def.special == "variable" and not op.device:
            raise ValueError(f"When using replicas, all Variables must have their device set: {op}")
