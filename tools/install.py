"""Builds stillflow and installs it into the environment of the Python that runs this, with a line that tells how far
the compiler is.

    python tools/install.py native progress,plot    kernels for this machine's instruction set alone
    python tools/install.py all test,lint           kernels for all instruction sets

Everything the build says is in build/install.log; the end of it is shown if the build fails.
"""

import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOG = ROOT / "build" / "install.log"
STEP = re.compile(r"\[(\d+)/(\d+)\] \w+.*?([\w.]+?)(?:\.o)?\s*$")
SECONDS_BETWEEN_LINES = 15  # where lines are not overwritten


class Progress:
    """One line, which is overwritten on a terminal and repeated now and then elsewhere."""

    def __init__(self, stream):
        self._stream = stream
        self._started = time.monotonic()
        self._shown = 0.0

    def show(self, text, is_last=False):
        now = time.monotonic()
        seconds = int(now - self._started)
        line = f"{seconds // 60}:{seconds % 60:02} {text}"
        if self._stream.isatty():
            self._stream.write(f"\r\x1b[K{line}" + ("\n" if is_last else ""))
        elif is_last or now - self._shown >= SECONDS_BETWEEN_LINES:
            self._stream.write(line + "\n")
            self._shown = now
        self._stream.flush()


def install(isas, extras):
    command = [
        sys.executable, "-m", "pip", "install", "--verbose", "--disable-pip-version-check", "--no-build-isolation",
        "--config-settings=build-dir=build/venv", f"--config-settings=cmake.define.STILLFLOW_ISAS={isas}",
        f".[{extras}]",
    ]  # fmt: skip
    LOG.parent.mkdir(exist_ok=True)
    progress = Progress(sys.stdout)
    progress.show("preparing")
    with open(LOG, "w") as log:
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        )
        for line in process.stdout:
            log.write(line)
            step = STEP.search(line)
            if step:
                progress.show(f"compiling {step[1]} of {step[2]}: {step[3]}")
    failed = process.wait() != 0
    kind = "this machine's instruction set" if isas == "native" else "all instruction sets"
    progress.show("the build failed" if failed else f"installed, with kernels for {kind}", is_last=True)
    if failed:
        sys.stdout.write("".join(LOG.read_text().splitlines(keepends=True)[-60:]))
        sys.stdout.write(f"All of it is in {LOG}\n")
    return failed


if __name__ == "__main__":
    sys.exit(install(*sys.argv[1:3]))
