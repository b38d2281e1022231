"""tf.contrib.testing.FakeSummaryWriter: a FileWriter that keeps what it is given."""

from __future__ import annotations

from typing import Any

from stillflow.contrib.testing.summaries import to_summary_proto
from stillflow.names import public
from stillflow.summary import writer
from stillflow.test_cases.meta_graph_difference import assert_meta_graph_protos_equal


@public("contrib.testing.FakeSummaryWriter")
class FakeSummaryWriter:
    """Stands for tf.summary.FileWriter in writers of folders, while it is installed, and keeps what it is given.

    Args:
      logdir: the folder.
      graph: a Graph, or None.
    """

    _replaced: Any = None

    @classmethod
    def install(cls):
        """Has FileWriterCache make these. Raises ValueError if it does already."""
        if cls._replaced:
            raise ValueError("FakeSummaryWriter already installed.")
        cls._replaced = writer.FileWriter
        writer.FileWriter = cls  # type: ignore[misc,assignment]

    @classmethod
    def uninstall(cls):
        """Has FileWriterCache make FileWriters again. Raises ValueError if it does already."""
        if not cls._replaced:
            raise ValueError("FakeSummaryWriter not installed.")
        writer.FileWriter = cls._replaced  # type: ignore[misc]
        cls._replaced = None

    def __init__(self, logdir, graph=None):
        self._logdir = logdir
        self._graph = graph
        self._summaries: dict[Any, list] = {}
        self._added_graphs: list = []
        self._added_meta_graphs: list = []
        self._added_session_logs: list = []
        self._added_run_metadata: dict = {}

    @property
    def summaries(self):
        """{step: a list of Summary messages}."""
        return self._summaries

    def assert_summaries(
        self, test_case, expected_logdir=None, expected_graph=None, expected_summaries=None,
        expected_added_graphs=None, expected_added_meta_graphs=None, expected_session_logs=None,
    ):  # fmt: skip
        """Compares what it was given, as far as something is expected.

        Args:
          test_case: a tf.test.TestCase.
          expected_logdir, expected_graph: what it was made with.
          expected_summaries: {step: {tag: number}}; "global_step/sec" does not count.
          expected_added_graphs, expected_added_meta_graphs, expected_session_logs: lists.
        """
        if expected_logdir is not None:
            test_case.assertEqual(expected_logdir, self._logdir)
        if expected_graph is not None:
            test_case.assertTrue(expected_graph is self._graph)
        for step, expected in (expected_summaries or {}).items():
            test_case.assertIn(step, self._summaries)
            values = (value for summary in self._summaries[step] for value in summary.value)
            found = {value.tag: value.simple_value for value in values if value.tag != "global_step/sec"}
            test_case.assertEqual(expected, found)
        if expected_added_graphs is not None:
            test_case.assertEqual(expected_added_graphs, self._added_graphs)
        if expected_added_meta_graphs is not None:
            test_case.assertEqual(len(expected_added_meta_graphs), len(self._added_meta_graphs))
            for expected, found in zip(expected_added_meta_graphs, self._added_meta_graphs, strict=True):
                assert_meta_graph_protos_equal(test_case, expected, found)
        if expected_session_logs is not None:
            test_case.assertEqual(expected_session_logs, self._added_session_logs)

    def add_summary(self, summ, current_global_step):
        """Keeps a Summary message, or a serialized one."""
        summary = to_summary_proto(summ) if isinstance(summ, bytes) else summ
        self._summaries.setdefault(current_global_step, []).append(summary)

    def add_graph(self, graph, global_step=None, graph_def=None):
        """Keeps a Graph. Raises ValueError for a step below 0, and a GraphDef."""
        _check_step(global_step)
        if graph_def is not None:
            raise ValueError(f"Unexpected graph_def {graph_def}.")
        self._added_graphs.append(graph)

    def add_meta_graph(self, meta_graph_def, global_step=None):
        """Keeps a MetaGraphDef. Raises ValueError for a step below 0."""
        _check_step(global_step)
        self._added_meta_graphs.append(meta_graph_def)

    def add_session_log(self, session_log, global_step=None):
        """Keeps a SessionLog."""
        self._added_session_logs.append(session_log)

    def add_run_metadata(self, run_metadata, tag, global_step=None):
        """Keeps RunMetadata by their tag. Raises ValueError for a step below 0."""
        _check_step(global_step)
        self._added_run_metadata[tag] = run_metadata

    def flush(self):
        """Does nothing: there is no file."""

    def reopen(self):
        """Does nothing: there is no file."""

    def close(self):
        """Does nothing: there is no file."""


def _check_step(step):
    if step is not None and step < 0:
        raise ValueError(f"Invalid global_step {step}.")
