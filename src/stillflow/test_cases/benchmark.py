"""tf.test.Benchmark: classes whose methods measure time and report it as TensorFlow's tools read it."""

from __future__ import annotations

import inspect
import numbers
import os
import re
import statistics
import sys
import time
from typing import Any

from stillflow.files.gfile import Exists, GFile
from stillflow.formats import protobuf
from stillflow.graph.scopes import get_default_session
from stillflow.names import public
from stillflow.platform import app, logging
from stillflow.session.timeline import Timeline

# The classes that benchmarks_main runs.
REGISTRY: set = public("python.platform.benchmark.GLOBAL_BENCHMARK_REGISTRY")(set())
# The variable of the environment that says what names of files with reports begin with.
REPORT_PREFIX = public("python.platform.benchmark.TEST_REPORTER_TEST_ENV")("TEST_REPORT_FILE_PREFIX")


@public("python.platform.benchmark.Benchmark")
class Benchmark:
    """The base of classes whose methods that begin with "benchmark" measure something; each is registered."""

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if not cls.is_abstract():
            REGISTRY.add(cls)

    @classmethod
    def is_abstract(cls):
        """Whether the class is one of those that benchmarks derive from."""
        return cls.__dict__.get("_is_abstract", False)

    _is_abstract = True

    def _get_name(self, overwrite_name=None):
        """ "Class.method" of the outermost call of a benchmark's method."""
        for frame in reversed(inspect.stack(0)):
            caller = frame.frame.f_locals.get("self")
            if isinstance(caller, Benchmark):
                return f"{type(caller).__name__}.{overwrite_name or frame.function}"
        raise ValueError("Unable to determine calling Benchmark class.")

    def report_benchmark(
        self, iters=None, cpu_time=None, wall_time=None, throughput=None, extras=None, name=None, metrics=None
    ):
        """Writes a BenchmarkEntries message with one entry.

        It becomes a file whose name begins with $TEST_REPORT_FILE_PREFIX, or is printed where that is not set.

        Args:
          iters: how often it ran.
          cpu_time, wall_time: seconds.
          throughput: in MB/s.
          extras: a dict of numbers, or of what becomes text.
          name: the entry's name after that of the class, by default the method's.
          metrics: a list of dicts with "name", "value" and if wanted "min_value" and "max_value".

        Raises:
          TypeError: for `extras` or `metrics` of another kind.
          IOError: if the file exists.
        """
        name = self._get_name(name)
        logging.info(
            "Benchmark [%s] iters: %d, wall_time: %g, cpu_time: %g,throughput: %g, extras: %s, metrics: %s",
            name,
            *(-1 if value is None else value for value in (iters, wall_time, cpu_time, throughput)),
            extras or "None",
            metrics or "None",
        )
        values = {"iters": iters, "cpu_time": cpu_time, "wall_time": wall_time, "throughput": throughput}
        entries = protobuf.message("BenchmarkEntries")()
        entry = entries.entry.add(name=name, **{key: value for key, value in values.items() if value is not None})
        _set_extras(entry, extras)
        _set_metrics(entry, metrics)
        prefix = os.environ.get(REPORT_PREFIX)
        if prefix is None:
            print(entries)
            return
        path = prefix + name.replace("/", "__")
        if Exists(path):
            raise OSError(f"File already exists: {path}")
        with GFile(path, "wb") as file:
            file.write(entries.SerializeToString())


def _set_extras(entry, extras):
    if extras is None:
        return
    if not isinstance(extras, dict):
        raise TypeError("extras must be a dict")
    for key, value in extras.items():
        if isinstance(value, numbers.Number):
            entry.extras[key].double_value = value
        else:
            entry.extras[key].string_value = str(value)


def _set_metrics(entry, metrics):
    if metrics is None:
        return
    if not isinstance(metrics, list):
        raise TypeError("metrics must be a list")
    for metric in metrics:
        for key in ("name", "value"):
            if key not in metric:
                raise TypeError(f"metric must has a '{key}' field")
        added = entry.metrics.add(name=metric["name"], value=metric["value"])
        for key in ("min_value", "max_value"):
            if key in metric:
                getattr(added, key).value = metric[key]


@public("test.benchmark_config", "python.platform.benchmark.benchmark_config")
def benchmark_config():
    """A ConfigProto that keeps the nodes of a benchmark: without the optimizer of dependencies."""
    config = protobuf.message("ConfigProto")()
    config.graph_options.rewrite_options.dependency_optimization = protobuf.enum("RewriterConfig.Toggle")["OFF"]
    return config


@public("test.Benchmark", "python.platform.benchmark.TensorFlowBenchmark", "python.platform.googletest.Benchmark")
class TensorFlowBenchmark(Benchmark):
    """The base of benchmarks of operations.

        class MatMul(tf.test.Benchmark):
            def benchmark_small(self):
                with tf.Session() as session:
                    self.run_op_benchmark(session, tf.matmul(x, y))

    `tf.test.main()` runs them for the argument `--benchmarks=PATTERN`, where "all" is for all of them.
    """

    _is_abstract = True

    def __init__(self):
        super().__init__()

    def run_op_benchmark(
        self, sess, op_or_tensor, feed_dict=None, burn_iters=2, min_iters=10, store_trace=False,
        store_memory_usage=True, name=None, extras=None, mbs=0,
    ):  # fmt: skip
        """Reports the median time of a run.

        Args:
          sess: a Session.
          op_or_tensor: what is run.
          feed_dict: of the runs.
          burn_iters: runs before the time is taken.
          min_iters: runs whose time is taken.
          store_trace: whether one more run's trace becomes "full_trace_chrome_format" in the returned extras.
          store_memory_usage: whether one more run's memory becomes "allocator_maximum_num_bytes_..." in the extras.
          name, extras: see report_benchmark.
          mbs: how many megabytes a run moves, for the throughput.

        Returns:
          A dict of what is reported.
        """
        for _ in range(burn_iters):
            sess.run(op_or_tensor, feed_dict=feed_dict)
        times = []
        for _ in range(min_iters):
            start = time.perf_counter()
            sess.run(op_or_tensor, feed_dict=feed_dict)
            times.append(time.perf_counter() - start)
        extras = {} if extras is None else extras
        unreported = {}
        if store_trace or store_memory_usage:
            timeline = _traced(sess, op_or_tensor, feed_dict)
            if store_trace:
                unreported["full_trace_chrome_format"] = timeline.generate_chrome_trace_format()
            if store_memory_usage:
                for allocator, maximum in timeline.analyze_step_stats().allocator_maximums.items():
                    extras[f"allocator_maximum_num_bytes_{allocator}"] = maximum.num_bytes
        median = statistics.median(times) if times else -1
        values = {
            "iters": min_iters, "wall_time": median, "extras": extras, "name": name, "throughput": mbs / median,
        }  # fmt: skip
        self.report_benchmark(**values)
        extras.update(unreported)
        return values

    def evaluate(self, tensors):
        """The values of tensors in the default session, or in the test's where the class is a test, too."""
        session: Any = get_default_session() or getattr(self, "cached_session")()  # noqa: B009
        return session.run(tensors)


def _traced(session, op_or_tensor, feed_dict):
    """The Timeline of a run."""
    options = protobuf.message("RunOptions")()
    options.trace_level = options.FULL_TRACE
    metadata = protobuf.message("RunMetadata")()
    session.run(op_or_tensor, feed_dict=feed_dict, options=options, run_metadata=metadata)
    return Timeline(metadata.step_stats)


def _run_benchmarks(pattern):
    """Runs the methods whose "module.Class.method" has the pattern in it."""
    for kind in list(REGISTRY):
        chosen = [
            name
            for name in dir(kind)
            if name.startswith("benchmark")
            and callable(getattr(kind, name))
            and (pattern == "all" or re.search(pattern, f"{kind.__module__}.{kind.__name__}.{name}"))
        ]
        benchmark = kind() if chosen else None
        for name in chosen:
            getattr(benchmark, name)()


@public("python.platform.benchmark.benchmarks_main")
def benchmarks_main(true_main, argv=None):
    """Runs the benchmarks that an argument `--benchmarks=PATTERN` asks for; without it, calls `true_main`."""
    argv = sys.argv if argv is None else argv
    found = next((arg for arg in argv if re.match("--?benchmarks=", arg)), None)
    if found is None:
        true_main()
        return
    argv.remove(found)
    app.run(lambda _: _run_benchmarks(found.partition("=")[2]), argv=argv)
