"""Says in one sentence what is missing to build stillflow: a newer Python, or a C++ compiler.

Written so that any Python runs it.
"""

import os
import subprocess
import sys
import tempfile

OLDEST = (3, 10)
PROGRAM = "#include <optional>\nint main() { std::optional<int> x = 0; return *x; }\n"


def compiles(compiler):
    directory = tempfile.mkdtemp()
    source = os.path.join(directory, "check.cc")
    with open(source, "w") as file:
        file.write(PROGRAM)
    command = compiler.split() + ["-std=c++17", source, "-o", os.path.join(directory, "check")]
    try:
        with open(os.devnull, "w") as null:
            return subprocess.call(command, stdout=null, stderr=null) == 0
    except OSError:
        return False


def main():
    if sys.version_info[:2] < OLDEST:
        found = ".".join(map(str, sys.version_info[:3]))
        return "stillflow needs Python 3.10 or newer, and {} is {}: set PYTHON to a newer one.".format(
            sys.executable, found
        )
    compilers = [os.environ["CXX"]] if os.environ.get("CXX") else ["c++", "g++", "clang++"]
    if not any(compiles(compiler) for compiler in compilers):
        return "stillflow needs a C++17 compiler, and none of {} works here: install g++ or clang.".format(
            ", ".join(compilers)
        )
    return None


if __name__ == "__main__":
    sys.exit(main())
