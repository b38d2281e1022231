"""tensorflow.python.framework.test_util: decorators that say in which mode, and where, a test runs."""

from __future__ import annotations

import contextlib
import functools
import unittest
from typing import Any

from stillflow.eager.modes import eager_mode, graph_mode
from stillflow.functions import control_flow_v2
from stillflow.graph.contexts import device as on_device
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.graph import Graph
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.names import public
from stillflow.platform import tf2

# In which modes tests of both run; a tool that compares may leave out one.
_MODES = ["graph", "eager"]


def limit_modes(modes):
    """Of the tests that run in graphs and eagerly, runs those of `modes` alone: ["graph"] or ["eager"] or both."""
    _MODES[:] = modes


def _is_test(name, value):
    return name.startswith("test") and name != "test_session" and callable(value)


def _of_methods(cls, decorator):
    """Decorates the tests of a class, which it returns."""
    for name, value in list(vars(cls).items()):
        if _is_test(name, value):
            setattr(cls, name, decorator(value))
    return cls


def _decorator(decorate):
    """A decorator of functions, or of the tests of a class, that may be used with settings or without."""

    @functools.wraps(decorate)
    def outer(func=None, **settings):
        if func is None:
            return functools.partial(outer, **settings)
        if isinstance(func, type):
            return _of_methods(func, functools.partial(decorate, **settings))
        return functools.wraps(func)(decorate(func, **settings))

    return outer


@public("python.framework.test_util.run_in_graph_and_eager_modes", "contrib.eager.run_test_in_graph_and_eager_modes")
@_decorator
def run_in_graph_and_eager_modes(f, config=None, use_gpu=True, reset_test=True, assert_no_eager_garbage=False):
    """Runs a test in a graph, within a session, and then eagerly, after tearDown and setUp."""

    def run(self, *args, **kwargs):
        if "graph" in _MODES:
            # A test that skips itself in graphs may have something to say all the same.
            with (
                contextlib.suppress(unittest.SkipTest),
                graph_mode(),
                self.test_session(use_gpu=use_gpu, config=config),
            ):
                f(self, *args, **kwargs)
        if "eager" not in _MODES:
            return
        if reset_test:
            self.tearDown()
            self._tempdir = None
        with Graph().as_default(), eager_mode():
            if reset_test:
                self.setUp()
            with contextlib.nullcontext() if use_gpu else on_device("/device:CPU:0"):
                f(self, *args, **kwargs)

    return run


@public(
    "python.framework.test_util.run_all_in_graph_and_eager_modes",
    "contrib.eager.run_all_tests_in_graph_and_eager_modes",
)
def run_all_in_graph_and_eager_modes(cls):
    """Decorates every test of a class with run_in_graph_and_eager_modes."""
    return _of_methods(cls, run_in_graph_and_eager_modes)


@by_mode
def _graph_to_test_in():
    """The default graph, or, where there is none, a new one."""
    return contextlib.nullcontext()


@eager_version_of(_graph_to_test_in)
def _new_graph_to_test_in():
    return graph_mode()


@public("python.framework.test_util.deprecated_graph_mode_only", "python.framework.test_util.run_deprecated_v1")
@_decorator
def deprecated_graph_mode_only(f):
    """Runs a test in graph mode, in the default graph if that is the mode already."""

    def run(self, *args, **kwargs):
        with _graph_to_test_in():
            return f(self, *args, **kwargs)

    return run


def _skipping(reason, unless=lambda: False):
    def decorate(f):
        def run(self, *args, **kwargs):
            if unless():
                return f(self, *args, **kwargs)
            return self.skipTest(reason)

        return run

    return decorate


run_v2_only = public("python.framework.test_util.run_v2_only")(
    _decorator(_skipping("Test is only compatible with v2", unless=tf2.enabled))
)
run_gpu_only = public("python.framework.test_util.run_gpu_only")(_decorator(_skipping("Test requires GPU")))
run_cuda_only = public("python.framework.test_util.run_cuda_only")(
    _decorator(_skipping("Test only applicable with CUDA"))
)


@public("python.framework.test_util.run_v1_only")
def run_v1_only(reason, func=None):
    """Decorates a test, or a class of tests, of what TensorFlow 2 lacks, for a reason that says why. They run."""
    if not isinstance(reason, str):
        raise ValueError(f"'reason' should be string, got {type(reason)}")
    return _as_it_is if func is None else func


@public(
    "python.framework.test_util.disable_xla",
    "python.framework.test_util.no_xla_auto_jit",
    "python.framework.test_util.xla_allow_fallback",
)
def disable_xla(description):
    """A decorator of tests for which XLA is to be off. There is none."""
    return _as_it_is


@public("python.framework.test_util.enable_control_flow_v2")
def enable_control_flow_v2(fn):
    """Runs a test with conditions and loops that are nodes calling functions."""

    @functools.wraps(fn)
    def run(*args, **kwargs):
        if control_flow_v2.is_enabled():
            return fn(*args, **kwargs)
        control_flow_v2.enable_control_flow_v2()
        try:
            return fn(*args, **kwargs)
        finally:
            control_flow_v2.disable_control_flow_v2()

    return run


@public("python.framework.test_util.disable_control_flow_v2")
def disable_control_flow_v2(unused_msg):
    """A decorator of tests that `with_control_flow_v2` adds no second one for, for a reason that says why."""

    def mark(fn):
        fn._disable_control_flow_v2 = True
        return fn

    return mark


@public("python.framework.test_util.with_control_flow_v2")
def with_control_flow_v2(cls):
    """Adds to a class, for each test NAME, a test NAMEWithControlFlowV2 that `enable_control_flow_v2` decorates."""
    if not control_flow_v2.is_enabled():
        for name, test in list(vars(cls).items()):
            if name.startswith("test") and callable(test) and not getattr(test, "_disable_control_flow_v2", False):
                setattr(cls, f"{name}WithControlFlowV2", enable_control_flow_v2(test))
    return cls


def _as_it_is(test):
    return test


@public("python.framework.test_util.for_all_test_methods")
def for_all_test_methods(decorator: Any, *args, **kwargs):
    """A class decorator that decorates each test with `decorator(*args, **kwargs)`."""
    return lambda cls: _of_methods(cls, decorator(*args, **kwargs))


@public("python.framework.test_util.skip_if")
def skip_if(condition):
    """A decorator of tests that do nothing if `condition`, a value or a function without arguments, is true."""

    def decorate(f):
        @functools.wraps(f)
        def run(self, *args, **kwargs):
            if not (condition() if callable(condition) else condition):
                f(self, *args, **kwargs)

        return run

    return decorate


@public("python.framework.test_util.device")
@contextlib.contextmanager
def device(use_gpu):
    """Nodes go where a test wants them: on the CPU unless it may use a GPU."""
    with contextlib.nullcontext() if use_gpu else get_default_graph().device("/device:CPU:0"):
        yield


@public("python.framework.test_util.use_gpu", "python.framework.test_util.force_gpu")
@contextlib.contextmanager
def use_gpu():
    """Nodes may go on a GPU; there is none."""
    yield


@public("python.framework.test_util.force_cpu")
@contextlib.contextmanager
def force_cpu():
    """Nodes go on the CPU."""
    with on_device("/device:CPU:0"):
        yield
