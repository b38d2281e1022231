"""Example and SequenceExample messages parsed."""


def _feature(tf, value):
    if value is None:
        return tf.train.Feature()
    if not value or isinstance(value[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=value))
    if isinstance(value[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=value))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=value))


def _features(tf, values):
    return tf.train.Features(feature={key: _feature(tf, value) for key, value in values.items()})


def _example(tf, **values):
    return tf.train.Example(features=_features(tf, values)).SerializeToString(deterministic=True)


def _sequence_example(tf, context, **lists):
    lists = {
        key: tf.train.FeatureList(feature=[_feature(tf, value) for value in values]) for key, values in lists.items()
    }
    return tf.train.SequenceExample(
        context=_features(tf, context), feature_lists=tf.train.FeatureLists(feature_list=lists)
    ).SerializeToString(deterministic=True)


def _tensors(tf, *dicts):
    """The tensors of dicts, by their keys."""
    found = []
    for values in dicts:
        for _, value in sorted(values.items()):
            if isinstance(value, tf.SparseTensor):
                found += [value.indices, value.values, value.dense_shape]
            else:
                found.append(value)
    return found


def _examples(tf):
    return [
        _example(tf, a=[1, -2], b=[1.5], s=[b"x", b""], v=[1, 2, 3, 4], w=[0.5], k=None),
        _example(tf, a=[2**62, -(2**63)], b=[-0.0], v=[], w=[1.0, 2.0, 3.0], unknown=[5]),
        _example(tf, a=[0, 300], b=[float("inf")], s=[b"\x00\xff"], v=[7, 8]),
    ]


def examples(tf):
    features = {
        "b": tf.FixedLenFeature([], tf.float32),
        "a": tf.FixedLenFeature([2], tf.int64),
        "s": tf.VarLenFeature(tf.string),
        "w": tf.VarLenFeature(tf.float32),
        "k": tf.VarLenFeature(tf.int64),
        "m n": tf.FixedLenFeature([], tf.string, "default"),
        "o": tf.FixedLenFeature([2, 1], tf.float32, [[1.0], [2.0]]),
    }
    return _tensors(tf, tf.parse_example(_examples(tf), features))


def sequences_in_examples(tf):
    features = {
        "s": tf.FixedLenSequenceFeature([], tf.string, allow_missing=True, default_value="pad"),
        "a": tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True),
        "w": tf.io.FixedLenSequenceFeature([], tf.float32, True),
        "x": tf.FixedLenSequenceFeature([3], tf.int64, True, 7),
    }
    return _tensors(tf, tf.parse_example(tf.constant(_examples(tf)), features, name="p"))


def sparse_features(tf):
    examples = [_example(tf, i=[3, 1], j=[0, 2], v=[1.0, 2.0]), _example(tf, i=[0], j=[1], v=[3.0])]
    features = {
        "x": tf.SparseFeature("i", "v", tf.float32, 5),
        "y": tf.SparseFeature(["i", "j"], "v", tf.float32, [5, 6]),
        "z": tf.SparseFeature("i", "v", tf.float32, 5, already_sorted=True),
        "i": tf.VarLenFeature(tf.int64),
    }
    return _tensors(tf, tf.parse_example(examples, features))


def single_examples(tf):
    features = {
        "b": tf.FixedLenFeature([], tf.float32),
        "a": tf.FixedLenFeature([2], tf.int64),
        "s": tf.VarLenFeature(tf.string),
        "v": tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True),
        "m": tf.FixedLenFeature([2], tf.string, ["d", b"e"]),
        "n": tf.FixedLenFeature((), tf.int64, 9),
    }
    first = tf.parse_single_example(_examples(tf)[0], features)
    second = tf.parse_single_example(tf.constant(_examples(tf)[0]), {"a": tf.VarLenFeature(tf.int64)}, name="n")
    return _tensors(tf, first, second)


def named_single_examples(tf):
    features = {"a": tf.FixedLenFeature([2], tf.int64), "s": tf.VarLenFeature(tf.string)}
    return _tensors(tf, tf.parse_single_example(_examples(tf)[0], features, name="n", example_names="example"))


_LISTS = {"emb": [[0.0, 1.0], [2.0, 3.0]], "tok": [[1], [2, 3], None]}


def single_sequence_examples(tf):
    serialized = _sequence_example(tf, {"n": [3], "w": [b"a", b"b"]}, **_LISTS)
    context, lists = tf.parse_single_sequence_example(
        serialized,
        {
            "n": tf.FixedLenFeature([], tf.int64),
            "w": tf.VarLenFeature(tf.string),
            "d": tf.FixedLenFeature([2], tf.float32, [1.0, 2.0]),
        },
        {
            "emb": tf.FixedLenSequenceFeature([2], tf.float32),
            "tok": tf.VarLenFeature(tf.int64),
            "nothing": tf.VarLenFeature(tf.int64),
            "missing": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
        },
    )
    _, more = tf.parse_single_sequence_example(
        serialized, None, {"tok": tf.VarLenFeature(tf.int64)}, example_name="e", name="n"
    )
    return _tensors(tf, context, lists, more)


def sequence_examples(tf):
    batch = [
        _sequence_example(tf, {"n": [3], "w": [b"a", b"b"]}, **_LISTS),
        _sequence_example(tf, {"n": [4]}, emb=[[9.0, 8.0]], tok=[[7, 7, 7]], more=[[b"x"]]),
    ]
    return _tensors(
        tf,
        *tf.io.parse_sequence_example(
            batch,
            {"n": tf.FixedLenFeature([], tf.int64), "w": tf.VarLenFeature(tf.string)},
            {
                "emb": tf.FixedLenSequenceFeature([2], tf.float32),
                "tok": tf.VarLenFeature(tf.int64),
                "missing": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
                "more": tf.FixedLenSequenceFeature([1], tf.string, allow_missing=True),
            },
            name="n",
        ),
    )
