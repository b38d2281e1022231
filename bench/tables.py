"""One page of figures per machine, machines/*.md, made of baseline.json."""

import re
from pathlib import Path

from bench.cases import CASES

MACHINES = Path(__file__).parent / "machines"
HEAD = ["", "bar", "1 thread", "2 threads", "bar", "1 thread", "2 threads"]


def write_tables(baselines):
    """Writes a page for each machine in baseline.json."""
    MACHINES.mkdir(exist_ok=True)
    for processor, ratios in baselines.items():
        slug = re.sub(r"[^a-z0-9]+", "-", processor.lower().replace("(r)", "")).strip("-")
        (MACHINES / f"{slug}.md").write_text(page(processor, ratios))


def page(processor, ratios):
    """A machine's table: times faster than the fastest rival, then than a copy of as many bytes."""
    lines = [HEAD, ["---"] * len(HEAD)]
    for name, case in CASES.items():
        rival = [ratios.get(f"{name}, {threads}") for threads in ("1 thread", "2 threads")]
        copy = [ratios.get(f"{name}, {threads}, against a copy") for threads in ("1 thread", "2 threads")]
        if any(rival) or any(copy):
            lines.append([name, *map(_number, (case["bar"], *rival, case["copy_bar"], *copy))])
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return (
        f"# {processor.replace('(R)', '')}\n\n"
        "Made by `python -m bench --update`. The first three columns: the fastest rival's time to stillflow's; the\n"
        "last three: a copy's of as many bytes.\n\n"
        f"{table}"
    )


def _number(ratio):
    return "" if ratio is None else f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.2f}"
