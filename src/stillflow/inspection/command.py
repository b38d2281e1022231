"""What `stillflow ckpt` does, and its exit codes."""

from __future__ import annotations

import os
import sys

from stillflow import errors
from stillflow.inspection import conversion, report
from stillflow.inspection.sources import DamageError, InputError, open_source


def run(arguments) -> int:
    """Runs a subcommand. Returns 0; 1 if something differs or is damaged; 2 for bad input, which stderr names."""
    try:
        return _ACTIONS[arguments.action](arguments)
    except InputError as error:
        return _fail(error, 2)
    except DamageError as error:
        return _fail(error, 1)
    except (errors.OpError, OSError) as error:
        if isinstance(error, BrokenPipeError):  # nobody reads on
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        return _fail(getattr(error, "message", error), 2)


def _fail(error, code):
    print(f"stillflow ckpt: {error}", file=sys.stderr)
    return code


def _print(lines):
    """Prints the lines, and says whether there were any."""
    is_empty = True
    for line in lines:
        print(line)
        is_empty = False
    sys.stdout.flush()
    return not is_empty


def _list(arguments):
    _print(report.listing(open_source(arguments.path)))
    return 0


def _show(arguments):
    source = open_source(arguments.path)
    _print(report.values(source, arguments.names, arguments.all) if arguments.names else report.statistics(source))
    return 0


def _diff(arguments):
    return int(_print(report.differences(open_source(arguments.first), open_source(arguments.second))))


def _verify(arguments):
    source = open_source(arguments.path)
    if _print(source.verify()):
        return 1
    print(f"{arguments.path}: {source.kind}, {len(source.entries)} tensors, nothing is damaged")
    return 0


def _convert(arguments):
    source = open_source(arguments.source)
    _print(conversion.convert(source, arguments.target, arguments.rename, arguments.overwrite, arguments.names))
    return 0


_ACTIONS = {"ls": _list, "show": _show, "diff": _diff, "verify": _verify, "convert": _convert}
