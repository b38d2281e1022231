"""tf.Session: runs graphs and keeps the values of their variables."""

from __future__ import annotations

import dataclasses
import threading
import warnings
import weakref

import numpy as np

from stillflow import _engine, errors
from stillflow.graph import scopes
from stillflow.graph.default_graph import default_graph_context, get_default_graph
from stillflow.graph.graph import Graph
from stillflow.graph.operation import Operation, Tensor
from stillflow.host import py_functions as _py_functions  # noqa: F401  the engine calls them
from stillflow.names import public
from stillflow.plan.placement import Devices
from stillflow.platform.compat import as_bytes
from stillflow.session import feeds, isa, servers, step_trace
from stillflow.session.fetches import Fetches, structure_key
from stillflow.session.partial_run import PartialRuns
from stillflow.session.partition_graphs import partition_graphs
from stillflow.session.placement_log import PlacementLog
from stillflow.session.plans_by_shape import PlansByShape
from stillflow.session.process_settings import CPU_ATTRIBUTES, cpu_count, settings
from stillflow.session.watched_runs import WatchedRuns


@public("python.client.session.SessionInterface")
class SessionInterface:
    """What a session is and what wraps one has: `graph`, `sess_str`, `run`, `partial_run_setup`, `partial_run`."""


_WITHOUT_SERVER = ("", "local")
_without_server: weakref.WeakSet = weakref.WeakSet()  # the sessions that Session.reset closes


@public("python.client.session.BaseSession")
class BaseSession(SessionInterface):
    """What Session and InteractiveSession have in common."""

    def __init__(self, target="", graph=None, config=None):
        if graph is None:
            graph = get_default_graph()
        elif not isinstance(graph, Graph):
            raise TypeError(f"graph must be a tf.Graph, but got {type(graph)}")
        if isinstance(target, bytes):
            target = target.decode()
        if not isinstance(target, str):
            raise TypeError(f"target must be a string, but got {type(target)}")
        if config is not None and type(config).__name__ != "ConfigProto":
            raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
        server = None
        if servers.is_server(target):
            server = servers.Connection(target, config)
            config = server.config
        elif target not in _WITHOUT_SERVER:
            raise errors.NotFoundError(
                None,
                None,
                f'No session factory registered for the given session options: {{target: "{target}"}}',
            )
        self._graph = graph
        self._target = target
        self._config = config
        self._closed = False
        if server is not None:
            self._devices = server.devices
        elif config is None:
            self._devices = Devices(settings.cpu_count, settings.allows_soft_placement)
        else:
            self._devices = Devices(max(1, config.device_count.get("CPU", 1)), config.allow_soft_placement)
        threads = settings.intra_op_threads if config is None else config.intra_op_parallelism_threads
        self._timeout_nanos = (config.operation_timeout_in_ms if config is not None else 0) * 1_000_000
        self._core = _engine.Session(
            threads if threads > 0 else cpu_count(), None if server is None else server.container, server
        )
        if server is None:
            _without_server.add(self)
        self._kernels = isa.kernels()
        self._requests: dict = {}
        self._requests_edits = graph._edits
        self._lock = threading.Lock()
        self._partial_runs = PartialRuns(self)
        self._dead_handles: list[str] = []  # whose tensors are to be deleted
        self._placement_log = None
        if settings.logs_device_placement if config is None else config.log_device_placement:
            self._placement_log = PlacementLog(graph, self._devices)

    @property
    def graph(self):
        """The graph that this session runs."""
        return self._graph

    @property
    def graph_def(self):
        """The GraphDef message of the graph."""
        return self._graph.as_graph_def(
            add_shapes=self._config is not None and self._config.graph_options.infer_shapes
        )

    @property
    def sess_str(self):
        """The address of the server, as bytes."""
        return as_bytes(self._target)

    def list_devices(self):
        """The devices of the session, with `name`, `device_type`, `memory_limit_bytes` and `incarnation`: CPUs."""
        return [dataclasses.replace(CPU_ATTRIBUTES, name=name) for name in self._devices.names()]

    def close(self):
        """Cancels what is running and frees the variables. Further runs raise RuntimeError."""
        self._closed = True
        self._core.close()
        self._requests.clear()

    def as_default(self):
        """A context in which this is the session of `eval` and `run`; it does not close the session."""
        return scopes.sessions.with_default(self)

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """Runs the graph once.

        Args:
          fetches: a tensor, operation or name of one, or nested lists, tuples and dicts of them.
          feed_dict: values for tensors: arrays, numbers, or whatever numpy can convert.
          options: a RunOptions message; with trace_level FULL_TRACE or SOFTWARE_TRACE the run is timed.
          run_metadata: a RunMetadata message that gets the times of the steps.

        Returns:
          What `fetches` is, with numpy values in the place of tensors and None in that of operations.

        Raises:
          RuntimeError: if the session is closed or its graph empty.
          AttributeError: if `options` or `run_metadata` is no message.
          TypeError, ValueError: for fetches and feeds that are no elements of the graph or do not fit.
          tf.errors.OpError: if an operation fails.
        """
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        keys = tuple(feed_dict) if feed_dict else ()
        try:
            kind = type(fetches)  # what is mostly fetched is its own key: not worth a call
            key = fetches if kind is Operation or kind is Tensor else structure_key(fetches)
            request = self._requests[key, keys]
            if self._requests_edits != self._graph._edits:
                raise KeyError
        except (KeyError, TypeError):
            return self._run_new(fetches, feed_dict, options, run_metadata)
        values = [*feed_dict.values()] if keys else ()
        if request.has_composite_feeds:
            values = request.expand(feed_dict)
        if options is None and run_metadata is None:
            return request.put_together(request.run(values, self._timeout_nanos))
        return request.run_with_options(values, options, run_metadata)

    def _run_new(self, fetches, feed_dict, options, run_metadata):
        """Runs what has not been asked for before."""
        if self._graph.version == 0:
            raise RuntimeError("The Session graph is empty.  Add operations to the graph before calling run().")
        if feed_dict is not None and not hasattr(feed_dict, "items"):
            raise TypeError(f"feed_dict must be a dictionary, but got {type(feed_dict)}")
        request = _Request(self, fetches, feed_dict or {})
        if self._placement_log is not None:
            self._placement_log.tell_of_new_nodes()
        try:
            key = structure_key(fetches), tuple(feed_dict or ())
        except TypeError:
            key = None  # made of something that cannot be remembered
        with self._lock:
            if self._requests_edits != self._graph._edits:
                self._requests = {}
                self._requests_edits = self._graph._edits
            if key is not None:
                request = self._requests.setdefault(key, request)
        return request.run_with_options(request.expand(feed_dict or {}), options, run_metadata)

    def make_callable(self, fetches, feed_list=None, accept_options=False):
        """A function that runs `fetches`, quicker than `run` because it looks nothing up.

        Args:
          fetches: as for `run`.
          feed_list: tensors or names; the function takes their values as positional arguments. Without it the
            function takes none.
          accept_options: whether a function without feeds takes `options` and `run_metadata` by name; one with
            feeds always does.

        Raises:
          TypeError: if `feed_list` is no list, and for `fetches` as in `run`.
        """
        if feed_list is not None:
            if not isinstance(feed_list, (list, tuple)):
                raise TypeError("`feed_list` must be a list or tuple.")

            def run_with_feeds(*values, options=None, run_metadata=None):
                return self.run(fetches, dict(zip(feed_list, values, strict=False)), options, run_metadata)

            return run_with_feeds
        if self._graph.version == 0:
            raise RuntimeError("The Session graph is empty.  Add operations to the graph before calling run().")
        graph = self._graph
        request, edits = _Request(self, fetches, {}), graph._edits

        def renew():
            nonlocal request, edits
            request, edits = _Request(self, fetches, {}), graph._edits

        def run_with_options(options=None, run_metadata=None):
            if edits != graph._edits:
                renew()
            return request.run_with_options((), options, run_metadata)

        def run_plainly():
            if edits != graph._edits:
                renew()
            return request.put_together(request.run((), self._timeout_nanos))

        return run_with_options if accept_options else run_plainly

    def _make_callable_from_options(self, callable_options):
        """`make_callable` for a CallableOptions message: a function of the fed values that returns a list."""
        feed_list, fetches = (
            [name if ":" in name else f"{name}:0" for name in names]
            for names in (callable_options.feed, callable_options.fetch)
        )
        wanted = [fetches, list(callable_options.target)]

        def run(*values, run_metadata=None):
            options = callable_options.run_options
            return self.run(wanted, dict(zip(feed_list, values, strict=False)), options, run_metadata)[0]

        return run

    def partial_run_setup(self, fetches, feeds=None):
        """Prepares a run that goes on in several calls of `partial_run`.

        Args:
          fetches: all that will be fetched, as for `run`.
          feeds: the tensors, or names of them, that will be fed.

        Returns:
          A handle, a string, for `partial_run`.

        Raises:
          RuntimeError: if the session is closed or its graph empty.
          TypeError, ValueError: as in `run`.
        """
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        if self._graph.version == 0:
            raise RuntimeError("The Session graph is empty.  Add operations to the graph before calling run().")
        return self._partial_runs.set_up(fetches, feeds)

    def partial_run(self, handle, fetches, feed_dict=None):
        """Goes on with a run: feeds, and fetches what can be computed now. No operation runs twice in it.

        Raises:
          tf.errors.InvalidArgumentError: for a handle that is unknown or has been used up, for what was not given
            to `partial_run_setup`, was fed or fetched before, or cannot be computed from what has been fed.
        """
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        return self._partial_runs.go_on(handle, fetches, feed_dict or {})


class _Request(PlansByShape):
    """One (fetches, feeds) pair of a session, with the plans that have been made for it.

    put_together(results of a run) is what the caller gets.
    """

    def __init__(self, session, fetches, feed_dict):
        self._session = session
        taken_apart = Fetches(session, fetches)
        self.put_together = taken_apart.put_together
        pairs = feeds.expand(session._graph, feed_dict)
        self.has_composite_feeds = len(pairs) != len(feed_dict)
        self._arguments = (
            session._graph, taken_apart.tensors, taken_apart.targets, [tensor for tensor, _ in pairs],
            session._core, session._kernels, session._devices,
        )  # fmt: skip
        super().__init__(*self._arguments)
        self._watched_runs = None
        positions = {tensor: i for i, (tensor, _) in enumerate(pairs)}
        self._fed_fetches = [(i, tensor) for i, tensor in enumerate(taken_apart.tensors) if tensor in positions]
        if self._fed_fetches:
            self.run = self._run_and_hand_back

    def _run_and_hand_back(self, values, timeout_nanos):
        return self._with_fed(super().run(values, timeout_nanos), values)

    def run_traced(self, values, timeout_nanos, trace):
        plan, results = super().run_traced(values, timeout_nanos, trace)
        return plan, self._with_fed(results, values)

    def _with_fed(self, results, values):
        """`results` with what was fed in the place of what is fetched and fed: an array, also of a scalar."""
        values = dict(zip(self._fed, values, strict=True))
        for i, tensor in self._fed_fetches:
            results[i] = np.array(values[tensor], dtype=tensor.dtype.as_numpy_dtype)
        return results

    def expand(self, feed_dict):
        return [value for _, value in feeds.expand(self._session._graph, feed_dict)]

    def run_with_options(self, values, options, run_metadata):
        """What the caller gets, for a RunOptions and a RunMetadata message, or None in the place of either."""
        if options is not None and not hasattr(options, "SerializeToString"):
            raise AttributeError(f"{type(options).__name__!r} object has no attribute 'SerializeToString'")
        if run_metadata is not None and not hasattr(run_metadata, "ParseFromString"):
            raise AttributeError(f"{type(run_metadata).__name__!r} object has no attribute 'ParseFromString'")
        if run_metadata is not None:
            run_metadata.Clear()
        watches = options is not None and options.debug_options.debug_tensor_watch_opts
        if not watches and (
            options is None or not (options.timeout_in_ms or options.trace_level or options.output_partition_graphs)
        ):
            return self.put_together(self.run(values, self._session._timeout_nanos))
        timeout = options.timeout_in_ms * 1_000_000 or self._session._timeout_nanos
        trace: list | None = [] if options.trace_level and run_metadata is not None else None
        if watches:
            plan, results, graphs = self._run_watched(values, options, timeout, trace)
        else:
            plan, results = self.run_traced(values, timeout, trace)
            graphs = None
        if run_metadata is not None:
            if options.output_partition_graphs:
                graphs = graphs or partition_graphs(plan.operations, self._fed, self._tensors, self._devices)
                run_metadata.partition_graphs.extend(graph for _, graph in graphs)
            step_trace.describe_run(plan, trace, run_metadata, self._devices)
        return self.put_together(results)

    def _run_watched(self, values, options, timeout_nanos, trace):
        if self._watched_runs is None:
            self._watched_runs = WatchedRuns(
                self._tensors, self._targets, self._fed, self._devices,
                lambda watch: PlansByShape(*self._arguments, watch),
            )  # fmt: skip
        plan, results, graphs = self._watched_runs.run(values, options, timeout_nanos, trace)
        return plan, self._with_fed(results, values), graphs


@public("Session")
class Session(BaseSession):
    """Runs a graph. A context manager: inside it is the default session, at its end it is closed.

    Args:
      target: "" for this process.
      graph: the graph to run; by default the default graph.
      config: a ConfigProto; intra_op_parallelism_threads is the number of threads (0: one per processor), and
        results do not depend on it.

    Any number of threads may run one session at the same time.
    """

    def __init__(self, target="", graph=None, config=None):
        super().__init__(target, graph, config)
        self._contexts: list | None = None

    def __enter__(self):
        if self._contexts is not None:
            raise RuntimeError(
                "Session context managers are not re-entrant. Use `Session.as_default()` if you want to enter a "
                "session multiple times."
            )
        self._contexts = [self._graph.as_default(), self.as_default()]
        for context in self._contexts:
            context.__enter__()
        return self

    def __exit__(self, *exception):
        try:
            for context in reversed(self._contexts or ()):
                context.__exit__(*exception)
        finally:
            self._contexts = None
            self.close()

    @staticmethod
    def reset(target, containers=None, config=None):
        """Clears the containers of a server, all or some: sessions to come find no variables in them.

        With an empty target, all sessions of this process that have no server are closed; what runs in them is
        cancelled, and further runs raise tf.errors.CancelledError.

        Raises tf.errors.UnimplementedError if the server is not in this process.
        """
        if isinstance(target, bytes):
            target = target.decode()
        if servers.is_server(target):
            servers.clear(target, containers)
        elif target in _WITHOUT_SERVER:
            for session in list(_without_server):
                session._core.close()


@public("InteractiveSession")
class InteractiveSession(BaseSession):
    """A session that is the default from its construction to its `close`, for notebooks and shells.

    Several may be open, and be closed in any order; a warning says so.
    """

    _open_count = 0
    _count_lock = threading.Lock()

    def __init__(self, target="", graph=None, config=None):
        super().__init__(target, graph, config)
        self._contexts = [scopes.sessions.with_default(self, enforces_nesting=False)]
        if graph is not None:
            self._contexts.insert(0, default_graph_context(graph, enforces_nesting=False))
        for context in self._contexts:
            context.__enter__()
        with InteractiveSession._count_lock:
            if InteractiveSession._open_count > 0:
                warnings.warn(
                    "An interactive session is already active. This can cause out-of-memory errors in some cases. "
                    "You must explicitly call `InteractiveSession.close()` to release resources held by the other "
                    "session(s).",
                    stacklevel=2,
                )
            InteractiveSession._open_count += 1

    def close(self):
        """Ends being the default, then closes."""
        super().close()
        contexts, self._contexts = self._contexts, []
        if contexts:
            with InteractiveSession._count_lock:
                InteractiveSession._open_count -= 1
        for context in reversed(contexts):
            context.__exit__(None, None, None)
