"""The arguments of the commands about the run itself."""

from __future__ import annotations

import argparse

from stillflow.debug.cli.command_parser import get_print_tensor_argparser


def _run():
    parser = argparse.ArgumentParser(
        description="Run through, with or without debug tensor watching.", usage=argparse.SUPPRESS
    )
    parser.add_argument("-t", "--times", type=int, default=1, help="How many Session.run() calls to go on with.")
    parser.add_argument("-n", "--no_debug", action="store_true", help="Run without debug tensor watching.")
    parser.add_argument(
        "-f", "--till_filter_pass", default="", help="Run until a tensor passes the filter of that name."
    )
    parser.add_argument(
        "-fenn", "--filter_exclude_node_names", default="",
        help="With -f: leave out nodes whose names match the regular expression.",
    )  # fmt: skip
    for what, example in (
        ("node_name", "loss, reshape.*"), ("op_type", "(MatMul|Add), Variable.*"), ("tensor_dtype", "float32, int.*"),
    ):  # fmt: skip
        parser.add_argument(
            f"--{what}_filter", default="",
            help=f"Watch only what this regular expression for the {what.replace('_', ' ')} fits, e.g., {example}",
        )  # fmt: skip
    parser.add_argument("-p", "--profile", action="store_true", help="Run and time the nodes.")
    return parser


RUN = _run()
RUN_INFO = argparse.ArgumentParser(
    description="Display information about this Session.run() call.", usage=argparse.SUPPRESS
)
PRINT_FEED = get_print_tensor_argparser("Print the value of a feed in feed_dict.")
