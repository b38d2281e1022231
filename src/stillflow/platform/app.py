"""tf.app: the start of a program."""

from __future__ import annotations

import sys

from stillflow.names import public, public_module
from stillflow.platform import flags

public_module("python.platform.app")

__all__ = ["flags", "run"]


@public("app.run")
def run(main=None, argv=None):
    """Parses the flags, calls `main` with the remaining arguments, and exits with what it returns.

    Args:
      main: a function of a list of strings, the first of them the program's name; by default that of `__main__`.
      argv: the arguments; by default those of the process. Unknown flags are left for `main`.
    """
    from absl import app

    main = main or sys.modules["__main__"].main  # type: ignore[attr-defined]
    app.run(main=main, argv=argv, flags_parser=lambda args: flags.FLAGS(args, known_only=True))
