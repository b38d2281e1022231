"""Makes the virtual environments of what runs beside stillflow in peer tests and benchmarks.

.venv-tf1           TensorFlow 1.15.5, where a Python 3.7 is found
.venv-tf2           tensorflow-cpu with its Keras of old, PyTorch and gensim, where a Python for TensorFlow 2 is found
.venv-tensorboard   TensorBoard, which shows what stillflow has written

What cannot be made is left out, with a line that says so; the tests that need it are then skipped.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
TF1 = ["tensorflow==1.15.5", "protobuf==3.20.3", "numpy==1.18.5"]
TF2 = ["tensorflow-cpu", "tf_keras", "torch==2.13.0", "gensim", "scipy"]
TENSORBOARD = ["tensorboard>=2.21,<3"]
NEW_PYTHONS = ["3.11", "3.12", "3.10", "3.13"]


def candidates(version):
    """Interpreters that may be of that version: on the path, and those that pyenv keeps."""
    found = shutil.which(f"python{version}")
    if found:
        yield found
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for path in sorted((pyenv / "versions").glob(f"{version}*/bin/python")):
        yield str(path)


def find_python(versions):
    for version in versions:
        for python in candidates(version):
            check = f"import sys, venv; sys.exit('%d.%d' % sys.version_info[:2] != '{version}')"
            if subprocess.run([python, "-c", check], capture_output=True, check=False).returncode == 0:
                return python
    return None


def make(name, versions, packages):
    directory = ROOT / name
    complete, wanted = directory / "complete", "\n".join(packages)
    if complete.exists() and complete.read_text() == wanted:
        return
    python = find_python(versions)
    if python is None:
        print(f"{name}: no Python {' or '.join(versions)} here, so its tests are skipped")
        return
    shutil.rmtree(directory, ignore_errors=True)
    commands = [
        [python, "-m", "venv", str(directory)],
        [str(directory / "bin" / "python"), "-m", "pip", "install", "--quiet", *packages],
    ]
    for command in commands:
        if subprocess.run(command, check=False).returncode != 0:
            print(f"{name}: {' '.join(packages)} cannot be installed, so its tests are skipped")
            return
    complete.write_text(wanted)


if __name__ == "__main__":
    make(".venv-tf1", ["3.7"], TF1)
    if "--tf1" not in sys.argv:
        make(".venv-tf2", NEW_PYTHONS, TF2)
        make(".venv-tensorboard", NEW_PYTHONS, TENSORBOARD)
