"""tf.test.TestCase and tf.test.main, as programs use them."""

import subprocess
import sys
import textwrap
import unittest

import numpy as np
import pytest

import stillflow as tf

PROGRAM = """
import os
import sys
import tempfile
import time

import numpy as np
import stillflow as tf

SEEN = []


class SessionTest(tf.test.TestCase):
    def setUp(self):
        super().setUp()
        self.assertEqual([], tf.get_default_graph().get_operations())

    def testSession(self):
        with self.session() as session:
            x = tf.constant([1.0, 2.0])
            self.assertIs(session, tf.get_default_session())
            self.assertDeviceEqual("/cpu:0", x.device)
            self.assertAllClose([1.0, 2.0], x)
            self.assertAllEqual(x.eval(), self.evaluate(x))
        with self.assertRaisesRegexp(RuntimeError, "closed Session"):
            session.run(x)

    def testSessionOfAGraph(self):
        graph = tf.Graph()
        with self.session(graph=graph, use_gpu=True):
            self.assertIs(graph, tf.get_default_graph())
            self.assertEqual("", tf.constant(1).device)
        with self.test_session(graph=graph) as session:
            self.assertIs(graph, session.graph)

    def testCachedSession(self):
        v = tf.get_variable("v", initializer=3)
        with self.cached_session() as first:
            first.run(v.initializer)
        with self.cached_session() as second:
            self.assertIs(first, second)
            self.assertEqual(3, second.run(v))
        self.assertEqual(3, self.evaluate(v))
        with self.test_session(config=tf.ConfigProto()) as third:
            self.assertIs(first, third)
        with self.assertRaisesRegexp(ValueError, "The config used to get the cached session is different"):
            with self.cached_session(config=tf.ConfigProto()):
                pass
        with self.assertRaisesRegexp(ValueError, "The graph used"):
            with self.cached_session(graph=tf.Graph()):
                pass

    def testSeed(self):
        SEEN.append((self.evaluate(tf.random_normal([2])).tolist(), np.random.rand()))
        tf.random_normal([1])

    def testSeedAgain(self):
        SEEN.append((self.evaluate(tf.random_normal([2])).tolist(), np.random.rand()))
        self.assertEqual(SEEN[0], SEEN[-1])

    def testErrors(self):
        with self.session():
            with self.assertRaisesOpError("assertion failed"):
                tf.Assert(False, ["no"]).run()

    def testThreads(self):
        done = []
        thread = self.checkedThread(target=done.append, args=(1,))
        thread.start()
        thread.join()
        self.assertFalse(thread.is_alive())
        self.assertEqual([1], done)
        bad = self.checkedThread(target=lambda: 1 / 0)
        bad.start()
        with self.assertRaisesRegexp(AssertionError, "Error in checkedThread: division by zero"):
            bad.join()

    def testFolders(self):
        folder = self.get_temp_dir()
        self.assertEqual(folder, self.get_temp_dir())
        self.assertStartsWith(folder, tf.test.get_temp_dir())
        self.assertTrue(os.path.isdir(folder))
        print("FOLDER", folder, flush=True)

    def testCapture(self):
        with self.captureWritesToStream(sys.stdout) as captured:
            print("hello")
            os.write(1, b"there")
            self.assertEqual("hello\\nthere", captured.contents())
        print("SEEN", flush=True)

    def testFailedInAGraph(self):
        tf.Graph().as_default().__enter__()


class FailingTest(tf.test.TestCase):
    def testForgottenThread(self):
        self.checkedThread(target=time.time).start()

    def testAnError(self):
        with self.session():
            tf.Assert(False, ["no"]).run()


if __name__ == "__main__":
    tf.test.main()
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("program") / "sessions_test.py"
    path.write_text(PROGRAM)
    return path


def run(program, *arguments):
    return subprocess.run([sys.executable, program, *arguments], capture_output=True, text=True, timeout=100)


def test_a_program_of_tests_passes_and_leaves_no_folder(program):
    result = run(program, "SessionTest")
    assert result.returncode == 0, result.stderr
    assert "OK" in result.stderr
    assert "SEEN" in result.stdout
    assert "hello" not in result.stdout
    (folder,) = [line.split()[1] for line in result.stdout.splitlines() if line.startswith("FOLDER")]
    assert not tf.gfile.Exists(folder)


def test_failures_fail_the_program_and_errors_of_sessions_are_logged(program):
    result = run(program, "FailingTest")
    assert result.returncode == 1
    assert "A checked thread was not joined." in result.stderr
    assert "assertion failed: [no]" in result.stderr


def test_a_test_program_runs_as_written(tmp_path):
    program = tmp_path / "as_written.py"
    program.write_text(
        textwrap.dedent(
            """
            import tensorflow as tf
            from tensorflow.python.platform import test
            from tensorflow.python.framework import test_util
            from tensorflow.python.platform import googletest
            from tensorflow.python.ops import gradient_checker


            class SquareTest(test.TestCase):
                def testSquare(self):
                    with self.test_session():
                        x = tf.constant([2.0, 3.0])
                        self.assertAllEqual(tf.square(x).eval(), [4.0, 9.0])
                        error = gradient_checker.compute_gradient_error(x, [2], tf.square(x), [2], delta=0.01)
                        self.assertLess(error, 1e-3)
                    self.assertIsInstance(self, test_util.TensorFlowTestCase)
                    self.assertIsInstance(self, googletest.TestCase)


            if __name__ == "__main__":
                test.main()
            """
        )
    )
    command = [sys.executable, "-m", "stillflow", "run", program]
    result = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert result.returncode == 0, result.stderr
    assert "OK (skipped=1)" in result.stderr  # unittest takes test_session for a test, too


def test_there_is_no_gpu():
    assert tf.test.gpu_device_name() == ""
    assert not tf.test.is_gpu_available(cuda_only=True)
    assert not tf.test.is_built_with_cuda()
    assert not tf.test.is_built_with_rocm()
    assert not tf.test.is_built_with_gpu_support()


def test_the_folder_of_sources_is_that_of_the_runner(monkeypatch):
    monkeypatch.setenv("TEST_SRCDIR", "/runfiles")
    assert tf.test.test_src_dir_path("core") == "/runfiles/org_tensorflow/tensorflow/core"
    monkeypatch.delenv("TEST_SRCDIR")
    with pytest.raises(KeyError):
        tf.test.test_src_dir_path("core")


def test_a_message_of_a_graph_is_compared_with_its_versions():
    case = tf.test.TestCase()
    with tf.Graph().as_default() as graph:
        tf.no_op("a")
    case.assertProtoEqualsVersion("node { name: 'a' op: 'NoOp' }", graph.as_graph_def())
    with pytest.raises(AssertionError):
        case.assertProtoEqualsVersion("node { name: 'b' op: 'NoOp' }", graph.as_graph_def())


def test_messages_are_equal_where_a_zero_has_another_sign():
    case = tf.test.TestCase()
    negative = tf.train.FloatList(value=[-0.0, 1.0])
    case.assertProtoEquals(tf.train.FloatList(value=[0.0, 1.0]), negative)
    with pytest.raises(AssertionError):
        case.assertProtoEquals(tf.train.FloatList(value=[0.0, 1.5]), negative)


def test_gradients_of_empty_tensors_and_of_types_without_derivatives():
    x = tf.placeholder(tf.float32, [0, 2])
    with tf.Session():
        for jacobian in tf.test.compute_gradient(x, [0, 2], tf.square(x), [0, 2]):
            assert jacobian.shape == (0, 0)
        assert tf.test.compute_gradient_error(x, [0, 2], tf.square(x), [0, 2]) == 0
        i = tf.placeholder(tf.int32, [2])
        with pytest.raises(AssertionError, match="Don't support type int32 for x"):
            tf.test.compute_gradient(i, [2], tf.cast(i, tf.float32), [2])
        with pytest.raises(AssertionError, match="x_shape"):
            tf.test.compute_gradient(x, [0, 2], x * 2, [0, 2], np.zeros(3))


class Greeter:
    @staticmethod
    def shape():
        return "round"

    def greet(self):
        return "hello"


class Child(Greeter):
    pass


def test_stubs_are_put_back():
    child = Child()
    with tf.test.StubOutForTesting() as stubs:
        stubs.Set(Greeter, "shape", staticmethod(lambda: "square"))
        stubs.Set(child, "greet", lambda: "bye")
        stubs.Set(child, "greet", lambda: "good bye")
        assert Greeter.shape() == child.shape() == "square"
        assert child.greet() == "good bye"
        stubs.UnsetAll()
        assert child.greet() == "hello"
        stubs.SmartSet(child, "greet", lambda self: "smart")
        assert Child().greet() == "smart"
        with pytest.raises(AttributeError, match="Attribute not found"):
            stubs.SmartSet(child, "missing", 1)
        with pytest.raises(AttributeError):
            stubs.Set(child, "missing", 1)
    assert Child.shape() == "round"
    assert child.greet() == "hello"
    assert "greet" not in vars(Child)
    assert isinstance(vars(Greeter)["shape"], staticmethod)


def test_mock_is_that_of_unittest():
    assert tf.test.mock is unittest.mock
