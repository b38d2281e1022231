"""Runs a program or a module as Python itself would: arguments, `__main__`, tracebacks, exit codes."""

from __future__ import annotations

import importlib.util
import os
import runpy
import sys
import types
from importlib.machinery import SourceFileLoader

from stillflow.names import namespace


def run(path: str, arguments: list[str]) -> int:
    """Runs the program in the file `path`, which may `import tensorflow`.

    Returns 0, or 2 if the file cannot be read. What the program raises is reported as Python would, and raised.
    """
    if os.path.isdir(path):
        path = os.path.join(path, "__main__.py")
    full_path = os.path.abspath(path)
    try:
        with open(full_path, "rb") as file:
            source = file.read()
    except OSError as error:
        print(f"stillflow: can't open file {full_path!r}: [Errno {error.errno}] {error.strerror}", file=sys.stderr)
        return 2
    _prepare([path, *arguments], os.path.dirname(os.path.realpath(full_path)))
    main = _main_module(full_path)
    sys.modules["__main__"] = main
    return _execute(lambda: exec(compile(source, full_path, "exec", dont_inherit=True), main.__dict__))


def run_module(name: str, arguments: list[str]) -> int:
    """Runs a module as `python -m name` would; it may `import tensorflow`, or be one of tensorflow's own.

    Returns 0, or 1 if there is no such module, which is said as Python would say it.
    """
    _prepare([name, *arguments], os.getcwd())
    try:
        found = namespace.module_of(name.partition(".")[2]) if name.startswith("tensorflow.") else name
        is_there = importlib.util.find_spec(found) is not None
    except (ImportError, KeyError):
        is_there = False
    if not is_there:
        print(f"stillflow: No module named {name}", file=sys.stderr)
        return 1
    return _execute(lambda: runpy.run_module(found, run_name="__main__", alter_sys=True))


def _prepare(argv, folder):
    """What a program finds: its arguments, its path, a tensorflow, and Python and numpy much as they were."""
    from stillflow.runner import surroundings

    surroundings.install()
    sys.argv = argv
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = folder
    # Processes that multiprocessing starts anew have this sys.path, and nothing else of what is done here.
    sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "children"))


def _execute(program):
    try:
        program()
    except SystemExit:
        raise
    except BaseException as error:
        _report(error)
        raise
    return 0


def _main_module(full_path):
    main = types.ModuleType("__main__")
    main.__dict__.update(
        __file__=full_path,
        __builtins__=__builtins__,
        __loader__=SourceFileLoader("__main__", full_path),
        __annotations__={},
        __cached__=None,
    )
    return main


# What TensorFlow 1.15 brought along, and programs import without having asked for it.
_BROUGHT_ALONG = ("distutils", "h5py", "pkg_resources", "scipy", "setuptools", "six", "termcolor", "wrapt")


def _hint(error):
    """What else there is to say about an error that a program ends with."""
    from stillflow.runner import numpy_changes

    name = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    if name in _BROUGHT_ALONG:
        return f"stillflow: {name} came with TensorFlow 1.15; `pip install stillflow[programs]` brings it.\n"
    return numpy_changes.hint(error)


def _report(error):
    """Reports what the program raised, without the frames of the runner; the interpreter then says no more."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename in (__file__, runpy.__file__):
        trace = trace.tb_next
    error.__traceback__ = trace
    sys.excepthook(type(error), error, trace)
    sys.stderr.write(_hint(error))
    sys.excepthook = lambda *_: None
