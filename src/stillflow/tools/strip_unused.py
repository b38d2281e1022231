"""tensorflow.python.tools.strip_unused: the program that strips a graph to what lies between inputs and outputs."""

from __future__ import annotations

from stillflow.names import public_module
from stillflow.tools import graph_files, strip_unused_lib

public_module("python.tools.strip_unused")


def main(flags):
    """Strips as the program's options say."""
    return strip_unused_lib.strip_unused_from_files(**vars(flags))


if __name__ == "__main__":
    options = graph_files.Options()
    options.text("input_graph", help="the file of a GraphDef")
    options.switch("input_binary", False, help="whether it is binary")
    options.text("output_graph", help="the file to write")
    options.switch("output_binary", True, help="whether to write it binary")
    options.text("input_node_names", help="the input nodes, separated by commas")
    options.text("output_node_names", help="the output nodes, separated by commas")
    options.number("placeholder_type_enum", 1, help="the DataType of placeholders")
    options.run(main)
