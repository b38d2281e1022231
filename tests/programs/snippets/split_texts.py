"""Strings split into ragged tensors, and of more dimensions than one."""


def _parts(ragged):
    return [ragged.flat_values, *ragged.nested_row_splits]


def of_vectors(tf):
    unknown = tf.placeholder_with_default(["a b", "c"], None)
    return [
        *_parts(tf.strings.split(["a b", "c"], result_type="RaggedTensor")),
        *_parts(tf.strings.split(unknown, sep=" ", maxsplit=1, name="x", result_type="RaggedTensor")),
        *_parts(tf.string_split(["a,b c", ""], ", ", result_type="RaggedTensor")),
        tf.strings.split(unknown).indices,
    ]


def of_other_ranks(tf):
    split = tf.strings.split([["a b", "c"], ["d", ""]])
    return [
        *_parts(tf.strings.split([["a b", "c"], ["d", ""]], result_type="RaggedTensor")),
        split.indices,
        split.values,
        split.dense_shape,
        tf.strings.split("a b c", result_type="RaggedTensor"),
    ]


def of_ragged(tf):
    rows = tf.ragged.constant([["a b"], [], ["c,d", "e f g"]])
    return [*_parts(tf.strings.split(rows, result_type="RaggedTensor")), tf.strings.split(rows).indices]
