"""Hooks that watch the runs of a MonitoredSession or an Estimator."""

from __future__ import annotations

from typing import Any

from stillflow.debug import watching
from stillflow.debug.wrappers.dumping import DumpingDebugWrapperSession
from stillflow.debug.wrappers.local_cli import LocalCLIDebugWrapperSession
from stillflow.debug.wrappers.requests import OnRunEndRequest, OnRunStartAction, OnRunStartRequest
from stillflow.formats import protobuf
from stillflow.names import public
from stillflow.training_loop.hooks.hook import SessionRunArgs, SessionRunHook


@public("python.debug.DumpingDebugHook", "python.debug.wrappers.hooks.DumpingDebugHook")
class DumpingDebugHook(SessionRunHook):
    """Writes the watched tensors of every run. For the arguments see DumpingDebugWrapperSession."""

    def __init__(self, session_root, watch_fn=None, thread_name_filter=None, log_usage=True):
        self._arguments = session_root, watch_fn, thread_name_filter
        self._session_wrapper: Any = None

    def before_run(self, run_context):
        """Has the run watch tensors."""
        is_first = self._session_wrapper is None
        if is_first:
            self._session_wrapper = DumpingDebugWrapperSession(run_context.session, *self._arguments)
        self._session_wrapper.increment_run_call_count()
        arguments = run_context.original_args
        debug_urls, watch = self._session_wrapper._prepare_run_watch_config(arguments.fetches, arguments.feed_dict)
        options = protobuf.message("RunOptions")()
        watching.watch_graph(
            options, run_context.session.graph, debug_urls=debug_urls, reset_disk_byte_usage=is_first, **vars(watch)
        )
        return SessionRunArgs(None, feed_dict=None, options=options)


@public("python.debug.LocalCLIDebugHook", "python.debug.wrappers.hooks.LocalCLIDebugHook")
class LocalCLIDebugHook(SessionRunHook):
    """Shows the command line of the debugger before and after runs. See LocalCLIDebugWrapperSession."""

    def __init__(self, ui_type="curses", dump_root=None, thread_name_filter=None, config_file_path=None):
        self._arguments = {
            "ui_type": ui_type, "dump_root": dump_root, "thread_name_filter": thread_name_filter,
            "config_file_path": config_file_path,
        }  # fmt: skip
        self._filters: dict = {}
        self._session_wrapper: Any = None
        self._action = None

    def add_tensor_filter(self, filter_name, tensor_filter):
        """See LocalCLIDebugWrapperSession.add_tensor_filter."""
        self._filters[filter_name] = tensor_filter
        if self._session_wrapper is not None:
            self._session_wrapper.add_tensor_filter(filter_name, tensor_filter)

    def before_run(self, run_context):
        """Asks how the run is to be done."""
        if self._session_wrapper is None:
            self._session_wrapper = LocalCLIDebugWrapperSession(run_context.session, **self._arguments)
            for name, tensor_filter in self._filters.items():
                self._session_wrapper.add_tensor_filter(name, tensor_filter)
        wrapper, arguments = self._session_wrapper, run_context.original_args
        wrapper.increment_run_call_count()
        response = wrapper.on_run_start(
            OnRunStartRequest(arguments.fetches, arguments.feed_dict, None, None, wrapper.run_call_count)
        )
        self._action = response.action
        options = protobuf.message("RunOptions")()
        if response.action == OnRunStartAction.DEBUG_RUN:
            wrapper._decorate_run_options_for_debug(options, **response.watch_arguments())
        elif response.action == OnRunStartAction.PROFILE_RUN:
            wrapper._decorate_run_options_for_profile(options)
        return SessionRunArgs(None, feed_dict=None, options=options)

    def after_run(self, run_context, run_values):
        """Shows what the run has written."""
        self._session_wrapper.on_run_end(OnRunEndRequest(self._action, run_values.run_metadata))
