"""%load_ext stillflow."""

import subprocess
import sys

import pytest

import stillflow as tf


class Shell:
    """What IPython's shell offers an extension."""

    def __init__(self):
        self.magics, self.shown = {}, []

    def register_magic_function(self, function, magic_name):
        self.magics[magic_name] = function

    def set_custom_exc(self, kinds, handler):
        self.kinds, self.handler = kinds, handler

    def showtraceback(self, error, tb_offset=None):
        self.shown.append(str(error[1]))


@pytest.fixture
def shell(monkeypatch):
    changes = ("tensorflow_modules", "numpy_changes", "python_calls", "loaded_submodules", "libraries")
    for name in (*(f"{module}.install" for module in changes), "stand_in_for_gpus"):
        # which other tests of this process do not expect
        monkeypatch.setattr(f"stillflow.runner.surroundings.{name}", lambda *_: None)
    found = Shell()
    tf.load_ipython_extension(found)
    return found


def test_the_version_is_1(shell):
    assert shell.magics["tensorflow_version"]("1.x") is None
    with pytest.raises(ValueError, match="there is no version 2.x"):
        shell.magics["tensorflow_version"]("2.x")


def test_an_error_of_a_cell_that_runs_again_says_what_to_do(shell):
    tf.get_variable("v", [2])
    with pytest.raises(ValueError, match="already exists") as caught:
        tf.get_variable("v", [2])
    shell.handler(shell, ValueError, caught.value, None)
    assert "tf.reset_default_graph()" in shell.shown[-1]
    for error in (
        ValueError("other"),
        tf.errors.NotFoundError(None, None, "Key v_1 not found in checkpoint"),
        tf.errors.NotFoundError(None, None, "Key w not found in checkpoint"),
        ValueError("Trying to share variable v, but specified shape (3,) and found shape (2,)."),
    ):
        shell.handler(shell, type(error), error, None)
    assert ["tf.reset_default_graph()" in text for text in shell.shown] == [True, False, True, False, True]


def test_tensorflow_can_be_imported_and_flags_bear_the_kernels_arguments():
    program = (
        "import sys, types; sys.argv = ['launcher.py', '-f', 'kernel.json']; sys.modules['ipykernel'] = types\n"
        "import stillflow\n"
        "class Shell:\n"
        "    register_magic_function = set_custom_exc = lambda *a, **k: None\n"
        "stillflow.load_ipython_extension(Shell())\n"
        "import tensorflow as tf\n"
        "tf.app.flags.DEFINE_integer('steps', 3, '')\n"
        "print(tf.app.flags.FLAGS.steps)\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr) == ("3\n", "")
