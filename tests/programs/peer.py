"""What a real TensorFlow makes of a program; runs in its Python, 3.7 or newer.

    python peer.py build NAME RESULT.npz             builds the program and runs it
    python peer.py import RUN.npz RESULT.npz         imports a graph, with its feeds, and runs it

RUN.npz holds what `describe` makes of a program: the GraphDef, the names of what to run, and the feeds.
"""

import importlib
import json
import os
import sys
import warnings

warnings.filterwarnings("ignore")
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np


def load():
    """TensorFlow 1's interface, of whichever TensorFlow there is."""
    import tensorflow

    if tensorflow.__version__.startswith("1."):
        return tensorflow
    tf = importlib.import_module("tensorflow.compat.v1")
    tf.disable_v2_behavior()
    return tf


def describe(program, initializer, graph_bytes):
    """A program as arrays, for another process to import and run."""
    after = program.get("after", {})
    names = {
        "initializer": initializer.name,
        "train": program["train"].name,
        "fetches": {key: tensor.name for key, tensor in program["fetches"].items()},
        "after": {key: tensor.name for key, tensor in after.items()},
        "steps": program["steps"],
    }
    arrays = {"graph": graph_bytes, "names": np.array(json.dumps(names))}
    for step in range(program["steps"]):
        for tensor, value in program["feed"](step).items():
            arrays["feed/{}/{}".format(step, tensor.name)] = value
    return arrays


def run_imported(tf, run):
    """{fetch: values step by step} of a described program."""
    names = json.loads(str(run["names"]))
    graph_def = tf.GraphDef()
    graph_def.ParseFromString(run["graph"].tobytes())
    feeds = [{} for _ in range(names["steps"])]
    for key in run:
        if key.startswith("feed/"):
            _, step, tensor = key.split("/", 2)
            feeds[int(step)][tensor] = run[key]
    with tf.Graph().as_default():
        tf.import_graph_def(graph_def, name="")
        with tf.Session() as session:
            session.run(names["initializer"])
            history = [session.run([names["train"], names["fetches"]], feed)[1] for feed in feeds]
            arrays = {key: np.array([values[key] for values in history]) for key in names["fetches"]}
            arrays.update(session.run(names["after"]))
    return arrays


def main(task, source, target):
    tf = load()
    if task == "build":
        sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        from programs import run_program

        arrays = run_program(tf, importlib.import_module("programs." + source))
    else:
        with np.load(source) as run:
            arrays = run_imported(tf, {key: run[key] for key in run.files})
    np.savez_compressed(target, **arrays)


if __name__ == "__main__":
    main(*sys.argv[1:])
