"""The tables of README.md, made of baseline.json."""

from pathlib import Path

from bench.cases import CASES

README = Path(__file__).parent / "README.md"
BEGIN, END = "<!-- made by `python -m bench --update` -->\n", "<!-- end -->"


def tables(baselines):
    """Markdown: ratios to the fastest rival, and to a copy of as many bytes."""
    rival = _table("faster than the fastest rival, times", "bar", "", baselines)
    return (
        f"{rival}\n{_table('faster than a copy of as many bytes, times', 'copy_bar', ', against a copy', baselines)}"
    )


def write_tables(baselines):
    text = README.read_text()
    before, rest = text.split(BEGIN)
    README.write_text(before + BEGIN + tables(baselines) + END + rest.split(END)[1])


def _table(title, bar, suffix, baselines):
    threads = [(processor, count) for processor in baselines for count in (1, 2)]
    head = [title, "bar", *(f"{name.replace('(R)', '')}, {_threads(count)}" for name, count in threads)]
    lines = [head, ["---"] * len(head)]
    for name, case in CASES.items():
        ratios = [baselines[processor].get(f"{name}, {_threads(count)}{suffix}") for processor, count in threads]
        if any(ratios):
            lines.append([name, _number(case[bar]), *map(_number, ratios)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _threads(count):
    return "1 thread" if count == 1 else f"{count} threads"


def _number(ratio):
    return "" if ratio is None else f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.2f}"
