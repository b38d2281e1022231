"""One engine in a process of its own: times cases on request, a line of JSON each way.

    python worker.py stillflow|tf1|tf2|numpy|torch|copy THREADS

says {} when the engine is loaded, then reads {"case": name, "seconds": s} and answers {"seconds": median time of a
call, "calls": n}. Only the worker that is asked works, so engines can take turns on one machine.
"""

import importlib
import json
import os
import statistics
import sys
import time
import types
import warnings

warnings.filterwarnings("ignore")
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_USE_LEGACY_KERAS"] = "1"  # TensorFlow 2 has Keras 3 otherwise, and no cells of recurrent nets


def limit_threads(threads):
    """Holds the process to as many processors, the same ones for all engines: one may be slower than another.

    Before numpy is loaded, because it and others look only then for how many threads they may have.
    """
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = str(threads)


def load(name, threads):
    if name == "tf1":
        tf = importlib.import_module("tensorflow")
        tf.compat.v1.logging.set_verbosity("ERROR")
        return tf
    if name == "tf2":
        tf = importlib.import_module("tensorflow.compat.v1")
        tf.disable_v2_behavior()
        tf.logging.set_verbosity("ERROR")
        return tf
    if name == "copy":
        return types.SimpleNamespace(__name__="copy")
    engine = importlib.import_module(name)
    if name == "torch":
        engine.set_num_threads(threads)
    return engine


def make(case, engine, threads):
    """What is to be timed; the graph of the case before, with its arrays, is given up."""
    if hasattr(engine, "reset_default_graph"):
        engine.reset_default_graph()
    return case["make"](engine, threads)


def measure(run, seconds):
    """The median time of a call, over as many as fit: at least 5, or 1 of those that take longer than `seconds`."""
    prepare = getattr(run, "prepare", None)

    def timed():
        if prepare:
            prepare()
        start = time.perf_counter()
        run()
        return time.perf_counter() - start

    warm_up = time.perf_counter() + seconds
    for _ in range(3):
        timed()
        if time.perf_counter() > warm_up:
            break
    times = []
    end = time.perf_counter() + seconds
    while len(times) < (1 if times and times[0] > seconds else 5) or time.perf_counter() < end:
        times.append(timed())
    return statistics.median(times), len(times)


def main(name, threads):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    limit_threads(threads)
    from bench.cases import CASES

    engine = load(name, threads)
    made = {}
    print("{}", flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        key = request["case"]
        if key not in made:
            made.clear()  # one case at a time in memory
            made[key] = make(CASES[key], engine, threads)
        median, calls = measure(made[key], request["seconds"])
        print(json.dumps({"seconds": median, "calls": calls}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
