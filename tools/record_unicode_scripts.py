"""Writes csrc/state_kernels/strings/unicode_script_runs.h: the script of each character in TensorFlow 1.15.5.

To be run with TensorFlow's Python (see make_peers.py):

    .venv-tf1/bin/python tools/record_unicode_scripts.py
"""

import sys
from pathlib import Path

import numpy as np
import tensorflow as tf

FILE = Path(__file__).resolve().parent.parent / "csrc/state_kernels/strings/unicode_script_runs.h"
HEAD = """// unicode_script_runs.h: where which script begins, by ICU's numbers, in Unicode 11, TensorFlow 1.15.5's.
// Written by tools/record_unicode_scripts.py.
#pragma once

#include <cstdint>

// clang-format off
namespace stillflow {
struct ScriptRun {
  uint32_t first : 24;
  uint32_t script : 8;
};
constexpr ScriptRun kScriptRuns[] = {
"""


def main():
    with tf.Session() as session:
        scripts = session.run(tf.strings.unicode_script(np.arange(sys.maxunicode + 1, dtype=np.int32)))
    lines = [""]
    for first in [0, *np.flatnonzero(np.diff(scripts)) + 1]:
        run = "{%d,%d}," % (first, scripts[first])
        if len(lines[-1]) + len(run) > 118:
            lines.append("")
        lines[-1] += run
    FILE.write_text(HEAD + "\n".join(lines) + "\n};\n}  // namespace stillflow\n")


if __name__ == "__main__":
    main()
