"""tools/upstream_tests.py, with small files of tests in the place of TensorFlow's."""

import importlib.util
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parent.parent.parent / "tools"
FILE = "tensorflow/python/ops/some_test.py"
TESTS = """
import os
import time

from tensorflow.python.eager import context
from tensorflow.python.framework import constant_op
from tensorflow.python.framework import test_util
from tensorflow.python.ops import gen_math_ops
from tensorflow.python.ops import no_such_ops
from tensorflow.python.platform import test


class SomeTest(test.TestCase):
  def testPasses(self):
    with self.session():
      self.assertAllEqual([4, 6], gen_math_ops.add([1, 2], [3, 4]).eval())

  @test_util.run_in_graph_and_eager_modes
  def testBoth(self):
    self.assertEqual(3, self.evaluate(constant_op.constant(3)))
    with open(os.environ["MODES_SEEN"], "a") as file:
      file.write("eager " if context.executing_eagerly() else "graph ")

  def testIsWrong(self):
    self.assertEqual(1, 2)

  def testKillsTheProcess(self):
    os.abort()

  def testMissesAName(self):
    no_such_ops.nothing(1)

  def testMissesAnOp(self):
    gen_math_ops.no_such_op(1)

  def testNeverEnds(self):
    time.sleep(100)

  @test_util.run_gpu_only
  def testOfGpus(self):
    pass


test.main()
"""


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("upstream_tests", TOOLS / "upstream_tests.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("upstream")
    file = folder / FILE
    file.parent.mkdir(parents=True)
    file.write_text(TESTS)
    return folder


@pytest.mark.parametrize("mode", ["graph", "eager"])
def test_each_test_runs_alone_and_its_outcome_is_told(tool, folder, mode, monkeypatch):
    seen = folder / mode
    monkeypatch.setenv("MODES_SEEN", str(seen))
    engine = tool.Engine(sys.executable, mode, folder, test_limit=2)
    record = engine.run(FILE, limit=60)
    engine.close()
    assert record["broken"] is None
    assert seen.read_text() == f"{mode} "
    outcomes = {name.partition(".")[2]: tool.outcome(record, name) for name in record["collected"]}
    assert outcomes == {
        "testPasses": ("passed", ""),
        "testBoth": ("passed", ""),
        "testIsWrong": ("wrong", "AssertionError: N != N"),
        "testKillsTheProcess": ("crash", "signal 6"),
        "testMissesAName": ("missing", "tensorflow.python.ops.no_such_ops"),
        "testMissesAnOp": ("missing", "tensorflow.python.ops.gen_math_ops.no_such_op"),
        "testNeverEnds": ("hang", "TestLimit"),
        "testOfGpus": ("skipped", ""),
    }


def test_a_file_that_cannot_be_imported_fails_all_its_tests(tool, folder):
    path = "tensorflow/python/ops/broken_test.py"
    (folder / path).write_text("raise ImportError('cannot import name \\'something\\'')\n")
    engine = tool.Engine(sys.executable, "graph", folder, test_limit=2)
    record = engine.run(path, limit=60)
    engine.close()
    assert tool.outcome(record, "SomeTest.testPasses") == ("missing", "something")


def test_counts_are_of_what_tensorflow_passes(tool):
    theirs = {FILE: {"tests": {"A.a": ["passed"], "A.b": ["passed"], "A.c": ["failed"], "A.dV2": ["passed"]}}}
    ours = {
        FILE: {"tests": {"A.a": ["passed", "", ""], "A.b": ["error", "ValueError", "of 12 rows"]}, "broken": None}
    }
    folders, reasons, failures = tool.compare(theirs, ours)
    assert folders == {"python/ops": {"tensorflow": 2, "passed": 1, "exception": 1}}
    assert reasons == {("exception", "ValueError: of N rows"): 1}
    assert [failure[:3] for failure in failures] == [(FILE, "A.b", "exception")]
    head, row, total = tool.table(folders).splitlines()
    assert head.split() == ["folder", "tensorflow", "passed", *tool._KINDS[1:-1], "not", "reached"]
    assert row.split() == ["python/ops", "2", "1", "0", "0", "0", "1", "0", "0", "0"]
    assert total.split() == ["total", *row.split()[1:]]


@pytest.mark.parametrize(
    ("kind", "message", "expected"),
    [
        ("AttributeError", "module 'stillflow.nn' has no attribute 'f'", ("missing", ".nn.f")),
        ("RuntimeError", "Op type not registered 'Foo' in binary", ("missing", "op Foo")),
        (
            "InvalidArgumentError",
            "No OpKernel was registered to support 'Foo' with attr type half",
            ("missing", "kernel of Foo for half"),
        ),
        ("ValueError", "7 is not 12\nmore", ("exception", "ValueError: N is not N")),
    ],
)
def test_failures_are_put_in_kinds(tool, kind, message, expected):
    assert tool.classify(["error", kind, message]) == expected
