"""tensorflow.python.tools.import_pb_to_tensorboard: writes a graph for TensorBoard to show."""

from __future__ import annotations

from stillflow.graph.graph import Graph
from stillflow.importer.import_graph_def import import_graph_def
from stillflow.names import public_module
from stillflow.session.session import Session
from stillflow.summary.writer import FileWriter
from stillflow.tools import graph_files

public_module("python.tools.import_pb_to_tensorboard")


def import_to_tensorboard(model_dir, log_dir):
    """Writes the graph in the file `model_dir` as an event to the folder `log_dir`."""
    with Session(graph=Graph()) as sess:
        import_graph_def(graph_files.read(model_dir, "GraphDef", binary=True))
        FileWriter(log_dir).add_graph(sess.graph)
        print(f"Model Imported. Visualize by running: tensorboard --logdir={log_dir}")


if __name__ == "__main__":
    options = graph_files.Options()
    options.text("model_dir", required=True, help="the file of a binary GraphDef")
    options.text("log_dir", required=True, help="the folder for the event file")
    options.run(lambda flags: import_to_tensorboard(flags.model_dir, flags.log_dir))
