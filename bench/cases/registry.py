"""Where cases are registered, and what they share.

A case is a function of a module such as `tf` or `torch` that makes a function to time; `CASES` says who can run it.
The code runs under Python 3.7 as well.
"""

import threading

import numpy as np

CASES = {}
TENSORFLOWS = ("stillflow", "tf1", "tf2")


def case(name, engines, threads=(1, 2), bar=None, copy_bar=None, own_process=False):
    """Registers make(engine, threads) -> function to time; `engines` are names known to worker.py.

    The ratio to the fastest rival is to be `bar` at least, and that to a copy of as many bytes `copy_bar`. Nothing
    else can be measured in a process after a case that needs its `own_process`.
    """

    def register(make):
        CASES[name] = {
            "make": make,
            "engines": engines,
            "threads": threads,
            "bar": bar,
            "copy_bar": copy_bar,
            "own_process": own_process,
        }
        return make

    return register


def prepared(prepare, run):
    """`run`, with what is to be done before each call of it and is not timed."""
    run.prepare = prepare
    return run


def open_session(tf, threads):
    return tf.Session(
        config=tf.ConfigProto(intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads)
    )


def threaded_copy(source, target, threads):
    bounds = [len(source) * i // threads for i in range(threads + 1)]

    def copy(i):
        np.copyto(target[bounds[i] : bounds[i + 1]], source[bounds[i] : bounds[i + 1]])

    def run():
        others = [threading.Thread(target=copy, args=(i,)) for i in range(1, threads)]
        for other in others:
            other.start()
        copy(0)
        for other in others:
            other.join()

    return run
