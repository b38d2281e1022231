"""Builds the engine with AddressSanitizer and UndefinedBehaviorSanitizer and runs the tests on it.

The build goes to build/sanitize, beside a copy of the Python sources. Python itself is not built so: the runtime
is loaded first. Leaks are not looked for, because Python keeps memory until its end; memory that grows with steps
has tests of its own.

    python tools/test_sanitize.py [arguments for pytest ...]
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
BUILD = ROOT / "build" / "sanitize"
PACKAGES = BUILD / "packages"


def build():
    shutil.copytree(ROOT / "src", PACKAGES, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    definitions = {
        "CMAKE_BUILD_TYPE": "RelWithDebInfo",
        "CMAKE_INSTALL_PREFIX": PACKAGES,
        "Python_EXECUTABLE": sys.executable,
        "STILLFLOW_SANITIZE": "ON",
    }
    arguments = [f"-D{name}={value}" for name, value in definitions.items()]
    cmake = [sys.executable, "-m", "cmake"]
    subprocess.check_call([*cmake, "-S", ROOT, "-B", BUILD / "cmake", "-G", "Ninja", *arguments])
    subprocess.check_call([*cmake, "--build", BUILD / "cmake", "--target", "install"])


def runtime():
    """The sanitizers' shared libraries, which have to be loaded before everything else."""
    compiler = os.environ.get("CXX", "c++")
    names = ("libasan.so", "libubsan.so", "libstdc++.so")
    paths = (subprocess.check_output([compiler, f"-print-file-name={name}"], text=True).strip() for name in names)
    return ":".join(path for path in paths if os.path.isabs(path))


def main(arguments):
    build()
    environment = {
        **os.environ,
        "LD_PRELOAD": runtime(),
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        "PYTHONPATH": str(PACKAGES),
        "PYTHONMALLOC": "malloc",
    }
    tests = [sys.executable, "-m", "pytest", "tests", "-m", "not peer and not release", "-n", "2", *arguments]
    return subprocess.call(tests, cwd=ROOT, env=environment)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
