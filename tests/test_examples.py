"""The programs in examples/ run."""

import subprocess
import sys
from pathlib import Path

import numpy as np

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_word2vec(tmp_path):
    rng = np.random.default_rng(0)
    words = [f"{a}{b}" for a in "bcdfghklmn" for b in ("an", "er", "il", "op", "us", "et", "im")]
    text = tmp_path / "text.txt"
    text.write_text(" ".join(rng.choice(words, 3000)))
    result = subprocess.run(
        [sys.executable, EXAMPLES / "word2vec.py", text], capture_output=True, text=True, check=False, timeout=120
    )
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].startswith("step 0 of ")
    losses = [float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith("step ")]
    assert all(np.isfinite(losses))
    assert len(lines[-1].split(", ")) == 5


def test_word2vec_without_a_text_says_how_it_is_called():
    result = subprocess.run([sys.executable, EXAMPLES / "word2vec.py"], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "python examples/word2vec.py text.txt" in result.stderr
