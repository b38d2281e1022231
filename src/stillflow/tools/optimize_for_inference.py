"""tensorflow.python.tools.optimize_for_inference: the program that rewrites a frozen graph for inference."""

from __future__ import annotations

from pathlib import Path

from stillflow.files.gfile import Exists, GFile
from stillflow.importer.graph_util import write_graph
from stillflow.names import public_module
from stillflow.tools import graph_files, optimize_for_inference_lib

public_module("python.tools.optimize_for_inference")


def main(flags):
    """Optimizes as the program's options say. Returns -1 if there is no such file."""
    if not Exists(flags.input):
        print("Input graph file '" + flags.input + "' does not exist!")
        return -1
    with GFile(flags.input, "rb") as file:
        graph_def = graph_files.parse(file.read(), "GraphDef", flags.frozen_graph)
    types = [int(value) for value in flags.placeholder_type_enum.split(",")]
    optimized = optimize_for_inference_lib.optimize_for_inference(
        graph_def,
        flags.input_names.split(","),
        flags.output_names.split(","),
        types if len(types) > 1 else types[0],
        flags.toco_compatible,
    )
    if flags.frozen_graph:
        graph_files.write(flags.output, optimized)
    else:
        path = Path(flags.output)
        write_graph(optimized, str(path.parent), path.name)
    return 0


if __name__ == "__main__":
    options = graph_files.Options()
    options.text("input", help="the file of a GraphDef")
    options.text("output", help="the file to write")
    options.text("input_names", help="the input nodes, separated by commas")
    options.text("output_names", help="the output nodes, separated by commas")
    options.switch("frozen_graph", True, help="whether the graph is binary and frozen, or text")
    options.text("placeholder_type_enum", "1", help="the DataType of placeholders, or a list of them")
    options.switch("toco_compatible", False, help="whether to keep to ops that TensorFlow Lite converts")
    options.run(main)
