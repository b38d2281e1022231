"""Dumps of earlier runs: python -m tensorflow.python.debug.cli.offline_analyzer --dump_dir=FOLDER"""

from __future__ import annotations

import argparse
import sys

from stillflow.debug.cli.analyzer import create_analyzer_ui
from stillflow.debug.dumps.dump_dir import DebugDumpDir, has_inf_or_nan
from stillflow.names import public_module

public_module("python.debug.cli.offline_analyzer")


def _truth(text):
    return text.lower() == "true"


def main(argv=None):
    """Shows dumps until the user leaves. Exits with 1 if no folder is given."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--dump_dir", default="", help="The folder of the dumps of a run.")
    parser.add_argument("--log_usage", type=_truth, nargs="?", const=True, default=True, help="Not used.")
    parser.add_argument("--ui_type", default="curses", help="curses for the whole screen, or readline for lines.")
    parser.add_argument(
        "--validate_graph", type=_truth, nargs="?", const=True, default=True,
        help="Whether to check that the dumps fit the graphs.",
    )  # fmt: skip
    flags, _ = parser.parse_known_args(argv)
    if not flags.dump_dir:
        print("ERROR: dump_dir flag is empty.", file=sys.stderr)
        sys.exit(1)
    print(f"tfdbg offline: FLAGS.dump_dir = {flags.dump_dir}")
    dump = DebugDumpDir(flags.dump_dir, validate=flags.validate_graph)
    cli = create_analyzer_ui(dump, {"has_inf_or_nan": has_inf_or_nan}, ui_type=flags.ui_type)
    cli.run_ui(title=f"tfdbg offline @ {flags.dump_dir}", title_color="black_on_white", init_command="lt")


if __name__ == "__main__":
    main()
