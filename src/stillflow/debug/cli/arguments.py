"""The arguments of the commands that look through dumps."""

from __future__ import annotations

import argparse

from stillflow.debug.cli.command_parser import get_print_tensor_argparser

SORT_KEYS = ("timestamp", "dump_size", "op_type", "tensor_name")


def _parser(description):
    return argparse.ArgumentParser(
        description=description, usage=argparse.SUPPRESS, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def parsers(depth):
    """{command: its ArgumentParser}. `depth` is how far inputs and outputs are listed if it is not said."""
    return {
        "list_tensors": _list_tensors(),
        "node_info": _node_info(),
        "list_inputs": _neighbors("Show inputs to a node.", "inputs", depth),
        "list_outputs": _neighbors("Show the nodes that receive the outputs of given node.", "recipients", depth),
        "print_tensor": get_print_tensor_argparser("Print the value of a dumped tensor."),
        "print_source": _print_source(),
        "list_source": _list_source(),
        "eval": _eval(),
    }


def _list_tensors():
    parser = _parser("List dumped intermediate tensors.")
    parser.add_argument(
        "-f", "--tensor_filter", default="", help="List only tensors that pass the filter of that name."
    )
    parser.add_argument(
        "-fenn", "--filter_exclude_node_names", default="",
        help="With -f: leave out nodes whose names match the regular expression.",
    )  # fmt: skip
    parser.add_argument("-n", "--node_name_filter", default="", help="Filter node names by a regular expression.")
    parser.add_argument("-t", "--op_type_filter", default="", help="Filter op types by a regular expression.")
    parser.add_argument("-s", "--sort_by", default="timestamp", help=f"What to sort by: {' | '.join(SORT_KEYS)}.")
    parser.add_argument("-r", "--reverse", action="store_true", help="Sort in descending order.")
    return parser


def _add_node(parser):
    parser.add_argument("node_name", help="A node or one of its tensors, e.g., hidden1/MatMul, hidden1/MatMul:0")


def _node_info():
    parser = _parser("Show information about a node.")
    _add_node(parser)
    parser.add_argument("-a", "--attributes", action="store_true", help="Also list the attributes of the node.")
    parser.add_argument("-d", "--dumps", action="store_true", help="Also list the dumps of the node.")
    parser.add_argument(
        "-t", "--traceback", action="store_true", help="Also show where the node was made, if that is known."
    )
    return parser


def _neighbors(description, what, depth):
    parser = _parser(description)
    _add_node(parser)
    parser.add_argument("-c", "--control", action="store_true", help="Include control inputs.")
    parser.add_argument("-d", "--depth", type=int, default=depth, help="How deep to go with -r.")
    parser.add_argument("-r", "--recursive", action="store_true", help=f"Show {what} recursively, as a tree.")
    parser.add_argument("-t", "--op_type", action="store_true", help="Show op types.")
    return parser


def _print_source():
    parser = _parser("Print a Python source file with the nodes (ops) or tensors that were made at its lines.")
    parser.add_argument("source_file_path", help="The file.")
    parser.add_argument("-t", "--tensors", action="store_true", help="Label lines with dumped tensors.")
    parser.add_argument("-m", "--max_elements_per_line", type=int, default=10, help="At most so many to a line.")
    parser.add_argument("-b", "--line_begin", type=int, default=1, help="The line to begin with, from 1 on.")
    return parser


def _list_source():
    parser = _parser("List source files in which nodes and tensors of the run were made.")
    parser.add_argument("-p", "--path_filter", default="", help="Filter file paths by a regular expression.")
    parser.add_argument("-n", "--node_name_filter", default="", help="Filter node names by a regular expression.")
    return parser


def _eval():
    parser = _parser(
        "Evaluate an expression of Python, with numpy as np and dumped tensors in backticks. Write an expression\n"
        "with spaces in quotes. E.g.,\n"
        "  eval np.argmax(`Softmax:0`)\n"
        "  eval 'np.sum(`Softmax:0`, axis=1)'"
    )
    parser.add_argument(
        "expression",
        help="The expression. A tensor is node:output; before it, and a colon, there may be the name of a device, "
        "after it, and a colon, the debug op, and in brackets the number of a dump, e.g., `RNN/tanh:0[2]`, "
        "`/job:worker/replica:0/task:2/cpu:0:hidden_0/MatMul:0:DebugNanCount`.",
    )
    parser.add_argument("-a", "--all", dest="print_all", action="store_true", help="Print all elements.")
    parser.add_argument("-w", "--write_path", default="", help="A file to write the result to, with numpy.save().")
    return parser
