"""Checkpoints, records and lines of text: what goes to files and comes from them."""

import atexit
import os
import shutil
import tempfile
import time

import numpy as np

from bench.cases.registry import TENSORFLOWS, case, open_session, prepared

MI = 1 << 20
VARIABLES = 8
FLOATS = 32 * MI  # of each: 1 GiB in all
CHUNK = 4 * MI
RAW = np.random.RandomState(0).bytes(CHUNK)


def new_folder():
    folder = tempfile.mkdtemp(prefix="bench")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def session_with_variables(tf, threads):
    for i in range(VARIABLES):
        tf.Variable(tf.random_uniform([FLOATS], seed=i), name="v%d" % i)
    session = open_session(tf, threads)
    session.run(tf.global_variables_initializer())
    return session


def raw_write(path):
    """As many bytes, written in one go to a new file and brought to the disk."""
    with open(path, "xb", buffering=0) as file:
        for _ in range(4 * VARIABLES * FLOATS // CHUNK):
            file.write(RAW)
        os.fsync(file.fileno())


def settle():
    """Waits until the disk has done what an earlier call, or another engine, has left to it."""
    os.sync()
    time.sleep(0.5)  # blocks that are freed are not waited for by that


@case("saving 1 GiB of float32", (*TENSORFLOWS, "copy"), threads=(2,), bar=3, copy_bar=0.8)
def saving(engine, threads):
    folder = new_folder()
    if engine.__name__ == "copy":
        path = os.path.join(folder, "raw")

        def start_anew():
            if os.path.exists(path):
                os.remove(path)
            settle()

        return prepared(start_anew, lambda: raw_write(path))
    session = session_with_variables(engine, threads)
    saver = engine.train.Saver(max_to_keep=1)
    return prepared(settle, lambda: saver.save(session, os.path.join(folder, "model"), write_meta_graph=False))


@case("restoring 1 GiB of float32 from the page cache", (*TENSORFLOWS, "copy"), threads=(2,), copy_bar=0.8)
def restoring(engine, threads):
    folder = new_folder()
    if engine.__name__ == "copy":
        path = os.path.join(folder, "raw")
        raw_write(path)
        kept = []

        def read():
            # As a restoration must: the old values are there until all new ones are.
            into = [np.empty(FLOATS, np.float32) for _ in range(VARIABLES)]
            with open(path, "rb", buffering=0) as file:
                for array in into:
                    view = memoryview(array).cast("B")
                    at = 0
                    while at < len(view):
                        at += file.readinto(view[at:])
            kept[:] = into

        return read
    session = session_with_variables(engine, threads)
    saver = engine.train.Saver()
    path = saver.save(session, os.path.join(folder, "model"), write_meta_graph=False)
    return lambda: saver.restore(session, path)


# ---- Examples and lines -----------------------------------------------------------------------------------------


def examples(tf, count):
    random = np.random.RandomState(0)

    def feature(i):
        if i < 4:
            return tf.train.Feature(float_list=tf.train.FloatList(value=random.rand(16)))
        if i < 8:
            return tf.train.Feature(int64_list=tf.train.Int64List(value=random.randint(0, 10**6, size=16)))
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"some words of text"]))

    def example():
        features = tf.train.Features(feature={"feature%d" % i: feature(i) for i in range(10)})
        return tf.train.Example(features=features).SerializeToString()

    return np.array([example() for _ in range(count)], object)


@case("parse_example of 1,000 examples with 10 features", TENSORFLOWS, bar=1.5)
def parse_example(tf, threads):
    serialized = tf.placeholder(tf.string, [None])
    features = {"feature%d" % i: tf.FixedLenFeature([16], tf.float32 if i < 4 else tf.int64) for i in range(8)}
    features.update(("feature%d" % i, tf.FixedLenFeature([], tf.string)) for i in (8, 9))
    parsed = tf.parse_example(serialized, features)
    operations = [tensor.op for tensor in parsed.values()]
    session = open_session(tf, threads)
    data = examples(tf, 1000)
    return lambda: session.run(operations, {serialized: data})


@case("decode_csv of 1,000 lines with 10 columns", TENSORFLOWS, bar=1.5)
def decode_csv(tf, threads):
    random = np.random.RandomState(0)
    lines = [",".join(["%.6f" % v for v in random.rand(8)] + ["17", "a word"]) for _ in range(1000)]
    text = tf.placeholder(tf.string, [None])
    columns = tf.decode_csv(text, [[0.0]] * 8 + [[0], [""]])
    operations = [column.op for column in columns]
    session = open_session(tf, threads)
    data = np.array([line.encode() for line in lines], object)
    return lambda: session.run(operations, {text: data})


# ---- Pipelines --------------------------------------------------------------------------------------------------


def one_pass(tf, dataset, threads):
    """A run goes through all batches."""
    iterator = tf.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    session = open_session(tf, threads)
    take = session.make_callable(element.op)

    def run():
        session.run(iterator.initializer)
        try:
            while True:
                take()
        except tf.errors.OutOfRangeError:
            pass

    return run


@case("tf.data: 1,000,000 numbers, shuffled among 10,000, in batches of 128", TENSORFLOWS, bar=2)
def shuffled_numbers(tf, threads):
    return one_pass(tf, tf.data.Dataset.range(1_000_000).shuffle(10_000, seed=1).batch(128), threads)


@case("tf.data: 1,000,000 rows of 4 floats, shuffled among 10,000, in batches of 128", TENSORFLOWS, bar=2)
def shuffled_rows(tf, threads):
    rows = np.random.RandomState(0).rand(1_000_000, 4).astype(np.float32)
    return one_pass(tf, tf.data.Dataset.from_tensor_slices(rows).shuffle(10_000, seed=1).batch(128), threads)


# ---- Queues and events ------------------------------------------------------------------------------------------


@case("FIFOQueue: an element in and out again, 1,000 times", TENSORFLOWS)
def queue(tf, threads):
    fifo = tf.FIFOQueue(10, tf.float32, [()])
    enqueue, dequeue = fifo.enqueue(1.0), fifo.dequeue().op
    session = open_session(tf, threads)
    put, take = session.make_callable(enqueue), session.make_callable(dequeue)

    def run():
        for _ in range(1000):
            put()
            take()

    return run


@case("FileWriter.add_summary of a scalar, 1,000 times", TENSORFLOWS, threads=(1,))
def add_summary(tf, threads):
    writer = tf.summary.FileWriter(new_folder())
    summary = tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=0.5)]).SerializeToString()

    def run():
        for i in range(1000):
            writer.add_summary(summary, i)

    return run
