"""tf.summary.FileWriter: summaries, graphs and the like as events of a file; and FileWriterCache."""

from __future__ import annotations

import functools
import threading
import warnings

from stillflow.files.filesystem import path_text, system_of, typed_errors, write_atomically
from stillflow.formats import protobuf
from stillflow.graph.default_graph import get_default_graph, require_graph
from stillflow.graph.graph import Graph
from stillflow.names import public
from stillflow.platform.compat import as_bytes
from stillflow.saver.meta_graph import export_meta_graph
from stillflow.summary import event_files
from stillflow.summary.event_files import EventFileWriter, SharedEventFileWriter, event_bytes
from stillflow.summary.plugin_asset import get_all_plugin_assets


@public("summary.FileWriter", "train.SummaryWriter")
class FileWriter:
    """Writes summaries and graphs to an event file in a directory, for TensorBoard.

    Adding something only puts it into a queue; a thread writes it. Several threads may add at a time. What fails
    in the thread is raised by the calls that follow.

    Args:
      logdir: the directory, made if it is not there.
      graph: a Graph to add.
      max_queue: how many events may wait to be written before adding one waits too.
      flush_secs: how long an event may stay out of the file.
      graph_def: a GraphDef to add; deprecated.
      filename_suffix: what to put behind the file's name.
      session: the FileWriters of a session write what goes to one `logdir` into one file.

    Raises:
      tf.errors.FailedPreconditionError: if `logdir` is a file.
      ValueError: if both `graph` and `graph_def` are given.
    """

    def __init__(
        self, logdir, graph=None, max_queue=10, flush_secs=120, graph_def=None, filename_suffix=None, session=None
    ):
        require_graph("tf.summary.FileWriter is not compatible with eager execution. Use tf.contrib.summary instead.")
        make = EventFileWriter if session is None else functools.partial(SharedEventFileWriter, session)
        self.event_writer = make(logdir, max_queue, flush_secs, filename_suffix)
        self._tags_with_metadata: set[str] = set()
        self._run_tags: set[str] = set()
        if graph is not None or graph_def is not None:
            self._add_collections(*self._add_graph(graph, None, graph_def))

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def get_logdir(self):
        """The directory."""
        return self.event_writer.get_logdir()

    def _add(self, field, content, step):
        if self.event_writer.is_closed:
            warnings.warn(
                "Attempting to use a closed FileWriter. The operation will be a noop unless the FileWriter is "
                "explicitly reopened.",
                stacklevel=3,
            )
        self.event_writer.add(event_bytes(field, content, None if step is None else int(step)))

    # ---- What can be added ----------------------------------------------------------------------------------------

    def add_summary(self, summary, global_step=None):
        """Adds a Summary message, or a serialized one as `session.run` returns it.

        Of each tag only the first value keeps its metadata. Raises DecodeError for bytes that are no Summary.
        """
        message = protobuf.message("Summary")
        if isinstance(summary, bytes):
            serialized, summary = summary, message.FromString(summary)
        else:
            values = summary.value
            serialized = protobuf.to_bytes(summary)
            if any(value.HasField("metadata") for value in values):
                summary = message.FromString(serialized)  # the caller keeps theirs as it is
        is_changed = False
        for value in summary.value:
            if value.HasField("metadata"):
                if value.tag in self._tags_with_metadata:
                    value.ClearField("metadata")
                    is_changed = True
                self._tags_with_metadata.add(value.tag)
        self._add(event_files.SUMMARY, protobuf.to_bytes(summary) if is_changed else serialized, global_step)

    def add_graph(self, graph, global_step=None, graph_def=None):
        """Adds a Graph, with the shapes that are known and with its collections.

        Raises:
          ValueError: if both `graph` and `graph_def` are given.
          TypeError: if it is neither a Graph nor a GraphDef.
        """
        self._add_graph(graph, global_step, graph_def)

    def _add_graph(self, graph, global_step, graph_def):
        """Does what `add_graph` says. Returns (what was given, its GraphDef)."""
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        graph = graph_def if graph is None else graph
        if isinstance(graph, Graph):
            proto = graph.as_graph_def(add_shapes=True)
        elif isinstance(graph, protobuf.message("GraphDef")):
            proto = graph
        else:
            raise TypeError("The passed graph must be an instance of `Graph` or the deprecated `GraphDef`")
        self._add(event_files.GRAPH_DEF, protobuf.to_bytes(proto), global_step)
        if isinstance(graph, Graph):
            self._write_plugin_assets(graph)
        return graph, proto

    def _write_plugin_assets(self, graph):
        """The files of the graph's plugin assets, in the folder plugins/NAME beside the event file."""
        for asset in get_all_plugin_assets(graph):
            folder = f"{self.get_logdir()}/plugins/{asset.plugin_name}"
            with typed_errors(folder):
                system, path = system_of(folder)
                system.make_dirs(path)
                for name, content in asset.assets().items():
                    write_atomically(f"{folder}/{name}", as_bytes(content))

    def _add_collections(self, graph, graph_def):
        """The MetaGraphDef of a Graph, or of a GraphDef, that is written when the writer is made."""
        of = {"graph": graph} if isinstance(graph, Graph) else {}
        self.add_meta_graph(export_meta_graph(graph_def=graph_def, **of))

    def add_meta_graph(self, meta_graph_def, global_step=None):
        """Adds a MetaGraphDef message. Raises TypeError for others."""
        if not isinstance(meta_graph_def, protobuf.message("MetaGraphDef")):
            raise TypeError(f"meta_graph_def must be type MetaGraphDef, saw type: {type(meta_graph_def)}")
        self._add(event_files.META_GRAPH_DEF, protobuf.to_bytes(meta_graph_def), global_step)

    def add_session_log(self, session_log, global_step=None):
        """Adds a SessionLog message."""
        self._add(event_files.SESSION_LOG, protobuf.to_bytes(session_log), global_step)

    def add_run_metadata(self, run_metadata, tag, global_step=None):
        """Adds what `session.run` told about a run, under a tag. Raises ValueError for a tag that was used."""
        if tag in self._run_tags:
            raise ValueError("The provided tag was already used for this event type")
        self._run_tags.add(tag)
        tagged = protobuf.message("TaggedRunMetadata")(tag=tag, run_metadata=protobuf.to_bytes(run_metadata))
        self._add(event_files.TAGGED_RUN_METADATA, protobuf.to_bytes(tagged), global_step)

    def add_event(self, event):
        """Adds an Event message as it is."""
        if self.event_writer.is_closed:
            warnings.warn("Attempting to use a closed FileWriter.", stacklevel=2)
        self.event_writer.add_event(event)

    # ---- The file -------------------------------------------------------------------------------------------------

    def flush(self):
        """Returns when all that was added is in the file. Raises tf.errors for what the file system refuses."""
        self.event_writer.flush()

    def close(self):
        """Writes what is waiting and closes the file; what is added later is dropped with a warning."""
        self.event_writer.close()

    def reopen(self):
        """Makes the writer usable again after close, with a new file; does nothing before."""
        self.event_writer.reopen()


@public("summary.FileWriterCache", "python.training.summary_io.SummaryWriterCache")
class FileWriterCache:
    """A FileWriter for each directory."""

    _cache: dict[str, FileWriter] = {}
    _lock = threading.RLock()

    @staticmethod
    def clear():
        """Closes and forgets them all."""
        with FileWriterCache._lock:
            for writer in FileWriterCache._cache.values():
                writer.close()
            FileWriterCache._cache.clear()

    @staticmethod
    def get(logdir):
        """The writer for a directory, with the default graph if it is a new one."""
        logdir = path_text(logdir)
        with FileWriterCache._lock:
            if logdir not in FileWriterCache._cache:
                FileWriterCache._cache[logdir] = FileWriter(logdir, graph=get_default_graph())
            return FileWriterCache._cache[logdir]


@public("summary.get_summary_description")
def get_summary_description(node_def):
    """The SummaryDescription that a TensorSummary node carries. Raises ValueError for other nodes."""
    if node_def.op != "TensorSummary":
        raise ValueError(f"Can't get_summary_description on {node_def.op}")
    from google.protobuf import json_format

    description = protobuf.message("SummaryDescription")()
    json_format.Parse(node_def.attr["description"].s.decode(), description)
    return description
