"""Writes csrc/regex/unicode_categories.h and unicode_scripts.h: the sets of characters that \\p{...} names.

Categories are from Python's Unicode database, scripts from Perl's, so `perl` has to be there:

    python tools/make_unicode_classes.py
"""

from __future__ import annotations

import subprocess
import sys
import unicodedata
from collections import defaultdict
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "csrc" / "regex"

# Prints the script of each character, or nothing for those without.
PERL = r"""
use Unicode::UCD qw(prop_invmap);
my ($starts, $names) = prop_invmap("Script");
for my $i (0 .. $#$starts) {
    my $high = $i < $#$starts ? $starts->[$i + 1] - 1 : 0x10FFFF;
    print "$names->[$i] $starts->[$i] $high\n";
}
"""


def categories():
    """{category of two letters: ranges}"""
    found = defaultdict(list)
    for rune in range(sys.maxunicode + 1):
        category = unicodedata.category(chr(rune))
        if category != "Cn":
            ranges = found[category]
            if ranges and ranges[-1][1] == rune - 1:
                ranges[-1][1] = rune
            else:
                ranges.append([rune, rune])
    return found


def scripts():
    """{script: ranges}"""
    found = defaultdict(list)
    printed = subprocess.run(["perl", "-e", PERL], capture_output=True, check=True, text=True).stdout
    for line in printed.splitlines():
        name, low, high = line.split()
        if name not in ("Unknown", "Zzzz"):
            found[name].append([int(low), int(high)])
    return found


def write(stem, what, classes):
    lines = [
        f"// {stem}.h: the characters of each {what} of Unicode. Written by tools/make_unicode_classes.py.",
        "#pragma once",
        "",
        '#include "regex/syntax.h"',
        "",
        "// clang-format off",
        f"namespace stillflow::regex::{stem} {{",
    ]
    for name, ranges in sorted(classes.items()):
        line = f"constexpr RuneRange k{name}[] = {{"
        for low, high in ranges:
            entry = f"{{{low},{high}}},"
            if len(line) + len(entry) > 118:
                lines.append(line)
                line = ""
            line += entry
        lines.append(line + "};")
    line = "constexpr struct { const char* name; const RuneRange* ranges; size_t count; } kAll[] = {"
    for name, ranges in sorted(classes.items()):
        entry = f'{{"{name}",k{name},{len(ranges)}}},'
        if len(line) + len(entry) > 118:
            lines.append(line)
            line = ""
        line += entry
    lines += [line + "};", f"}}  // namespace stillflow::regex::{stem}", "// clang-format on", ""]
    (FOLDER / f"{stem}.h").write_text("\n".join(lines))
    print(stem, len(lines), "lines")


if __name__ == "__main__":
    write("unicode_categories", "general category", categories())
    write("unicode_scripts", "script", scripts())
