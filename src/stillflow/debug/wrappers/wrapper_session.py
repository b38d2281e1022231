"""BaseDebugWrapperSession: a session around another, which asks how each run is to be done and tells of its end."""

from __future__ import annotations

import abc
import collections.abc
import re
import threading
from typing import Any

from stillflow import errors
from stillflow.debug import watching
from stillflow.debug.wrappers.requests import (
    OnRunEndRequest,
    OnRunEndResponse,
    OnRunStartAction,
    OnRunStartRequest,
    OnRunStartResponse,
    OnSessionInitAction,
    OnSessionInitRequest,
    OnSessionInitResponse,
    WatchOptions,
    check_session,
    check_type,
)
from stillflow.formats import protobuf
from stillflow.graph import nest, scopes
from stillflow.names import public_module
from stillflow.platform import logging
from stillflow.session.session import SessionInterface
from stillflow.training_loop.session_layers import StepContext

public_module("python.debug.wrappers.framework")


class _Call:
    """A run that somebody has asked the wrapper for: fetches, or a callable with its arguments."""

    def __init__(self, session, fetches, feed_dict, callable_runner, callable_runner_args, callable_options):
        self._session = session
        self._fetches = fetches
        self._feed_dict = feed_dict
        self._runner = callable_runner
        self._arguments = callable_runner_args or ()
        self._callable_options = callable_options

    def make(self, options, run_metadata):
        """Runs. `options` are RunOptions, or None for those that the callable was made with."""
        if self._runner is not None:
            keywords = {} if options is None else {"options": options, "run_metadata": run_metadata}
            return self._runner(*self._arguments, **keywords)
        if self._callable_options is not None:
            callable_options = self._callable_options
            if options is not None:
                callable_options = type(callable_options)()
                callable_options.CopyFrom(self._callable_options)
                callable_options.run_options.CopyFrom(options)
            runner = self._session._make_callable_from_options(callable_options)
            return runner(*self._arguments, run_metadata=run_metadata)
        return self._session.run(self._fetches, feed_dict=self._feed_dict, options=options, run_metadata=run_metadata)

    def changeable_options(self, options):
        """RunOptions that a debugger may add to."""
        if self._callable_options is None:
            return options or protobuf.message("RunOptions")()
        changeable = protobuf.message("RunOptions")()
        changeable.CopyFrom(self._callable_options.run_options)
        return changeable


class BaseDebugWrapperSession(SessionInterface, metaclass=abc.ABCMeta):
    """A session around another. Its descendants say how runs are done, and see what came of them.

    Args:
      sess: a tf.Session or tf.train.MonitoredSession.
      thread_name_filter: a regular expression; runs of threads whose names do not begin with a match are not watched.
      pass_through_operrors: whether errors of runs are raised; otherwise they are told to `on_run_end` and returned.

    Raises:
      TypeError: for what is no session.
      ValueError: if `on_session_init` answers with an action that there is not.
    """

    def __init__(self, sess, thread_name_filter=None, pass_through_operrors=False):
        check_session(sess)
        self._sess = sess
        self._thread_names = re.compile(thread_name_filter) if thread_name_filter else None
        self._pass_through_operrors = pass_through_operrors
        self._run_call_count = 0
        self._context: Any = None
        response = self.on_session_init(OnSessionInitRequest(sess))
        check_type(response, OnSessionInitResponse)
        if response.action == OnSessionInitAction.REMOTE_INSTR_LOOP:
            raise NotImplementedError("OnSessionInitAction REMOTE_INSTR_LOOP has not been implemented.")
        if response.action != OnSessionInitAction.PROCEED:
            raise ValueError(f"Invalid OnSessionInitAction value: {response.action}")

    @abc.abstractmethod
    def on_session_init(self, request):
        """Called once, with an OnSessionInitRequest. Returns an OnSessionInitResponse."""

    @abc.abstractmethod
    def on_run_start(self, request):
        """Called before each run, with an OnRunStartRequest. Returns an OnRunStartResponse."""

    @abc.abstractmethod
    def on_run_end(self, request):
        """Called after each run, with an OnRunEndRequest. Returns an OnRunEndResponse."""

    @property
    def session(self):
        """The session inside."""
        return self._sess

    @property
    def graph(self):
        """The graph of the session."""
        return self._sess.graph

    @property
    def graph_def(self):
        """The GraphDef of the session's graph."""
        return self._sess.graph_def

    @property
    def sess_str(self):
        """The address of the session's server."""
        return self._sess.sess_str

    @property
    def run_call_count(self):
        """How many runs have been asked for."""
        return self._run_call_count

    def increment_run_call_count(self):
        """Counts a run."""
        self._run_call_count += 1

    def run(
        self, fetches, feed_dict=None, options=None, run_metadata=None, callable_runner=None,
        callable_runner_args=None, callable_options=None,
    ):  # fmt: skip
        """Runs as `tf.Session.run` does, in the way that `on_run_start` says.

        Args:
          fetches, feed_dict, options, run_metadata: as there.
          callable_runner, callable_runner_args: a function of `make_callable`, and its arguments.
          callable_options: a CallableOptions message, in the place of the function.

        Raises:
          ValueError: for fetches or feeds together with a callable, and for an answer with an unknown action.
          TypeError: for answers of other types.
        """
        if callable_runner and callable_options:
            raise ValueError(
                "callable_runner and callable_options are mutually exclusive, but are both specified in this call to "
                "BaseDebugWrapperSession.run()."
            )
        for name, given in (("callable_runner", callable_runner), ("callable_options", callable_options)):
            if given and (fetches or feed_dict):
                raise ValueError(f"{name} and fetches/feed_dict are mutually exclusive, but are used simultaneously.")
        self.increment_run_call_count()
        call = _Call(self._sess, fetches, feed_dict, callable_runner, callable_runner_args, callable_options)
        is_empty = _is_empty(fetches)
        if is_empty:
            logging.info(
                "Due to empty fetches, tfdbg Session wrapper is letting a Session.run pass through without any "
                "debugging actions."
            )
        if is_empty or not self._is_watched_thread():
            return call.make(options, run_metadata)
        response = self.on_run_start(
            OnRunStartRequest(
                fetches, feed_dict, options, run_metadata, self._run_call_count,
                is_callable_runner=bool(callable_runner),
            )
        )  # fmt: skip
        check_type(response, OnRunStartResponse)
        results, end = self._run_as_told(response, call, options, run_metadata)
        check_type(self.on_run_end(end), OnRunEndResponse)
        return results

    def _run_as_told(self, response, call, options, run_metadata):
        if response.action == OnRunStartAction.DEBUG_RUN:
            return self._run_with_debugging(response, call, options, run_metadata)
        if response.action == OnRunStartAction.PROFILE_RUN:
            options = call.changeable_options(options)
            self._decorate_run_options_for_profile(options)
            run_metadata = run_metadata or protobuf.message("RunMetadata")()
            results = call.make(options, run_metadata)
            return results, OnRunEndRequest(response.action, run_metadata, self._sess.graph.as_graph_def())
        if response.action == OnRunStartAction.NON_DEBUG_RUN:
            return call.make(options, run_metadata), OnRunEndRequest(response.action)
        raise ValueError(f"Invalid OnRunStartAction value: {response.action}")

    def _run_with_debugging(self, response, call, options, run_metadata):
        options = call.changeable_options(options)
        run_metadata = run_metadata or protobuf.message("RunMetadata")()
        self._decorate_run_options_for_debug(options, **response.watch_arguments())
        error = None
        try:
            results = call.make(options, run_metadata)
        except errors.OpError as op_error:
            if self._pass_through_operrors:
                raise
            results = error = op_error
        return results, OnRunEndRequest(response.action, run_metadata, self._sess.graph.as_graph_def(), error)

    def _decorate_run_options_for_debug(self, run_options, debug_urls, **watch_arguments):
        """Has a run watch tensors, and return its graphs."""
        run_options.output_partition_graphs = True
        watching.watch_graph(
            run_options, self._sess.graph, debug_urls=debug_urls,
            reset_disk_byte_usage=self._run_call_count == 1 or self._is_disk_usage_reset_each_run(),
            **watch_arguments,
        )  # fmt: skip

    @staticmethod
    def _decorate_run_options_for_profile(run_options):
        """Has a run be timed."""
        run_options.trace_level = type(run_options).FULL_TRACE

    def _is_disk_usage_reset_each_run(self):
        """Whether what a run has written is gone when the next begins."""
        return False

    def _is_watched_thread(self):
        return self._thread_names is None or self._thread_names.match(threading.current_thread().name or "")

    def run_step_fn(self, step_fn):
        """Calls a function with a StepContext whose `run_with_hooks` is this session's `run`."""
        return step_fn(StepContext(self._sess, self.run))

    def partial_run_setup(self, fetches, feeds=None):
        """Raises NotImplementedError: a wrapper session sees whole runs only."""
        raise NotImplementedError("partial_run_setup is not implemented for debug-wrapper sessions.")

    def partial_run(self, handle, fetches, feed_dict=None):
        """Raises NotImplementedError: a wrapper session sees whole runs only."""
        raise NotImplementedError("partial_run is not implemented for debug-wrapper sessions.")

    def list_devices(self, *args, **kwargs):
        """The devices of the session."""
        return self._sess.list_devices(*args, **kwargs)

    def reset(self, *args, **kwargs):
        """`reset` of the session."""
        return self._sess.reset(*args, **kwargs)

    def make_callable(self, fetches, feed_list=None, accept_options=False):
        """A function as that of tf.Session; its runs are seen like others."""
        runner = self._sess.make_callable(fetches, feed_list=feed_list, accept_options=True)

        def run(*values, options=None, run_metadata=None):
            return self.run(
                None, options=options, run_metadata=run_metadata, callable_runner=runner, callable_runner_args=values
            )

        return run

    def _make_callable_from_options(self, callable_options):
        def run(*values, run_metadata=None):
            return self.run(
                None, run_metadata=run_metadata, callable_options=callable_options, callable_runner_args=values
            )

        return run

    def as_default(self):
        """A context in which this is the session of `eval` and `run`."""
        return scopes.sessions.with_default(self)

    def __enter__(self):
        if self._context is None:
            self._context = self.as_default()
        return self._context.__enter__()

    def __exit__(self, *exception):
        self._context.__exit__(*exception)
        self._context = None

    def close(self):
        """Closes the session."""
        self._sess.close()

    def should_stop(self):
        """Whether the MonitoredSession is to stop. Raises ValueError if the session is none."""
        if not hasattr(self._sess, "should_stop"):
            raise ValueError(
                f"The wrapped session {self._sess!r} does not have a method called 'should_stop'. Do you intend to "
                "wrap a tf.MonitoredSession instead?"
            )
        return self._sess.should_stop()


def _is_empty(fetches):
    """Whether a structure has no elements."""
    if isinstance(fetches, collections.abc.Mapping):
        fetches = list(fetches.values())
    return nest.is_nested(fetches) and all(_is_empty(item) for item in fetches)


class NonInteractiveDebugWrapperSession(BaseDebugWrapperSession):
    """A wrapper session that watches every run, and asks nobody.

    Args:
      sess, thread_name_filter, pass_through_operrors: as for BaseDebugWrapperSession.
      watch_fn: a function of (fetches, feed_dict) that returns WatchOptions; without it all tensors are watched.

    Raises TypeError if `watch_fn` is no function, and as BaseDebugWrapperSession does.
    """

    def __init__(self, sess, watch_fn=None, thread_name_filter=None, pass_through_operrors=False):
        super().__init__(sess, thread_name_filter, pass_through_operrors)
        if watch_fn is not None and not callable(watch_fn):
            raise TypeError("watch_fn is not callable")
        self._watch_fn = watch_fn

    @abc.abstractmethod
    def prepare_run_debug_urls(self, fetches, feed_dict):
        """The debug URLs of a run, one or a list."""

    def on_session_init(self, request):
        """Goes on."""
        return OnSessionInitResponse(OnSessionInitAction.PROCEED)

    def on_run_start(self, request):
        """Watches."""
        debug_urls, options = self._prepare_run_watch_config(request.fetches, request.feed_dict)
        return OnRunStartResponse(OnRunStartAction.DEBUG_RUN, debug_urls, **vars(options))

    def _prepare_run_watch_config(self, fetches, feed_dict):
        debug_urls = self.prepare_run_debug_urls(fetches, feed_dict)
        options = WatchOptions() if self._watch_fn is None else self._watch_fn(fetches, feed_dict)
        return debug_urls, WatchOptions(*options) if isinstance(options, tuple) else options

    def on_run_end(self, request):
        """Does nothing."""
        return OnRunEndResponse()
