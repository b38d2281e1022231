"""The cases of cases.py under pytest-benchmark, for the engines that live in this process.

    python -m pytest bench --benchmark-only

The other engines, and some cases, need processes of their own: `python -m bench` runs all of them side by side.
"""

import pytest

from bench.cases import CASES
from bench.worker import load, make

RUNS = [
    pytest.param(name, engine, threads, id=f"{name}-{engine}-{threads}")
    for name, case in CASES.items()
    for engine in case["engines"]
    if engine in ("stillflow", "numpy", "copy") and not case["own_process"]
    for threads in (case["threads"] if engine == "stillflow" else case["threads"][:1])
]


@pytest.mark.parametrize(("name", "engine", "threads"), RUNS)
def test_case(benchmark, name, engine, threads):
    benchmark.group = name
    run = make(CASES[name], load(engine, threads), threads)
    if hasattr(run, "prepare"):
        benchmark.pedantic(run, setup=run.prepare, rounds=5, warmup_rounds=1)
    else:
        run()
        benchmark(run)
