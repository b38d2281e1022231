"""The command `stillflow`."""

from __future__ import annotations

import argparse
import sys


def main(argv=None) -> int:
    """Runs the subcommand that the arguments name and returns its exit code."""
    parser = argparse.ArgumentParser(prog="stillflow", description="TensorFlow 1.x programs, run as written.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_word2vec(commands)
    arguments = parser.parse_args(argv)
    return arguments.run(arguments)


def _add_word2vec(commands):
    from stillflow.word2vec import options

    parser = commands.add_parser(
        "word2vec",
        help="learn word vectors from a text",
        description="Learns word vectors from a text: skip-gram with noise-contrastive estimation. Exit code 2 "
        "says that an option or the corpus is bad.",
    )
    options.add_arguments(parser)
    parser.set_defaults(run=_run_word2vec)


def _run_word2vec(arguments):
    from stillflow.word2vec import command

    return command.run(arguments)


if __name__ == "__main__":
    sys.exit(main())
