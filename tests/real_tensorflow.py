"""Programs under a real TensorFlow, beside which tests with the marker `peer` run ours: `make test-peer`.

TensorFlow lies in the directory that STILLFLOW_PEER_TF1 (1.15.5) or STILLFLOW_PEER_TF2 (2) names, or where
tools/make_peers.py puts it. Without it the tests are skipped.
"""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PEERS = {"tf1": "TensorFlow 1.15.5", "tf2": "TensorFlow 2"}
_RUNS = 3


def _interpreter(name):
    """The interpreter of a peer; skips the test where there is none."""
    directory = Path(os.environ.get(f"STILLFLOW_PEER_{name.upper()}", ROOT / f".venv-{name}"))
    python = directory / "bin" / "python"
    if not python.exists():
        pytest.skip(f"{PEERS[name]} is not installed in {directory}: tools/make_peers.py could not, or did not run")
    return python


def run_tensorflow(name, *arguments):
    """What the peer's interpreter prints for the arguments, of which the first is a program, or "-c" and its text.

    Fails the test if the program fails. One that a signal ends is run again: some releases of TensorFlow crash now
    and then, in threads of their own, which says nothing of what the program does.
    """
    command = [str(_interpreter(name)), *map(str, arguments)]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    for _ in range(_RUNS):
        result = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600, check=False)
        if result.returncode >= 0:
            break
    assert result.returncode == 0, result.stderr[-3000:]
    return result.stdout
