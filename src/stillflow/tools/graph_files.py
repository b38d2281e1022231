"""Messages in files, binary or text, and the options that the programs of this package share."""

from __future__ import annotations

import argparse
import sys

from stillflow.files.gfile import Exists, GFile
from stillflow.formats import protobuf
from stillflow.platform import app


def parse(data: bytes | str, name: str, binary):
    """The message `name` ("GraphDef", ...) that bytes, or a text, hold."""
    from google.protobuf import text_format

    kind = protobuf.message(name)
    if binary:
        return kind.FromString(data)
    text = data.decode() if isinstance(data, bytes) else data
    return text_format.Merge(text, kind(), descriptor_pool=protobuf.pool())


def read(path, name, binary, what="graph"):
    """The message in a file. Raises OSError, worded with `what` the file should be, if there is none."""
    if not Exists(path):
        raise OSError(f"Input {what} file '{path}' does not exist!")
    with GFile(path, "rb" if binary else "r") as file:
        return parse(file.read(), name, binary)


def write(path, proto, binary=True):
    from google.protobuf import text_format

    with GFile(path, "wb" if binary else "w") as file:
        file.write(protobuf.to_bytes(proto) if binary else text_format.MessageToString(proto))


def names(text) -> list[str]:
    """What a comma separated list holds; blanks mean nothing."""
    return text.replace(" ", "").split(",")


class Options:
    """The options of a program: argparse's, and its way to tf.app.run with what is left over."""

    def __init__(self):
        self._parser = argparse.ArgumentParser()

    def text(self, name, default="", **settings):
        self._parser.add_argument(f"--{name}", default=default, **{"type": str, **settings})

    def number(self, name, default, help):
        self.text(name, default, type=int, help=help)

    def switch(self, name, default, help):
        """`--name`, `--name=true` and `--name=false`."""
        self.text(name, default, nargs="?", const=True, type=lambda value: value.lower() == "true", help=help)

    def run(self, program):
        """Calls program(the options), as tf.app.run calls a main."""
        options, others = self._parser.parse_known_args()
        app.run(main=lambda _: program(options), argv=[sys.argv[0], *others])
