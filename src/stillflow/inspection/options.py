"""The options of `stillflow ckpt`."""

from __future__ import annotations

from stillflow.inspection import hugging_face

_PATHS = (
    "a checkpoint (its path, or one of its files), a folder (its newest checkpoint, or its SavedModel), a MetaGraph "
    "(.meta, .pb, .pbtxt), or a file .npz or .safetensors"
)


def add_arguments(parser):
    """Adds the subcommands to an argparse parser."""
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")

    def add(name, text, *paths):
        command = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        for path, meaning in paths:
            command.add_argument(path, help=meaning)
        return command

    add("ls", "list names, types and shapes", ("path", _PATHS))
    show = add("show", "show statistics of the tensors, or the values of some", ("path", _PATHS))
    show.add_argument("names", nargs="*", help="the tensors whose values to show; of a MetaGraph, nodes")
    show.add_argument("--all", action="store_true", help="all values, however many")
    add("diff", "compare two: exit code 1 says that they differ", ("first", _PATHS), ("second", _PATHS))
    add("verify", "check all checksums: exit code 1 says that something is damaged", ("path", _PATHS))
    convert = add(
        "convert",
        "write the tensors to another file",
        ("source", _PATHS),
        ("target", "a file .npz or .safetensors, or the path of a new checkpoint"),
    )
    convert.add_argument(
        "--rename",
        nargs=2,
        action="append",
        default=[],
        metavar=("PATTERN", "REPLACEMENT"),
        help="replace what the regular expression matches in names; may be given several times",
    )
    convert.add_argument(
        "--names",
        choices=hugging_face.MODELS,
        help="tensors of GPT-2 or BERT as Hugging Face's transformers have them, in a file .safetensors",
    )
    convert.add_argument("--overwrite", action="store_true", help="write over a target that is there")
