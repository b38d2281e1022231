"""Models that are warm-started: nodes, values and errors of TensorFlow 1.15.5 are in tests/golden/warm_starts.json.

Runs in Python 3.7, too, where tools/record_golden.py records it. Paths are relative, since they are in the graphs.
"""

import os
import pathlib
import shutil
import tempfile

import numpy as np

FILES = {
    "old": "a\nb\nc\nd\n",
    "new": "c\nx\na\nb",
    "windows": "c\r\nx\r\na\r\nb\r\n",
    "twice": "a\nb\na\nc\n",
    "empty": "",
    "gap": "a\n\nc\nd\n",
}


def _save(tf):
    """The checkpoint: matrix (4, 3), vector (3,), doubles, and one by objects."""
    with tf.Graph().as_default():
        variables = {
            "matrix": np.arange(12, dtype=np.float32).reshape(4, 3) + 1,
            "wide": np.arange(8, dtype=np.float32).reshape(2, 4) + 1,
            "scope/vector": np.array([7.0, 8.0, 9.0], np.float32),
            "doubles": np.zeros((4, 2)),
        }
        made = [tf.get_variable(name, initializer=value) for name, value in sorted(variables.items())]
        objects = tf.train.Checkpoint(m=made[1])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            tf.train.Saver().save(session, "named/model")
            objects.save("objects/model", session=session)


def _counting(tf):
    """An initializer that gives 100, 101, ..."""

    def initializer(shape, dtype=tf.float32, partition_info=None):
        return tf.reshape(100.0 + tf.range(tf.cast(tf.reduce_prod(shape), tf.float32)), shape)

    return initializer


def _zeros(tf, name, shape, **options):
    return tf.get_variable(name, shape, initializer=tf.zeros_initializer(), **options)


def all_trainable(tf):
    _zeros(tf, "matrix", [4, 3])
    _zeros(tf, "scope/vector", [3])
    _zeros(tf, "doubles", [4, 2], trainable=False, dtype=tf.float64)
    tf.train.warm_start("named")


def by_pattern(tf):
    _zeros(tf, "matrix", [4, 3])
    _zeros(tf, "scope/vector", [3])
    tf.train.warm_start("named/model", vars_to_warm_start="sco.*")


def by_names(tf):
    _zeros(tf, "matrix", [4, 3], trainable=False)
    _zeros(tf, "scope/vector", [3])
    tf.train.warm_start("named/model", vars_to_warm_start=["matrix"])


def by_variables(tf):
    matrix = _zeros(tf, "matrix", [4, 3], use_resource=True)
    _zeros(tf, "scope/vector", [3])
    tf.train.warm_start("named/model", vars_to_warm_start=[matrix])


def under_another_name(tf):
    _zeros(tf, "other", [4, 3])
    tf.train.warm_start("named", var_name_to_prev_var_name={"other": "matrix"})


def in_parts(tf):
    _zeros(tf, "matrix", [4, 3], partitioner=tf.fixed_size_partitioner(2))
    tf.train.warm_start("named")


def from_objects(tf):
    _zeros(tf, "matrix", [4, 3])
    tf.train.warm_start("objects")


def _info(new_vocab, new_vocab_size, oov_buckets, old_vocab):
    return {
        "new_vocab": new_vocab,
        "new_vocab_size": new_vocab_size,
        "num_oov_buckets": oov_buckets,
        "old_vocab": old_vocab,
    }


def _with_vocabulary(tf, shape, info, name="matrix", **options):
    _zeros(tf, name, shape, **options)
    tf.train.warm_start("named", var_name_to_vocab_info={name: tf.train.VocabInfo(**info)})


def rows_of_a_vocabulary(tf):
    _with_vocabulary(tf, [4, 3], _info("new", 4, 0, "old"))


def rows_of_a_vocabulary_with_buckets(tf):
    info = _info("windows", 4, 2, "old")
    _with_vocabulary(tf, [6, 3], dict(info, backup_initializer=_counting(tf)))


def rows_of_a_vocabulary_in_parts(tf):
    info = _info("new", 4, 1, "old")
    partitioner = tf.fixed_size_partitioner(2)
    _with_vocabulary(tf, [5, 3], dict(info, backup_initializer=_counting(tf)), partitioner=partitioner)


def rows_of_the_first_entries(tf):
    info = {"new_vocab": "new", "new_vocab_size": 3, "num_oov_buckets": 0, "old_vocab": "old", "old_vocab_size": 2}
    _with_vocabulary(tf, [3, 3], dict(info, backup_initializer=_counting(tf)))


def columns_of_a_vocabulary(tf):
    info = {"new_vocab": "new", "new_vocab_size": 4, "num_oov_buckets": 1, "old_vocab": "old", "axis": 1}
    _with_vocabulary(tf, [2, 5], dict(info, backup_initializer=_counting(tf)), name="wide")


def only_those_with_a_vocabulary(tf):
    _zeros(tf, "matrix", [4, 3])
    _zeros(tf, "scope/vector", [3])
    info = tf.train.VocabInfo("new", 4, 0, "old")
    tf.train.warm_start("named", vars_to_warm_start=None, var_name_to_vocab_info={"matrix": info})


def a_vocabulary_of_a_resource_variable(tf):
    info = _info("new", 4, 0, "old")
    _with_vocabulary(tf, [4, 3], info, use_resource=True)


def a_vocabulary_that_is_too_short(tf):
    _with_vocabulary(tf, [5, 3], _info("new", 5, 0, "old"))


def an_old_vocabulary_that_is_too_short(tf):
    info = {"new_vocab": "new", "new_vocab_size": 4, "num_oov_buckets": 0, "old_vocab": "old", "old_vocab_size": 9}
    _with_vocabulary(tf, [4, 3], info)


def an_old_vocabulary_with_an_entry_twice(tf):
    _with_vocabulary(tf, [4, 3], _info("new", 4, 0, "twice"))


def a_new_vocabulary_with_an_entry_twice(tf):
    _with_vocabulary(tf, [4, 3], _info("twice", 4, 0, "old"))


def an_empty_vocabulary(tf):
    _with_vocabulary(tf, [4, 3], _info("new", 4, 0, "empty"))


def a_vocabulary_with_an_empty_line(tf):
    _with_vocabulary(tf, [4, 3], _info("gap", 4, 0, "old"))


def a_vocabulary_that_is_not_there(tf):
    _with_vocabulary(tf, [4, 3], _info("none", 4, 0, "old"))


def a_matrix_of_another_width(tf):
    _with_vocabulary(tf, [4, 2], _info("new", 4, 0, "old"))


def a_matrix_of_doubles(tf):
    info = _info("new", 4, 0, "old")
    _zeros(tf, "other", [4, 2])
    names = {"other": "doubles"}
    tf.train.warm_start("named", ".*", {"other": tf.train.VocabInfo(**info)}, names)


def a_shape_that_does_not_fit(tf):
    _with_vocabulary(tf, [9, 3], _info("new", 4, 1, "old"))


def a_missing_vocabulary(tf):
    _with_vocabulary(tf, [4, 3], _info("", 4, 0, "old"))


def a_third_axis(tf):
    tf.train.VocabInfo("new", 4, 0, "old", axis=2)


def names_that_are_not_used(tf):
    _zeros(tf, "matrix", [4, 3])
    tf.train.warm_start("named", var_name_to_prev_var_name={"matrix": "matrix", "misspelt": "matrix"})


def vocabularies_that_are_not_used(tf):
    _zeros(tf, "matrix", [4, 3])
    tf.train.warm_start("named", var_name_to_vocab_info={"misspelt": tf.train.VocabInfo("new", 4, 0, "old")})


def a_list_of_something_else(tf):
    _zeros(tf, "matrix", [4, 3])
    tf.train.warm_start("named", vars_to_warm_start=[3])


def something_else(tf):
    tf.train.warm_start("named", vars_to_warm_start=3)


def a_variable_that_the_checkpoint_lacks(tf):
    _zeros(tf, "missing", [4, 3])
    tf.train.warm_start("named")


def a_variable_that_the_objects_lack(tf):
    _zeros(tf, "missing", [4, 3])
    tf.train.warm_start("objects")


def cases():
    """{name: function} of all."""
    return {
        name: function
        for name, function in globals().items()
        if getattr(function, "__code__", None) and function.__code__.co_varnames[:1] == ("tf",)
        if not name.startswith("_") and name not in ("outcome", "outcomes")
    }


def outcome(tf, function):
    """The values of the variables and the nodes, or the error."""
    try:
        with tf.Graph().as_default() as graph:
            function(tf)
            nodes = ["{} {}({})".format(n.name, n.op, ", ".join(n.input)) for n in graph.as_graph_def().node]
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                values = {v.op.name: session.run(v).tolist() for v in tf.global_variables()}
        return {"values": values, "nodes": nodes}
    except Exception as error:
        text = error.message if isinstance(error, tf.errors.OpError) else str(error)
        return {"error": "{}: {}".format(type(error).__name__, text.split("\n")[0])}


def outcomes(tf):
    """{name: outcome} of all."""
    folder, before = tempfile.mkdtemp(), str(pathlib.Path.cwd())
    os.chdir(folder)
    try:
        for name, text in FILES.items():
            with open(name, "w", newline="") as file:
                file.write(text)
        pathlib.Path("named").mkdir()
        pathlib.Path("objects").mkdir()
        _save(tf)
        return {name: outcome(tf, function) for name, function in sorted(cases().items())}
    finally:
        os.chdir(before)
        shutil.rmtree(folder)
