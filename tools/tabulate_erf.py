"""Writes csrc/arithmetic/math/erf_table.h: the error function and its derivative at equidistant points.

python tools/tabulate_erf.py > csrc/arithmetic/math/erf_table.h
"""

from __future__ import annotations

import mpmath

mpmath.mp.dps = 60
# Of steps near 1/128, the one whose first points have values that are nearest to doubles: where the result is much
# smaller than the value at its point, the value's rounding error counts most.
STEP = mpmath.mpf(511) / 65536
BOUND = 5.95

HEAD = """\
// erf_table.h: the error function and its derivative at equidistant points, written by tools/tabulate_erf.py.
#pragma once

namespace stillflow {

constexpr double kErfStep = 511.0 / 65536;
constexpr double kErfBound = 5.95;  // from here on erf(x) is 1

// As many as there are indices of ten bits, which those of NaN may be.
constexpr int kErfPoints = 1024;

// clang-format off
"""


def write(name, values):
    print(f"constexpr double {name}[kErfPoints] = {{")
    texts = [f"{float(value).hex()}," for value in values]
    for begin in range(0, len(texts), 4):
        print("    " + " ".join(texts[begin : begin + 4]))
    print("};\n")


def main():
    print(HEAD)
    points = [index * STEP for index in range(int(mpmath.nint(BOUND / STEP)) + 1)]
    write("kErfOfPoints", [mpmath.erf(point) for point in points])
    write("kErfSlopes", [2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-(point**2)) for point in points])
    print("// clang-format on\n\n}  // namespace stillflow")


if __name__ == "__main__":
    main()
