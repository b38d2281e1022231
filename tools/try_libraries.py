"""Installs libraries that stand on TensorFlow 1, unchanged from PyPI, and runs a program of each under stillflow.

    python tools/try_libraries.py [name ...]

The programs are those of tests/living_libraries; each checks what it has computed. Packages go to build/libraries.
They are installed without what they ask for (that would be TensorFlow, and more than the programs use), but with the
packages that the table names; NumPy is that of this Python.
"""

import os
import subprocess
import sys
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
FOLDER = os.path.join(ROOT, "build", "libraries")

PANDAS = ["pandas", "python-dateutil", "pytz", "tzdata", "six"]
SKLEARN = ["scikit-learn", "scipy", "joblib", "threadpoolctl", "narwhals", "cloudpickle"]
PLOTS = ["matplotlib", "pillow", "cycler", "pyparsing", "packaging", "kiwisolver", "fonttools", "contourpy"]
TYPER = ["typer", "click", "shellingham", "rich", "pygments", "markdown-it-py", "mdurl", "annotated-doc"]
HTTP = ["requests", "urllib3", "idna", "certifi", "charset-normalizer"]

# program: the library, what it needs beside, and what it is built with (None where there is a wheel).
LIBRARIES = {
    "calls_of_the_time": (
        "pandas", [*PANDAS[1:], *SKLEARN, *PLOTS, "networkx", "scikit-image", "lazy-loader", "imageio", "tifffile"],
        None,
    ),
    "deepctr_deepfm": ("deepctr==0.9.4", [*PANDAS, *HTTP, "h5py"], None),
    "deeplabcut_pose": (
        "deeplabcut==3.0.2",
        ["tf-slim==1.1.0", "absl-py", "scikit-image", "scipy", "lazy_loader", "packaging", "networkx", "pillow",
         "imageio", "tifffile"],
        None,
    ),
    "deepxde_burgers": (
        "deepxde==1.15.0",
        [*SKLEARN, *PLOTS, "python-dateutil", "six", "scikit-optimize", "pyaml", "pyyaml"],
        None,
    ),
    "librecommender_rankings": (
        "librecommender==0.6.10",
        [*PANDAS, *SKLEARN, "gensim", "smart_open", "wrapt", "tqdm"],
        ["cython<3", "setuptools", "wheel", "scipy"],
    ),
    "probability_hmc": (
        "tensorflow-probability==0.7.0", ["cloudpickle", "decorator", "scipy", "six"], None,
    ),
    "recommenders_ncf": (
        "recommenders==1.2.1", [*PANDAS, *SKLEARN, "tf-slim==1.1.0", "absl-py", "tqdm", "retrying"], None,
    ),
    "sonnet_graph_nets": (
        "graph-nets==1.1.0",
        ["dm-sonnet==1.36", "tensorflow-probability==0.7.0", "cloudpickle", "contextlib2", "decorator", "dm-tree",
         "absl-py", "attrs", "networkx", "scipy", "semantic_version", "six", "wrapt"],
        None,
    ),
    "spleeter_two_stems": (
        "spleeter==2.4.2",
        [*PANDAS, *TYPER, "norbert", "scipy", "httpx", "httpcore", "h11", "anyio", "sniffio", "idna", "certifi",
         "ffmpeg-python", "future", "typing_extensions"],
        None,
    ),
}  # fmt: skip

# What a program is run with: DeepXDE asks for 2.7 before it uses compat.v1.
OPTIONS = {"deepxde_burgers": ["--tensorflow-version", "2.7.0"]}


def install(packages, folder, built_with=None):
    """Installs packages into a folder, unless they are there; `built_with` is the folder of what builds them."""
    mark = os.path.join(folder, "installed.txt")
    text = "\n".join(packages)
    if os.path.exists(mark):
        with open(mark) as file:
            if file.read() == text:
                return
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", folder, *packages]
    environment = dict(os.environ)
    if built_with:
        command.append("--no-build-isolation")
        environment["PYTHONPATH"] = built_with
    subprocess.run(command, check=True, env=environment)
    with open(mark, "w") as file:
        file.write(text)


def run(program):
    """Runs a program under stillflow; returns whether it ended well, and prints how long it took."""
    library, needed, builders = LIBRARIES[program]
    own = os.path.join(FOLDER, library.replace("==", "-"))
    beside = os.path.join(FOLDER, program + "-needs")
    built_with = os.path.join(FOLDER, program + "-builders") if builders else None
    if builders:
        install(builders, built_with)
    install([library], own, built_with)
    install(needed, beside)
    script = os.path.join(ROOT, "tests", "living_libraries", program + ".py")
    start = time.monotonic()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([own, beside])}
    done = subprocess.run(
        [sys.executable, "-m", "stillflow", "run", *OPTIONS.get(program, ()), script], env=environment
    )
    result = "done" if done.returncode == 0 else f"FAILED with exit code {done.returncode}"
    print(f"{library}: {program}.py {result} in {time.monotonic() - start:.0f} s", flush=True)
    return done.returncode == 0


def main(names):
    outcomes = [run(name) for name in names or LIBRARIES]
    return 0 if all(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
