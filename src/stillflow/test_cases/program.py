"""tf.test.main, and the folders of a program that runs tests."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import sys
import tempfile
from pathlib import Path
from unittest import mock as _mock

from stillflow.names import public


@public("test.main", "python.platform.googletest.main")
def main(argv=None):
    """Runs the tests of the program that calls it, and exits.

    Args:
      argv: its arguments, by default those of the process; unittest's are known, as are the flags of absl's tests.
        With `--benchmarks=PATTERN` benchmarks run instead, see tf.test.Benchmark.
    """
    from absl.testing import absltest

    from stillflow.platform import app
    from stillflow.test_cases.benchmark import benchmarks_main

    argv = sys.argv if argv is None else argv
    benchmarks_main(lambda: app.run(main=lambda arguments: absltest.main(argv=arguments), argv=argv), argv)


@public("test.get_temp_dir", "python.platform.googletest.GetTempDir")
@functools.cache
def get_temp_dir():
    """A folder for this process, under $TEST_TMPDIR if that is set; it is deleted when the process ends."""
    prefix = os.environ.get("TEST_TMPDIR")
    if not prefix:
        prefix = str(Path(tempfile.gettempdir()) / Path(sys.argv[0]).stem)
    found = tempfile.mkdtemp(prefix=prefix)
    atexit.register(shutil.rmtree, found, ignore_errors=True)
    return found


@public("test.test_src_dir_path")
def test_src_dir_path(relative_path):
    """A path in the sources that a test runner has put into $TEST_SRCDIR. Raises KeyError without it."""
    return str(Path(os.environ["TEST_SRCDIR"], "org_tensorflow/tensorflow", relative_path))


mock = public("test.mock", "python.platform.googletest.mock", "python.platform.test.mock")(_mock)
