"""Writes csrc/regex/case_folding.h: which characters differ in case alone, from Python's Unicode database.

python tools/make_case_folding.py
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

PATH = Path(__file__).resolve().parent.parent / "csrc" / "regex" / "case_folding.h"
# The Turkish letters i, whose cases are not those of i elsewhere.
EXCEPTIONS = {0x130, 0x131}

HEADER = """\
// case_folding.h: runs of characters and how far it is from each to the next that differs from it in case alone; from
// the last it goes back to the first. Written by tools/make_case_folding.py.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stillflow::regex {

// low, low + step, ... up to high: the other case is `delta` further.
struct CaseRun {
  int32_t low, high, step, delta;
};

// clang-format off
constexpr CaseRun kCaseRuns[] = {
"""
FOOTER = """\
};
// clang-format on

constexpr size_t kCaseRunCount = sizeof(kCaseRuns) / sizeof(kCaseRuns[0]);

}  // namespace stillflow::regex
"""


def next_cases():
    """{character: the next one that differs in case alone}"""
    classes = defaultdict(set)
    for rune in range(sys.maxunicode + 1):
        lower = chr(rune).upper().lower()
        if rune in EXCEPTIONS or len(chr(rune).upper()) != 1 or len(lower) != 1:
            lower = chr(rune).lower()
        if len(lower) == 1 and rune not in EXCEPTIONS:
            classes[lower].add(rune)
    found = {}
    for members in classes.values():
        ordered = sorted(members)
        if len(ordered) > 1:
            found.update(zip(ordered, ordered[1:] + ordered[:1], strict=True))
    return found


def runs(following):
    """(low, high, step, delta), in order of `low`."""
    left = dict(sorted(following.items()))
    while left:
        low = next(iter(left))
        delta = left[low] - low
        best = (low, low, 1)
        for step in (1, 2):
            high = low
            while left.get(high + step, -1) - (high + step) == delta:
                high += step
            if high > best[1]:
                best = (low, high, step)
        low, high, step = best
        for rune in range(low, high + 1, step):
            del left[rune]
        yield low, high, step, delta


def main():
    entries = [f"{{0x{low:X}, 0x{high:X}, {step}, {delta}}}" for low, high, step, delta in runs(next_cases())]
    lines, line = [], "   "
    for entry in entries:
        if len(line) + len(entry) + 2 > 118:
            lines.append(line)
            line = "   "
        line += f" {entry},"
    PATH.write_text(HEADER + "\n".join([*lines, line]) + "\n" + FOOTER)
    print(len(entries), "runs")


if __name__ == "__main__":
    main()
