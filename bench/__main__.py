"""`python -m bench`: runs the cases on every engine there is, side by side, and compares with the baseline.

Engines take turns on each case, several rounds, so that what else the machine does meets them all; the figure
of an engine is the median of its rounds. What is kept and compared is the ratio of the fastest rival's time to
ours: times of shared machines are noise.

    python -m bench [--cases WORD ...] [--rounds N] [--seconds S] [--update]
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

from bench.cases import CASES
from bench.tables import write_tables

ROOT = Path(__file__).parent.parent
BASELINE = ROOT / "bench" / "baseline.json"
MOST_LOST = 0.2  # a ratio that falls by more than this share is named


def interpreters():
    """{engine: python} of the engines that are installed."""
    found = {"stillflow": sys.executable, "numpy": sys.executable, "copy": sys.executable}
    tf1, tf2 = (Path(os.environ.get(f"STILLFLOW_PEER_{n}", ROOT / f".venv-{n.lower()}")) for n in ("TF1", "TF2"))
    if (tf1 / "bin" / "python").exists():
        found["tf1"] = str(tf1 / "bin" / "python")
    if (tf2 / "bin" / "python").exists():
        found["tf2"] = found["torch"] = str(tf2 / "bin" / "python")
    return found


class Worker:
    """An engine in its process; see worker.py."""

    def __init__(self, engine, python, threads):
        self.engine = engine
        self._process = subprocess.Popen(
            [python, str(ROOT / "bench" / "worker.py"), engine, str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def wait_until_loaded(self):
        """An engine that is still loading would take the processors from the one that is measured."""
        self._process.stdout.readline()

    def measure(self, case, seconds):
        """Seconds per call, or None if the engine fails."""
        try:
            print(json.dumps({"case": case, "seconds": seconds}), file=self._process.stdin, flush=True)
            return json.loads(self._process.stdout.readline())["seconds"]
        except (OSError, ValueError):
            return None

    def close(self):
        self._process.kill()
        self._process.wait()


def side_by_side(name, threads, pythons, rounds, seconds):
    """{engine: median seconds} of the engines that can run the case."""
    engines = [engine for engine in CASES[name]["engines"] if engine in pythons]
    workers = [Worker(engine, pythons[engine], threads) for engine in engines]
    times = {engine: [] for engine in engines}
    try:
        for worker in workers:
            worker.wait_until_loaded()
        for _ in range(rounds):
            for worker in workers:
                found = worker.measure(name, seconds)
                if found is not None:
                    times[worker.engine].append(found)
    finally:
        for worker in workers:
            worker.close()
    return {engine: statistics.median(values) for engine, values in times.items() if values}


def ratios_of(key, times):
    """{key: ratio} to the fastest rival, and to a copy of as many bytes where one was timed."""
    ours = times.get("stillflow")
    rivals = [seconds for engine, seconds in times.items() if engine not in ("stillflow", "copy")]
    found = {}
    if ours and rivals:
        found[key] = min(rivals) / ours
    if ours and "copy" in times:
        found[f"{key}, against a copy"] = times["copy"] / ours
    return found


def cpu():
    """The processor's name with its family and model: machines of several generations go by one name."""
    try:
        lines = [line.partition(":") for line in Path("/proc/cpuinfo").read_text().splitlines()]
        of = {key.strip(): value.strip() for key, _, value in reversed(lines)}
        return f"{of['model name']}, family {of['cpu family']}, model {of['model']}"
    except (OSError, KeyError):
        return platform.processor() or platform.machine()


def text(seconds):
    return f"{seconds * 1e6:,.1f} us" if seconds < 1e-3 else f"{seconds * 1e3:,.2f} ms"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="+", default=[""], help="run only cases whose name has one of these in it")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.4, help="per engine and round")
    parser.add_argument("--update", action="store_true", help="write the ratios to baseline.json and README.md")
    arguments = parser.parse_args()
    pythons = interpreters()
    print(f"{cpu()}, {os.cpu_count()} processors; engines: {', '.join(sorted(pythons))}\n")
    ratios = {}
    for name, case in CASES.items():
        if not any(word in name for word in arguments.cases):
            continue
        for threads in case["threads"]:
            times = side_by_side(name, threads, pythons, arguments.rounds, arguments.seconds)
            ratios.update(found := ratios_of(f"{name}, {threads} thread{'s' if threads > 1 else ''}", times))
            for key, ratio in found.items():
                print(f"{ratio:6.2f}x  {key}")
            print(
                "         " + "  ".join(f"{engine} {text(seconds)}" for engine, seconds in times.items()), flush=True
            )
    return report(ratios, arguments.update)


def expected_ratios(baselines):
    """{key: ratio} of this processor; for one that was never measured, the lowest of all others."""
    if cpu() in baselines:
        return baselines[cpu()]
    keys = {key for ratios in baselines.values() for key in ratios}
    return {key: min(ratios[key] for ratios in baselines.values() if key in ratios) for key in keys}


def report(ratios, updates):
    baselines = json.loads(BASELINE.read_text())
    expected = expected_ratios(baselines)
    fallen = {
        key: (expected[key], ratio)
        for key, ratio in ratios.items()
        if key in expected and ratio < (1 - MOST_LOST) * expected[key]
    }
    for key, (before, now) in fallen.items():
        print(f"fallen: {key}: {now:.2f}x, was {before:.2f}x")
    if updates:
        kept = baselines.setdefault(cpu(), {})
        kept.update({key: round(ratio, 3) for key, ratio in ratios.items()})
        BASELINE.write_text(json.dumps(baselines, indent=1) + "\n")
        write_tables(baselines)
    return 1 if fallen and not updates else 0


if __name__ == "__main__":
    sys.exit(main())
