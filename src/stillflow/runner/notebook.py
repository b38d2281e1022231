"""`%load_ext stillflow` in a notebook: `import tensorflow` there, and what Colab's notebooks say before it."""

from __future__ import annotations

import re

from stillflow import errors
from stillflow.names import public
from stillflow.runner import surroundings

_HINT = (
    "The cell has been run before: its nodes and variables are still in the graph. Call tf.reset_default_graph() "
    "first, or restart the kernel."
)

# What a cell raises that makes its variables once more: by name, with other sizes now, or as w_1 beside w, which no
# checkpoint has.
_MADE_AGAIN = re.compile(
    r"Variable \S+ already exists, disallowed|Trying to share variable |Key \w\S*_\d+(/\S+)? not found in checkpoint"
)


@public("load_ipython_extension")
def load_ipython_extension(shell):
    """Makes `import tensorflow` mean stillflow in the notebook, and `%tensorflow_version 1.x` do nothing.

    Errors that come of running a cell again, whose variables exist already, end with a sentence that says what to do.
    """
    surroundings.install()
    shell.register_magic_function(_tensorflow_version, magic_name="tensorflow_version")
    shell.set_custom_exc((ValueError, errors.NotFoundError), _show_with_hint)


def _tensorflow_version(line):
    version = line.strip()
    if version and not version.startswith("1"):
        raise ValueError(f"stillflow is TensorFlow 1.15; there is no version {version}")


def _show_with_hint(shell, kind, error, trace, tb_offset=None):
    if _MADE_AGAIN.search(str(error)):
        _append(error, _HINT)
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset)


def _append(error, text):
    if isinstance(error, errors.OpError):
        error._message = f"{error.message}\n\n{text}"
    else:
        error.args = (f"{error}\n\n{text}",)
