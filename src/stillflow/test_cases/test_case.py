"""tf.test.TestCase: a unit test with sessions, and assertions about arrays, tensors, messages and errors."""

from __future__ import annotations

import contextlib
import os
import random
import re
import tempfile

import numpy as np
from absl.testing import absltest

from stillflow import errors
from stillflow.formats import protobuf
from stillflow.graph import default_graph, device, scopes
from stillflow.graph.indexed_slices import IndexedSlices, IndexedSlicesValue
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.graph.nest import map_structure
from stillflow.names import public
from stillflow.ops.sparse_tensor import SparseTensor, SparseTensorValue
from stillflow.ragged.tensor import RaggedTensor
from stillflow.random import seeds
from stillflow.session.session import Session
from stillflow.test_cases import program
from stillflow.test_cases.array_assertions import ArrayAssertions
from stillflow.test_cases.checked_thread import CheckedThread
from stillflow.test_cases.messages import with_rounded_numbers

# Of the GraphDefs that are written here.
_PRODUCER = 134
_MIN_CONSUMER = 0


@public("test.TestCase", "python.framework.test_util.TensorFlowTestCase")
class TestCase(ArrayAssertions):
    """A unittest.TestCase for graphs.

    Each test starts with an empty default graph, whose seed is fixed, as are those of `random` and numpy.
    `self.session()` is a session of it, `self.evaluate(tensors)` runs them, and assertions compare arrays.
    """

    def __init__(self, methodName="runTest"):  # noqa: N803
        super().__init__(methodName)
        self._threads: list[CheckedThread] = []
        self._tempdir: str | None = None
        self._cached_session: Session | None = None
        self._cached_arguments: tuple = ()

    def setUp(self):
        self._close_cached_session()
        random.seed(seeds.DEFAULT_GRAPH_SEED)
        np.random.seed(seeds.DEFAULT_GRAPH_SEED)
        # A test that failed within graph contexts may have left them open.
        default_graph.leave_all_graphs()
        default_graph.reset_default_graph()
        seeds.set_random_seed(seeds.DEFAULT_GRAPH_SEED)
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")

    def tearDown(self):
        for thread in self._threads:
            thread.check_termination()
        self._close_cached_session()

    def _close_cached_session(self):
        if self._cached_session is not None:
            self._cached_session.close()
            self._cached_session = None

    # ---- Sessions ---------------------------------------------------------------------------------------------

    @by_mode
    def evaluate(self, tensors):
        """The values of tensors, or of nested lists and dicts of them, in the default session or the test's.

        Where operations are executed, the values that tensors have.
        """
        session = scopes.get_default_session()
        if session is not None:
            return session.run(tensors)
        with self._test_session() as session:
            return session.run(tensors)

    @contextlib.contextmanager
    def session(self, graph=None, config=None, use_gpu=False, force_gpu=False):
        """A session that is the default in the context, as is its graph, and is closed at its end.

        Args:
          graph: the graph; by default the default graph.
          config: a ConfigProto.
          use_gpu: whether nodes may be put on a GPU; otherwise those that are added in the context say that they
            belong on the CPU.
          force_gpu: whether they have to be.
        """
        with _open(graph, config, force_gpu) as session, _as_default(session, use_gpu, force_gpu):
            yield session

    @contextlib.contextmanager
    def cached_session(self, graph=None, config=None, use_gpu=False, force_gpu=False):
        """Like `session`, but one and the same for all calls of a test, and open until its end.

        Raises ValueError if a later call has other arguments than the first.
        """
        session = self._get_cached_session((graph, config, force_gpu), is_strict=True)
        with _as_default(session, use_gpu, force_gpu):
            yield session

    @contextlib.contextmanager
    def test_session(self, graph=None, config=None, use_gpu=False, force_gpu=False):
        """The cached session, whatever the arguments; with a graph of its own a session of its own."""
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")
        with self._test_session(graph, config, use_gpu, force_gpu) as session:
            yield session

    @contextlib.contextmanager
    def _test_session(self, graph=None, config=None, use_gpu=False, force_gpu=False):
        if graph is None:
            session = self._get_cached_session((graph, config, force_gpu), is_strict=False)
            with _as_default(session, use_gpu, force_gpu):
                yield session
        else:
            with self.session(graph, config, use_gpu, force_gpu) as session:
                yield session

    def _get_cached_session(self, arguments, is_strict):
        if self._cached_session is None:
            self._cached_session = _open(*arguments)
            self._cached_arguments = arguments
        elif is_strict:
            names = ("graph", "config", "force_gpu value")
            for name, now, then in zip(names, arguments, self._cached_arguments, strict=True):
                if now is not then:
                    raise ValueError(
                        f"The {name} used to get the cached session is different than the one that was used to "
                        "create the session. Maybe create a new session with self.session()"
                    )
        return self._cached_session

    # ---- Files, output and threads ----------------------------------------------------------------------------

    def get_temp_dir(self):
        """A folder of this test alone, which is deleted when the program ends."""
        if not self._tempdir:
            self._tempdir = tempfile.mkdtemp(dir=program.get_temp_dir())
        return self._tempdir

    @contextlib.contextmanager
    def captureWritesToStream(self, stream):  # noqa: N802
        """A context in which what is written to a stream with a file descriptor, by C code too, goes to a file.

        Yields an object whose `contents()` is what has been written so far.
        """
        stream.flush()
        original = os.dup(stream.fileno())
        handle, path = tempfile.mkstemp(dir=self.get_temp_dir())
        os.dup2(handle, stream.fileno())
        os.close(handle)
        try:
            yield _CapturedWrites(path, stream)
        finally:
            stream.flush()
            os.dup2(original, stream.fileno())
            os.close(original)

    def checkedThread(self, target, args=None, kwargs=None):  # noqa: N802
        """A thread with `start`, `join` and `is_alive`. An exception in it fails the test, as does not joining it."""
        thread = CheckedThread(self, target, args, kwargs)
        self._threads.append(thread)
        return thread

    # ---- Assertions -------------------------------------------------------------------------------------------

    def assertStartsWith(self, actual, expected_start, msg=None):  # noqa: N802
        """Fails unless a string begins with another."""
        if not actual.startswith(expected_start):
            self.fail(f"{actual!r} does not start with {expected_start!r}{f' : {msg!r}' if msg else ''}")

    def assertProtoEquals(self, expected_message_maybe_ascii, message, msg=None):  # noqa: N802
        """Fails unless two messages are equal but for rounding; the expected one may be given as text."""
        from google.protobuf import text_format

        expected = expected_message_maybe_ascii
        if isinstance(expected, str):
            expected = text_format.Merge(expected, type(message)(), descriptor_pool=protobuf.pool())
        elif not isinstance(expected, type(message)):
            raise AssertionError(f"Can't compare protos of type {type(expected)} and {type(message)}. {msg or ''}")
        if expected != message:
            rounded = (with_rounded_numbers(proto) for proto in (expected, message))
            wanted, found = (text_format.MessageToString(proto) for proto in rounded)
            self.assertMultiLineEqual(wanted, found, msg or None)

    def assertProtoEqualsVersion(  # noqa: N802
        self, expected, actual, producer=_PRODUCER, min_consumer=_MIN_CONSUMER, msg=None
    ):
        """assertProtoEquals for a GraphDef, given as text without its versions."""
        versions = f"versions {{ producer: {producer} min_consumer: {min_consumer} }};\n"
        self.assertProtoEquals(versions + expected, actual, msg=msg)

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(  # type: ignore[override]  # noqa: N802
        self, exception_type, expected_err_re_or_predicate
    ):
        """A context that fails unless it raises such an exception.

        Args:
          exception_type: the class of the exception, or a tuple of classes.
          expected_err_re_or_predicate: a regular expression to be found in its message, or in the names of the
            operation that failed and of those that it was made for; or a function of the exception.
        """
        is_right = expected_err_re_or_predicate
        if not callable(is_right):

            def is_right(error):
                return re.search(expected_err_re_or_predicate, _message_of(error))

        try:
            yield
        except Exception as error:
            if not isinstance(error, exception_type) or not is_right(error):
                raise AssertionError(f"Exception of type {type(error)}: {error}") from error
        else:
            self.fail(f"{getattr(exception_type, '__name__', exception_type)} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate):  # noqa: N802
        """assertRaisesWithPredicateMatch for any error of tf.errors."""
        return self.assertRaisesWithPredicateMatch(errors.OpError, expected_err_re_or_predicate)

    def assertDeviceEqual(self, device1, device2, msg=None):  # noqa: N802
        """Fails unless two device strings, or DeviceSpecs, mean the same."""
        device1, device2 = device.canonical_name(device1), device.canonical_name(device2)
        self.assertEqual(device1, device2, f"Devices {device1} and {device2} are not equal. {msg}")

    # Names that Python has dropped.
    assertItemsEqual = absltest.TestCase.assertCountEqual  # noqa: N815
    assertRaisesRegexp = absltest.TestCase.assertRaisesRegex  # noqa: N815


@eager_version_of(TestCase.evaluate)
def _evaluate(_, tensors):
    return map_structure(_value, tensors() if callable(tensors) else tensors)


class _LoggingSession(Session):
    """A session that logs what fails, except for the end of the input."""

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        try:
            return super().run(fetches, feed_dict, options, run_metadata)
        except Exception as error:
            if not isinstance(error, errors.OutOfRangeError):
                from stillflow.platform import logging

                logging.error("%s", error)
            raise


class _CapturedWrites:
    def __init__(self, path, stream):
        self._path = path
        self._stream = stream

    def contents(self):
        """What has been written, as text."""
        self._stream.flush()
        with open(self._path) as file:
            return file.read()


def _value(tensor):
    """What evaluate makes of an item in eager execution."""
    if callable(tensor):
        return map_structure(_value, tensor())
    if isinstance(tensor, SparseTensor):
        return SparseTensorValue(*map(_value, (tensor.indices, tensor.values, tensor.dense_shape)))
    if isinstance(tensor, IndexedSlices):
        return IndexedSlicesValue(*map(_value, (tensor.values, tensor.indices, tensor.dense_shape)))
    if isinstance(tensor, RaggedTensor):
        return tensor._eager_value()
    return tensor.numpy() if hasattr(tensor, "numpy") else tensor


def _open(graph, config, force_gpu):
    if config is None:
        config = protobuf.message("ConfigProto")(allow_soft_placement=not force_gpu)
    return _LoggingSession(graph=graph, config=config)


@contextlib.contextmanager
def _as_default(session, use_gpu, force_gpu):
    """The session and its graph as defaults, and new nodes on the device that a test wants."""
    with session.graph.as_default(), session.as_default():
        if use_gpu and not force_gpu:
            yield
        else:
            with session.graph.device("/device:GPU:0" if force_gpu else "/device:CPU:0"):
                yield


def _message_of(error):
    if not isinstance(error, errors.OpError):
        return str(error)
    lines = [error.message]
    op = error.op
    while op is not None:
        lines.append(f"Caused by: {op.name}")
        op = getattr(op, "_original_op", None)
    return "\n".join(lines)


GoogleTestCase = public("python.platform.googletest.TestCase")(absltest.TestCase)
