"""One file of TensorFlow's unit tests, run in this process: what becomes of each test is a line of JSON.

tools/upstream_tests.py starts it, under TensorFlow's Python 3.7 or under stillflow's.
"""

import argparse
import contextlib
import importlib
import importlib.machinery
import json
import os
import signal
import sys
import time
import traceback
import types
import unittest


class TestLimit(BaseException):
    """A test took too long."""


class _Result(unittest.TestResult):
    """Writes a line when a test starts and when it has ended."""

    def __init__(self, stream, limit):
        super().__init__()
        self._stream, self._limit = stream, limit
        self._outcome = ("passed", "", "", "")

    def write(self, **line):
        os.write(self._stream, (json.dumps(line) + "\n").encode())

    def startTest(self, test):  # noqa: N802
        super().startTest(test)
        self._outcome = ("passed", "", "", "")
        self._began = time.time()
        self.write(start=name_of(test))
        signal.alarm(self._limit)

    def stopTest(self, test):  # noqa: N802
        signal.alarm(0)
        self.write(end=name_of(test), outcome=[*self._outcome, round(time.time() - self._began, 2)])
        super().stopTest(test)

    def _failed(self, status, error):
        kind, value, trace = error
        frames = "".join(traceback.format_tb(trace)[-7:])
        self._outcome = (status, kind.__name__, str(value)[:1500], frames[-2500:])

    def addError(self, test, err):  # noqa: N802
        self._failed("error", err)
        if not hasattr(test, "_testMethodName"):  # setUpClass and setUpModule
            self.write(end=str(test), outcome=[*self._outcome, 0])

    def addFailure(self, test, err):  # noqa: N802
        self._failed("failed", err)

    def addSkip(self, test, reason):  # noqa: N802
        self._outcome = ("skipped", "", str(reason)[:200], "")

    def addSubTest(self, test, subtest, err):  # noqa: N802
        if err is not None and self._outcome[0] == "passed":
            self._failed("failed" if issubclass(err[0], test.failureException) else "error", err)


def name_of(test):
    return "{}.{}".format(type(test).__name__, getattr(test, "_testMethodName", "?"))


def _tests_of(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from _tests_of(test)
        elif not name_of(test).endswith(".test_session"):
            yield test


def _end_test(*_):
    raise TestLimit("the test's time limit")


def run_file(path, module_name, stream, skip, limit):
    """Runs the tests of a file but those of `skip`, each for `limit` seconds at most."""
    signal.signal(signal.SIGALRM, _end_test)
    module = types.ModuleType("__main__")
    module.__dict__.update(__file__=path, __builtins__=__builtins__, __package__=module_name.rpartition(".")[0])
    sys.modules["__main__"] = module
    sys.argv = [path]
    has_run = []

    def run_tests(*_, **__):
        from absl import flags

        has_run.append(True)
        if not flags.FLAGS.is_parsed():
            flags.FLAGS([path], known_only=True)
        result = _Result(stream, limit)
        tests = list(_tests_of(unittest.defaultTestLoader.loadTestsFromModule(module)))
        result.write(collected=[name_of(test) for test in tests])
        unittest.TestSuite(test for test in tests if name_of(test) not in skip).run(result)

    _replace_main(run_tests)
    try:
        with open(path, encoding="utf-8") as file:
            exec(compile(file.read(), path, "exec", dont_inherit=True), module.__dict__)
        if not has_run:
            run_tests()
    except BaseException as error:
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__))[-2500:]
        line = {"broken": [type(error).__name__, str(error)[:1500], text]}
        os.write(stream, (json.dumps(line) + "\n").encode())


def _replace_main(run_tests):
    """Whatever a test file calls to run its tests runs ours."""
    import tensorflow as tf
    from absl import app
    from absl.testing import absltest

    modules = [importlib.import_module("tensorflow.python.platform." + name) for name in ("test", "googletest")]
    for owner in (tf.test, absltest, unittest, *modules):
        owner.main = run_tests
    app.run = tf.app.run = run_tests


class FolderFinder:
    """Finds modules of TensorFlow in the folder: those of tests that its wheel lacks."""

    def __init__(self, folder):
        self._folder = folder

    def find_spec(self, fullname, path=None, target=None):
        name = fullname.replace("tensorflow_core", "tensorflow", 1)
        file = os.path.join(self._folder, *name.split("."))
        if not name.startswith(("tensorflow.", "tensorflow_estimator.")):
            return None
        if os.path.exists(file + ".py"):
            loader = importlib.machinery.SourceFileLoader(fullname, file + ".py")
            return importlib.machinery.ModuleSpec(fullname, loader, origin=file + ".py")
        if os.path.isdir(file):
            spec = importlib.machinery.ModuleSpec(fullname, None, is_package=True)
            spec.submodule_search_locations = [file]
            return spec
        return None


def _import_backend(options):
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    if options.engine == "tensorflow":
        importlib.import_module("tensorflow.python.framework.test_util")
        sys.meta_path.append(FolderFinder(options.folder))
    else:
        sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
        importlib.import_module("upstream_names").install(options.folder, [options.engine])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engine", choices=["tensorflow", "graph", "eager"], required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--test-limit", type=int, default=20)
    options = parser.parse_args()
    _import_backend(options)
    stream = os.dup(1)
    for request in sys.stdin:  # {"path": ..., "skip": [...], "limit": seconds}, each in a process of its own
        _run_isolated(options, stream, **json.loads(request))


def _run_isolated(options, stream, path, skip, limit):
    """Runs a file in a process of its own, which is killed after `limit` seconds; a last line says so."""
    deadline = time.time() + limit
    pid = os.fork()
    if pid == 0:
        try:
            os.setpgid(0, 0)
            sink = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(sink, descriptor)
            full = os.path.join(options.folder, path)
            run_file(full, path[:-3].replace("/", "."), stream, set(skip), options.test_limit)
        finally:
            os._exit(0)
    status = None
    late = False
    while status is None:
        found, code = os.waitpid(pid, os.WNOHANG)
        if found:
            status = code
        elif time.time() > deadline and not late:
            late = True
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        else:
            time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    killed = "time limit" if late else "signal %d" % os.WTERMSIG(status) if os.WIFSIGNALED(status) else ""
    os.write(stream, (json.dumps({"ended": path, "killed": killed}) + "\n").encode())


if __name__ == "__main__":
    main()
