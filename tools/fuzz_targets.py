"""What tools/fuzz.py gives mutated inputs to: everything that reads bytes which somebody else may have written."""

from __future__ import annotations

import gzip
import traceback
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
from google.protobuf import text_format
from google.protobuf.message import DecodeError
from stillflow._corpus import Corpus, find_non_text

import stillflow as tf
from stillflow.formats import protobuf
from stillflow.word2vec import text, vectors

DATA = Path(__file__).resolve().parent.parent / "tests" / "data"
GOLDEN = DATA.parent / "golden"

# How bad input is refused.
EXPECTED = (
    tf.errors.OpError, ValueError, TypeError, DecodeError, NotImplementedError, EOFError, OSError, zlib.error,
    text_format.ParseError, MemoryError, RuntimeError,
)  # fmt: skip
# Nodes that would write files, wait for ever, take long by what they are for, or end the process as they should.
_NOT_RUN = (
    "Save", "Write", "Merge", "Print", "Queue", "Stack", "Barrier", "Stage", "Server", "Socket", "Random", "Shuffle",
    "Iterator", "Dataset", "Loop", "Enter", "NextIteration", "Accumulator", "While", "PyFunc", "Reader", "Summary",
)  # fmt: skip
_MOST_BYTES_OF_SEEDS = 60_000


class Target(NamedTuple):
    """`prepare()` returns samples and a function that reads bytes; it is called in the process that does the work."""

    name: str
    prepare: object


TARGETS: dict = {}


def _target(function):
    name = function.__name__.strip("_")
    TARGETS[name] = Target(name, function)
    return function


def verdict(consume, data):
    """What reading the bytes raises that no caller expects, and where; "" for nothing."""
    try:
        consume(data)
    except EXPECTED:
        return ""
    except Exception as error:
        if isinstance(error, KeyError) and "refers to" in str(error):  # a name that is not in a graph
            return ""
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})".replace("\n", " ")[
            :300
        ]
    return ""


def _files(*patterns):
    found = [path for pattern in patterns for path in sorted(DATA.glob(pattern)) if path.is_file()]
    return [path.read_bytes() for path in found if 0 < path.stat().st_size <= _MOST_BYTES_OF_SEEDS]


def _callable(build, *kinds):
    """session.run of build(placeholders) for fed values."""
    with tf.Graph().as_default():
        fed = [tf.placeholder(kind, []) for kind in kinds or (tf.string,)]
        fetched = build(*fed)
        session = tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=1))
        return session.make_callable(fetched, fed)


# ---- Graphs -------------------------------------------------------------------------------------------------------


def _graphs():
    found = []
    for path in sorted((GOLDEN / "snippets").glob("*.npz")):
        with np.load(path, allow_pickle=True) as arrays:
            for name in arrays.files:
                array = arrays[name]
                if array.dtype == np.uint8 and array.ndim == 1 and 0 < array.size < 6000 and "/" not in name:
                    found.append(array.tobytes())
    return found


def _imported(data):
    graph_def = tf.GraphDef.FromString(data)
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(graph_def, name="")
    return graph


@_target
def import_graph_def():
    return _graphs(), _imported


@_target
def run_graph_def():
    """Also runs what needs nothing fed and is done soon."""

    def consume(data):
        graph = _imported(data)
        operations = graph.get_operations()
        if any(word in op.type for op in operations for word in _NOT_RUN):
            return
        options = tf.ConfigProto(operation_timeout_in_ms=3000, intra_op_parallelism_threads=1)
        with tf.Session(graph=graph, config=options) as session:
            for op in operations[-6:]:
                try:
                    session.run(op.outputs or op)
                except EXPECTED:
                    continue

    return _graphs(), consume


@_target
def meta_graph():
    def consume(data):
        Path("m.meta").write_bytes(data)
        with tf.Graph().as_default():
            tf.train.import_meta_graph("m.meta")

    return _files("formats/**/*.meta"), consume


@_target
def saved_model():
    def consume(data):
        Path("model").mkdir(exist_ok=True)
        Path("model/saved_model.pb").write_bytes(data)
        with tf.Graph().as_default(), tf.Session() as session:
            tf.saved_model.loader.load(session, ["train"], "model")

    return _files("formats/**/saved_model.pb"), consume


# ---- Files --------------------------------------------------------------------------------------------------------


def _checkpoint_parts():
    """(bytes of the index, bytes of the data) of checkpoints, as one: its length comes first."""
    found = []
    for index in sorted(DATA.glob("formats/checkpoints/**/*.index")):
        shards = sorted(index.parent.glob(f"{index.stem}.data-*-of-00001"))
        if shards and index.stat().st_size + shards[0].stat().st_size < _MOST_BYTES_OF_SEEDS:
            head = index.read_bytes()
            found.append(len(head).to_bytes(4, "little") + head + shards[0].read_bytes())
    return found


@_target
def checkpoint():
    def consume(data):
        count = int.from_bytes(data[:4], "little")
        Path("c.index").write_bytes(data[4 : 4 + count])
        Path("c.data-00000-of-00001").write_bytes(data[4 + count :])
        reader = tf.train.NewCheckpointReader("c")
        for name in reader.get_variable_to_shape_map():
            try:
                reader.get_tensor(name)
            except EXPECTED:
                continue

    return _checkpoint_parts(), consume


@_target
def checkpoint_v1():
    def consume(data):
        Path("old").write_bytes(data)
        reader = tf.train.NewCheckpointReader("old")
        for name in reader.get_variable_to_shape_map():
            reader.get_tensor(name)

    return _files("formats/checkpoints/v1*/*"), consume


@_target
def checkpoint_state():
    def consume(data):
        Path("checkpoint").write_bytes(data)
        tf.train.get_checkpoint_state(".")
        tf.train.latest_checkpoint(".")

    return _files("formats/**/checkpoint"), consume


@_target
def records():
    def consume(data):
        Path("r").write_bytes(data)
        for kind in ("", "GZIP", "ZLIB"):
            options = tf.python_io.TFRecordOptions(getattr(tf.python_io.TFRecordCompressionType, kind or "NONE"))
            try:
                for _ in tf.python_io.tf_record_iterator("r", options):
                    pass
            except EXPECTED:
                continue

    return _files("records/*.tfrecord"), consume


@_target
def file_datasets():
    def next_of(dataset):
        return tf.compat.v1.data.make_initializable_iterator(dataset)

    with tf.Graph().as_default() as graph:
        iterators = [next_of(tf.data.TFRecordDataset("r", kind)) for kind in ("", "GZIP", "ZLIB")]
        iterators += [next_of(tf.data.TextLineDataset("r", kind)) for kind in ("", "GZIP", "ZLIB")]
        iterators.append(next_of(tf.data.FixedLengthRecordDataset("r", 3, 1, 1)))
        pairs = [(iterator.initializer, iterator.get_next()) for iterator in iterators]
    session = tf.Session(graph=graph)

    def consume(data):
        Path("r").write_bytes(data)
        for initializer, element in pairs:
            try:
                session.run(initializer)
                while True:
                    session.run(element)
            except EXPECTED:
                continue

    return _files("records/*.tfrecord"), consume


@_target
def events():
    def consume(data):
        Path("e").write_bytes(data)
        for _ in tf.train.summary_iterator("e"):
            pass

    return _files("events/events*"), consume


@_target
def word_vectors():
    def consume(data):
        Path("v").write_bytes(data)
        vectors.read("v")

    vectors.write_text("t", ["a", "é", "c"], np.ones((3, 4)))
    vectors.write_binary("b", ["a", "é", "c"], np.ones((3, 4)))
    return [Path("t").read_bytes(), Path("b").read_bytes()], consume


@_target
def corpus():
    def consume(data):
        if find_non_text(data) < 0:
            Corpus(text.spelled_alike(data))

    return [
        "The cat's mat\n\n“Ärger” über alles\u2029你好 x².\n".encode(),
        b"plain text\n\nand more of it\n",
    ], consume


# ---- Messages and texts -------------------------------------------------------------------------------------------


def _examples():
    paths = [DATA / "records" / "examples_plain.tfrecord", DATA / "records" / "sequence.tfrecord"]
    return [record for path in paths for record in tf.python_io.tf_record_iterator(str(path))][:40]


@_target
def examples():
    feature = tf.FixedLenFeature([], tf.float32, 0.0)
    build = {
        "float": {"x": tf.VarLenFeature(tf.float32), "f": feature},
        "int": {"i": tf.VarLenFeature(tf.int64), "j": tf.FixedLenFeature([2], tf.int64, [1, 2])},
        "text": {"s": tf.VarLenFeature(tf.string), "t": tf.FixedLenFeature([2], tf.string, ["", ""])},
    }
    names = sorted(set(_names_of_features()))
    for index, name in enumerate(names):
        kind = (tf.float32, tf.int64, tf.string)[index % 3]
        build["float"][name] = tf.VarLenFeature(kind)
    singles = [_callable(lambda s, f=f: tf.parse_single_example(s, f)) for f in build.values()]
    batches = [_callable(lambda s, f=f: tf.parse_example([s, s], f)) for f in build.values()]
    sequence = {"a": tf.FixedLenSequenceFeature([], tf.int64), "b": tf.VarLenFeature(tf.float32)}
    singles.append(_callable(lambda s: tf.parse_single_sequence_example(s, build["int"], sequence)))
    singles.append(_callable(tf.io.decode_json_example))

    def consume(data):
        for run in singles + batches:
            try:
                run(data)
            except EXPECTED:
                continue

    return [*_examples(), b'{"features": {"feature": {"a": {"int64List": {"value": ["1"]}}}}}'], consume


def _names_of_features():
    for record in _examples():
        yield from tf.train.Example.FromString(record).features.feature


@_target
def tensors():
    runs = [_callable(lambda s, t=t: tf.parse_tensor(s, t)) for t in (tf.float32, tf.string, tf.int64, tf.complex64)]
    samples = [np.arange(6.0, dtype=np.float32).reshape(2, 3), np.array([b"a", b"bc"], object), np.int64(7)]
    seeds = [tf.make_tensor_proto(sample).SerializeToString() for sample in samples]
    seeds += [tf.make_tensor_proto([1j, 2.0], tf.complex64).SerializeToString()]

    def consume(data):
        for run in runs:
            try:
                run(data)
            except EXPECTED:
                continue
        tf.make_ndarray(protobuf.message("TensorProto").FromString(data))

    return seeds, consume


@_target
def texts():
    """Numbers, tables, base64, compressed bytes, raw bytes, formats."""
    runs = [
        _callable(lambda s: tf.decode_csv(s, [[0.5], [1], [""]])),
        _callable(lambda s: tf.decode_csv(s, [[0.5], [1], [""]], use_quote_delim=False)),
        _callable(tf.string_to_number), _callable(lambda s: tf.string_to_number(s, tf.int64)),
        _callable(tf.decode_base64), _callable(lambda s: tf.decode_raw(s, tf.int32)),
        _callable(lambda s: tf.io.decode_compressed(s, "ZLIB")),
        _callable(lambda s: tf.io.decode_compressed(s, "GZIP")),
        _callable(lambda s: tf.string_split([s], " ").values),
        _callable(lambda s: tf.strings.length(s, unit="UTF8_CHAR")),
        _callable(lambda s: tf.strings.substr(s, 1, 2, unit="UTF8_CHAR")), _callable(tf.strings.lower),
    ]  # fmt: skip
    seeds = [
        b'1.5,2,"a ""b"" c"', b"-1e10,-3,x", b"0x1F", b"nan", "é你好 ß".encode(), b"YWJjZA",
        zlib.compress(b"abc" * 9), gzip.compress(b"text" * 9), b"12345678",
    ]  # fmt: skip

    def consume(data):
        for run in runs:
            try:
                run(data)
            except EXPECTED:
                continue

    return seeds, consume


@_target
def regular_expressions():
    match = _callable(lambda pattern: tf.strings.regex_full_match(["aaab", "", "é x9-"], pattern))
    replace = _callable(lambda pattern: tf.regex_replace(["aaab", "", "é x9-"], pattern, "<\\0\\1>"))
    rewrite = _callable(lambda rewrite: tf.regex_replace("abc", "(b)(c)", rewrite))

    def consume(data):
        for run in (match, replace, rewrite):
            try:
                run(data)
            except EXPECTED:
                continue

    return [
        rb"(a|b)*c+?[^x-z\d]{2,5}$", rb"(?i)\bfoo\pL(?P<n>x)\x{1F600}", rb"[[:alpha:]_]+|^\s*\Qa.b\E", rb"\1x\\0",
        rb"((a{1,9}){1,9}){1,9}", rb"(?s:.)(?-i:A)\C*",
    ], consume  # fmt: skip


# ---- Images and sound ---------------------------------------------------------------------------------------------


def _bmp():
    pixels = bytes(range(48))
    header = b"BM" + (54 + 48).to_bytes(4, "little") + bytes(4) + (54).to_bytes(4, "little")
    return header + (40).to_bytes(4, "little") + (4).to_bytes(4, "little") * 2 + b"\1\0\x18\0" + bytes(24) + pixels


def _png(dtype, channels):
    image = (np.arange(5 * 4 * channels) * 997).astype(dtype).reshape(5, 4, channels)
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(tf.image.encode_png(image))


_GIF = (
    b"GIF89a\x02\x00\x02\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x00\x00\x00\x00\x00,\x00\x00\x00\x00\x02\x00"
    b"\x02\x00\x00\x02\x03D\x02\x05\x00;"
)


@_target
def images():
    builds = [tf.image.decode_png, tf.image.decode_bmp, tf.image.decode_image]
    builds.append(lambda s: tf.image.decode_png(s, 3, tf.uint16))
    for optional in (tf.image.decode_gif, tf.image.decode_jpeg):
        builds.append(optional)
    runs = [_callable(build) for build in builds]
    seeds = [_png(np.uint8, channels) for channels in (1, 2, 3, 4)] + [_png(np.uint16, 3), _bmp(), _GIF]

    def consume(data):
        for run in runs:
            try:
                run(data)
            except EXPECTED:
                continue

    return seeds, consume


@_target
def text_messages():
    """Messages as text, as tf.train.write_graph and checkpoints have them."""
    with tf.Graph().as_default() as graph:
        tf.add(tf.constant([1.0, 2.0], name="a"), tf.placeholder(tf.float32, [2], "b"), name="c")
    sample = text_format.MessageToString(graph.as_graph_def()).encode()

    def consume(data):
        graph_def = text_format.Parse(data.decode("utf-8", "replace"), tf.GraphDef())
        with tf.Graph().as_default():
            tf.import_graph_def(graph_def, name="")

    return [sample], consume
