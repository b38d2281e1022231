"""TensorFlow 1.15.5's own unit tests, run on TensorFlow and on stillflow: how many of what passes there passes here.

    tools/upstream_tests.py DIR [--folders python/ops,python/lib] [--cache FILE] [--failures FILE]

DIR holds TensorFlow's sources (DIR/tensorflow/python/...), which the user brings. Each test file runs in a process of
its own, each test under a time limit; a test that ends the process is noted, and the rest of its file runs in a new
one. What TensorFlow passes is kept in the cache, a file outside of the project.

Two engines: in graphs all tests run, eagerly those that TensorFlow runs in both ways.
"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

_TOOLS = Path(__file__).resolve().parent
_FOLDERS = "framework,ops,kernel_tests,training,data,summary,lib,client,saved_model"
# Of what is not in the API of TensorFlow 1, and of the tests' own tools.
_NEVER = re.compile("TFFunction|V2$(?<!WithControlFlowV2)")
_OF_TOOLS = re.compile(r"framework/(?:tf2|test_combinations|test_util|config)_test")
_KINDS = ("passed", "skipped", "missing", "wrong", "exception", "hang", "crash", "not reached")
# A file's tests run on in a new process after each that ended one.
_PROCESSES = 8


class Engine:
    """A process that runs files of tests: TensorFlow, or stillflow in graphs or eagerly."""

    def __init__(self, python, engine, folder, test_limit):
        command = [python, _TOOLS / "upstream_child.py", "--engine", engine, "--folder", folder]
        # Its standard output carries the results; what else is said does not matter.
        self._process = subprocess.Popen(
            [*map(str, command), "--test-limit", str(test_limit)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def run(self, path, limit):
        """{"file", "tests": {name: [status, kind of error, message, trace, seconds]}, "broken"} of a file."""
        record = {"file": path, "tests": {}, "broken": None, "collected": []}
        for _ in range(_PROCESSES):
            running, killed = self._run_once(record, path, limit)
            if running is None:
                if killed:
                    record["broken"] = ["Killed", killed, ""]
                break
            record["tests"][running] = ["hang" if killed == "time limit" else "crash", killed, "", "", 0]
        return record

    def _run_once(self, record, path, limit):
        """What runs of the file until it has ended. Returns the test that ended the process, if one did, and how."""
        request = {"path": path, "skip": list(record["tests"]), "limit": limit}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        running = None
        for line in self._process.stdout:
            try:
                line = json.loads(line)
            except ValueError:  # what a test wrote to a copy of the stream
                continue
            if "start" in line:
                running = line["start"]
            elif "end" in line:
                record["tests"][line["end"]] = line["outcome"]
                running = None
            elif "ended" in line:
                return running if line["killed"] else None, line["killed"]
            else:
                record.update({key: line[key] for key in ("collected", "broken") if key in line})
        raise RuntimeError(f"the process that runs the tests has ended at {path}")

    def close(self):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def classify(test):
    """(what kind of failure a test's outcome is, its reason)."""
    status, kind, message = test[:3]
    if status in ("crash", "hang") or kind == "TestLimit":
        return ("crash" if status == "crash" else "hang"), kind
    if kind == "MissingName":
        return "missing", message
    patterns = (
        r"stillflow has no (tensorflow[\w.]*|[\w.]+)",
        r"module '(?:stillflow|tensorflow)([\w.]*)' has no attribute '(\w+)'",
        r"No module named '([\w.]+)'",
        r"cannot import name '(\w+)'",
        r"(?:type )?object '?(\w+)'? has no attribute '(\w+)'",
        r"'(\w+)' object has no attribute '(\w+)'",
        r"(\w+\(\)) got an unexpected keyword argument '(\w+)'",
    )
    for pattern in patterns:
        found = re.search(pattern, message)
        if found and kind in ("AttributeError", "ModuleNotFoundError", "ImportError", "TypeError"):
            return "missing", ".".join(filter(None, found.groups()))
    if "Missing object" in message or "'Missing' object" in message:
        return "missing", "a name that is compared, not used"
    found = re.search(r"Op type not registered '(\w+)'", message)
    if found:
        return "missing", f"op {found.group(1)}"
    found = re.search(r"No OpKernel was registered to support '(\w+)' with (?:\w+ )*type (\w+)", message)
    if found:
        return "missing", f"kernel of {found.group(1)} for {found.group(2)}"
    line = (message.splitlines() or [""])[0]
    return ("wrong" if status == "failed" else "exception"), f"{kind}: {re.sub('[0-9]+', 'N', line)[:90]}"


def outcome(record, name):
    """(what became of a test that TensorFlow passes, the reason)."""
    test = record["tests"].get(name)
    if test is None:
        if record["broken"]:
            what, reason = classify(["error", *record["broken"]])
            return ("not reached" if what == "exception" else what), reason
        return "not reached", "not collected"
    if test[0] in ("passed", "skipped"):
        return test[0], ""
    return classify(test)


def passed_by_tensorflow(record):
    return [name for name, test in record["tests"].items() if test[0] == "passed" and not _NEVER.search(name)]


def compare(theirs, ours):
    """Counts per folder, and how often there was which reason, of records by file.

    Returns:
      ({folder: Counter}, Counter of (kind, reason), [(file, test, kind, reason, outcome)] of what failed).
    """
    folders, reasons, failures = {}, collections.Counter(), []
    for path, record in ours.items():
        row = folders.setdefault(os.path.dirname(path).partition("/")[2], collections.Counter())
        for name in passed_by_tensorflow(theirs[path]):
            what, reason = outcome(record, name)
            row["tensorflow"] += 1
            row[what] += 1
            if what not in ("passed", "skipped"):
                reasons[what, reason] += 1
                failures.append((path, name, what, reason, record["tests"].get(name)))
    return folders, reasons, failures


def table(folders):
    """The text of a table of counts per folder."""
    kinds = ("tensorflow", *_KINDS)
    lines = ["{:40} {}".format("folder", " ".join(f"{kind:>11}" for kind in kinds))]
    total = collections.Counter()
    for name, row in sorted(folders.items()):
        total.update(row)
        lines.append("{:40} {}".format(name[-40:], " ".join(f"{row[kind]:11}" for kind in kinds)))
    lines.append("{:40} {}".format("total", " ".join(f"{total[kind]:11}" for kind in kinds)))
    return "\n".join(lines)


def _path_of(name):
    """Where a folder or file of --folders lies: below tensorflow/python unless its name says another place."""
    if name.startswith("tensorflow_estimator/"):
        return name
    if name.startswith("contrib/"):
        return f"tensorflow/{name}"
    return f"tensorflow/python/{name.removeprefix('python/')}"


def _test_files(folder, folders):
    found = []
    for name in folders.split(","):
        top = Path(folder, _path_of(name))
        files = [top] if top.suffix == ".py" else sorted(top.rglob("*_test.py"))
        found += [str(path.relative_to(folder)) for path in files]
    return [path for path in found if not _OF_TOOLS.search(path)]


def _run_tensorflow(options, files):
    """What becomes of the files on TensorFlow, from the cache where it is there."""
    cache = Path(options.cache)
    cache.parent.mkdir(parents=True, exist_ok=True)
    known = {}
    if cache.exists():
        with cache.open() as lines:
            known = {record["file"]: record for record in map(json.loads, lines)}
    left = [path for path in files if path not in known]
    if left:
        engine = Engine(options.peer, "tensorflow", options.folder, options.test_limit)
        with cache.open("a") as lines:
            for path in left:
                known[path] = engine.run(path, options.limit)
                lines.write(json.dumps(known[path]) + "\n")
                lines.flush()
        engine.close()
    return known


def _run_stillflow(options, files, mode):
    engine = Engine(sys.executable, mode, options.folder, options.test_limit)
    found = {}
    for path in files:
        found[path] = engine.run(path, options.limit)
        if options.verbose:
            counts = collections.Counter(test[0] for test in found[path]["tests"].values())
            print(path, dict(counts), (found[path]["broken"] or [""])[:2], flush=True)
    engine.close()
    return found


def _peer():
    """The interpreter of TensorFlow 1.15.5: see tools/make_peers.py."""
    return os.path.join(os.environ.get("STILLFLOW_PEER_TF1", _TOOLS.parent / ".venv-tf1"), "bin", "python")


def _runs_in_both(path, folder):
    return "graph_and_eager_modes" in Path(folder, path).read_text(encoding="utf-8")


def _write_failures(file, failures):
    for path, name, what, reason, test in failures:
        text = "\n".join(((test or ["", "", "", ""])[3] + (test or ["", "", ""])[2]).splitlines()[-16:])
        file.write(f"=== {path} {name} [{what}] {reason}\n{text}\n\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="TensorFlow 1.15.5's sources")
    parser.add_argument(
        "--folders",
        default=_FOLDERS,
        help="below tensorflow/python, or contrib/..., tensorflow_estimator/...",
    )
    parser.add_argument("--modes", default="graph,eager")
    parser.add_argument("--peer", default=_peer(), help="TensorFlow 1.15.5's python")
    parser.add_argument("--cache", default=os.path.join(tempfile.gettempdir(), "stillflow-upstream.jsonl"))
    parser.add_argument("--limit", type=int, default=100, help="seconds for a file")
    parser.add_argument("--test-limit", type=int, default=20, help="seconds for a test")
    parser.add_argument("--failures", help="a file that gets the traces of what fails")
    parser.add_argument("--reasons", type=int, default=40, help="how many reasons to print")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    options.folder = os.path.abspath(options.folder)
    files = _test_files(options.folder, options.folders)
    if not files:
        parser.error(f"no *_test.py in {options.folder} below {options.folders}")
    theirs = _run_tensorflow(options, files)
    all_failures = []
    for mode in options.modes.split(","):
        chosen = [path for path in files if mode == "graph" or _runs_in_both(path, options.folder)]
        folders, reasons, failures = compare(theirs, _run_stillflow(options, chosen, mode))
        print(f"\n{mode}\n{table(folders)}\n")
        for (what, reason), count in reasons.most_common(options.reasons):
            print(f"{count:5} {what}: {reason}")
        all_failures += failures
    if options.failures:
        with open(options.failures, "w") as file:
            _write_failures(file, all_failures)


if __name__ == "__main__":
    main()
