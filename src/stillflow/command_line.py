"""The command `stillflow`."""

from __future__ import annotations

import argparse
import sys
from importlib.metadata import version


def main(argv=None) -> int:
    """Runs the subcommand that the arguments name, or the program, and returns its exit code."""
    argv = sys.argv[1:] if argv is None else list(argv)
    program = argv[1:] if argv[:1] == ["run"] else argv
    if program is not argv:
        program = _without_options(program)
    if program is not argv and program[:1] == ["-m"] and len(program) > 1:
        from stillflow.runner import script

        return script.run_module(program[1], program[2:])
    if program and _is_program(program[0], is_named=program is not argv):
        from stillflow.runner import script

        return script.run(program[0], program[1:])
    parser = argparse.ArgumentParser(prog="stillflow", description="TensorFlow 1.x programs, run as written.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_run(commands)
    _add_word2vec(commands)
    _add_ckpt(commands)
    _add_serve(commands)
    _add_convert(commands)
    arguments = parser.parse_args(argv)
    return arguments.run(arguments)


def _without_options(program):
    """The arguments of `run` from the program on; does what the options before it ask for."""
    while program[:1] in (["--notice"], ["--tensorflow-version"]) and len(program) > 1:
        if program[0] == "--notice":
            print(f"stillflow: import tensorflow is stillflow {version('stillflow')} here.", file=sys.stderr)
            program = program[1:]
        else:
            _call_tensorflow(program[1])
            program = program[2:]
    return program


def _call_tensorflow(its_version):
    """Lets programs read another version than 1.15.5, for libraries that ask for a later one and use compat.v1."""
    import stillflow
    from stillflow.platform import version as release

    release.VERSION = stillflow.__version__ = its_version


def _is_program(argument, is_named):
    """Whether an argument is a program's file: after `run` anything is that is no option."""
    return not argument.startswith("-") and (is_named or argument.endswith((".py", ".pyw")))


def _add_run(commands):
    parser = commands.add_parser(
        "run",
        help="run a program that imports tensorflow",
        description="Runs a program that says `import tensorflow as tf`, unchanged, as `python script.py` would. The "
        "exit code is the program's; 2 says that its file cannot be read. `stillflow script.py` does the same, and "
        "`stillflow run -m module` what `python -m module` would.",
    )
    parser.add_argument("--notice", action="store_true", help="say on stderr whose tensorflow the program imports")
    parser.add_argument(
        "--tensorflow-version",
        metavar="VERSION",
        help="what tf.__version__ says instead of 1.15.5, for libraries that use compat.v1 and ask for a later one",
    )
    parser.add_argument("script", help="the program's file; or `-m` and a module's name")
    parser.add_argument("arguments", nargs="...", help="what the program finds in sys.argv")


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


def _add_ckpt(commands):
    from stillflow.inspection import options

    parser = commands.add_parser(
        "ckpt",
        help="look into checkpoints, MetaGraphs and SavedModels",
        description="Looks into checkpoints, MetaGraphs and SavedModels, and converts checkpoints. Exit code 1 says "
        "that something is damaged or differs, 2 that there is no such file, or the wrong one.",
    )
    options.add_arguments(parser)
    parser.set_defaults(run=_run_ckpt)


def _run_ckpt(arguments):
    from stillflow.inspection import command

    return command.run(arguments)


def _add_serve(commands):
    from stillflow.serving import command

    parser = commands.add_parser(
        "serve",
        help="answer requests for a SavedModel or a frozen graph",
        description="Serves a SavedModel or a frozen graph with TensorFlow Serving's REST API: predict, classify, "
        "regress, metadata and status. Needs the extra `serve`. Exit code 2 says that there is nothing to serve.",
    )
    command.add_arguments(parser)
    parser.set_defaults(run=command.run)


def _add_convert(commands):
    from stillflow.onnx_export import options

    parser = commands.add_parser(
        "convert",
        help="write a model as ONNX",
        description="Writes a SavedModel, a MetaGraph with its checkpoint, or a frozen graph as an ONNX model; needs "
        "the extra `onnx`. Exit code 2 says that something cannot be read, or has no counterpart in ONNX.",
    )
    options.add_arguments(parser)
    parser.set_defaults(run=_run_convert)


def _run_convert(arguments):
    from stillflow.onnx_export import command

    return command.run(arguments)


if __name__ == "__main__":
    sys.exit(main())
