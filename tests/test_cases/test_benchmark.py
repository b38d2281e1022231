"""tf.test.Benchmark: reports of measured times."""

import pytest
from stillflow.python.platform import benchmark

import stillflow as tf
from stillflow.formats import protobuf


class _Products(tf.test.Benchmark):
    def benchmark_product(self):
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder(tf.float32, [2, 2])
            return self.run_op_benchmark(
                session, tf.matmul(x, x), {x: [[1.0, 2.0], [3.0, 4.0]]}, min_iters=3, store_trace=True,
                extras={"kind": "small"}, mbs=1,
            )  # fmt: skip


def _report(path):
    (entry,) = protobuf.message("BenchmarkEntries").FromString(path.read_bytes()).entry
    return entry


def test_a_run_is_reported(tmp_path, monkeypatch):
    monkeypatch.setenv("TEST_REPORT_FILE_PREFIX", f"{tmp_path}/")
    values = _Products().benchmark_product()
    entry = _report(tmp_path / "_Products.benchmark_product")
    assert entry.iters == 3
    assert entry.wall_time == values["wall_time"] > 0
    assert entry.throughput == values["throughput"]
    assert entry.extras["kind"].string_value == "small"
    assert entry.extras["allocator_maximum_num_bytes_cpu"].double_value >= 16
    assert "traceEvents" in values["extras"]["full_trace_chrome_format"]
    with pytest.raises(IOError, match="File already exists"):
        _Products().benchmark_product()


def test_reports_have_metrics(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TEST_REPORT_FILE_PREFIX", f"{tmp_path}/")
    _Products().report_benchmark(name="a/b", metrics=[{"name": "m", "value": 90, "max_value": 95}])
    (metric,) = _report(tmp_path / "_Products.a__b").metrics
    assert (metric.name, metric.value, metric.max_value.value) == ("m", 90, 95)
    assert not metric.HasField("min_value")
    with pytest.raises(TypeError, match="metrics must be a list"):
        _Products().report_benchmark(name="c", metrics={})
    with pytest.raises(TypeError, match="extras must be a dict"):
        _Products().report_benchmark(name="c", extras=[])
    monkeypatch.delenv("TEST_REPORT_FILE_PREFIX")
    _Products().report_benchmark(name="printed", iters=7)
    assert "iters: 7" in capsys.readouterr().out


def test_benchmarks_are_chosen_by_pattern(tmp_path, monkeypatch):
    monkeypatch.setenv("TEST_REPORT_FILE_PREFIX", f"{tmp_path}/")
    ran = []
    benchmark.benchmarks_main(lambda: ran.append("tests"), ["program"])
    with pytest.raises(SystemExit):
        benchmark.benchmarks_main(ran.clear, ["program", "--benchmarks=_Products.*product"])
    assert ran == ["tests"]
    assert _report(tmp_path / "_Products.benchmark_product").iters == 3


def test_the_configuration_keeps_nodes():
    rewriting = tf.test.benchmark_config().graph_options.rewrite_options
    assert rewriting.dependency_optimization == rewriting.OFF
