"""Mistakes of programs: the type of each error, and the words that programs and people look for."""

import re

import numpy as np
import pytest

import stillflow as tf

ERRORS = tf.errors


def foreign():
    with tf.Graph().as_default():
        return tf.constant(1.0)


def run(fetches, feed_dict=None):
    with tf.Session() as session:
        return session.run(fetches, feed_dict)


def placeholder(*shape, dtype=tf.float32, name=None):
    return tf.placeholder(dtype, list(shape) if shape else None, name=name)


def fed(build, *values, dtype=tf.float32):
    """The op over placeholders of unknown shape, so that the kernel has to notice."""
    inputs = [tf.placeholder(dtype) for _ in values]
    return run(build(*inputs), dict(zip(inputs, values, strict=True)))


TYPE, VALUE = TypeError, ValueError
BAD = ERRORS.InvalidArgumentError

# (what is done, the error, words of its message)
MISTAKES = {
    # Graphs and names
    "add across graphs": (lambda: tf.add(foreign(), tf.constant(1.0)), VALUE, "must be from the same graph as"),
    "plus across graphs": (lambda: tf.constant(1.0) + foreign(), VALUE, "must be from the same graph as"),
    "run a foreign tensor": (lambda: (tf.constant(1.0), run(foreign())), VALUE, "is not an element of this graph"),
    "feed a foreign tensor": (
        lambda: run(tf.constant(1.0), {foreign(): 1}), TYPE, "feed_dict key as Tensor: .* is not an element"),
    "bad operation name": (lambda: tf.constant(1, name="a b"), VALUE, "'a b' is not a valid (scope|node) name"),
    "underscore first": (lambda: tf.constant(1, name="_a"), VALUE, "'_a' is not a valid (scope|node) name"),
    "bad variable name": (lambda: tf.Variable(1, name="a:b"), VALUE, "is not a valid scope name"),
    "unknown device": (lambda: on_device("/what:0"), VALUE, "Unknown attribute: 'what(:0)?' in '/what:0'"),
    # Fetches and feeds
    "fetch None": (lambda: (tf.constant(1), run([None])), TYPE, "Fetch argument None has invalid type"),
    "fetch a number": (lambda: (tf.constant(1), run(5)), TYPE, "has invalid type .*int.*, must be a string"),
    "fetch a foreign name": (
        lambda: (tf.constant(1), run("x:0")), VALUE, "'x:0' cannot be interpreted as a Tensor"),
    "not fed": (lambda: run(placeholder(None, 3, name="p")), BAD,
                r"You must feed a value for placeholder tensor 'p' with dtype float and shape \[\?,3\]"),
    "fed of another shape": (lambda: run(*feeding(placeholder(None, 3, name="p"), np.zeros((2, 4)))), VALUE,
                             r"Cannot feed value of shape \(2, 4\) for Tensor 'p:0', which has shape '\(\?, 3\)'"),
    "fed text": (lambda: run(*feeding(placeholder(), "abc")), VALUE, "could not convert string to float"),
    "fed ragged": (lambda: run(*feeding(placeholder(), [[1, 2], [3]])), VALUE, ""),
    "fed a large int": (lambda: run(*feeding(placeholder(dtype=tf.int32), 2**40)), TYPE,
                        "is not compatible with Tensor type .* Try explicitly setting the type of the feed tensor"),
    "fed a negative int": (lambda: run(*feeding(placeholder(dtype=tf.uint8), -1)), TYPE, "is not compatible with"),
    "fed an int for a string": (lambda: run(*feeding(placeholder(dtype=tf.string), 5)), TYPE, "is not compatible"),
    "fed a tensor": (lambda: run(*feeding(placeholder(), tf.constant(1.0))), TYPE,
                     "The value of a feed cannot be a tf.Tensor object"),
    "fed an unknown name": (lambda: run(tf.constant(1), {"x:0": 1}), TYPE, "Cannot interpret feed_dict key"),
    "fed an operation": (lambda: run(tf.constant(1), {tf.no_op(): 1}), TYPE, "Cannot interpret feed_dict key"),
    "fed no mapping": (lambda: run(tf.constant(1), [(1, 2)]), TYPE, "feed_dict"),
    "placeholder with default": (lambda: tf.placeholder_with_default([1.0, 2.0], [3]), VALUE,
                                 "Dimension 0 in both shapes must be equal"),
    # Variables
    "no initial value": (lambda: tf.Variable(), VALUE, "initial_value must be specified"),
    "uninitialized": (lambda: run(tf.Variable(1.0, name="w")), ERRORS.FailedPreconditionError,
                      "Attempting to use uninitialized value w"),
    "assign another shape": (lambda: tf.assign(tf.Variable([1.0]), [1.0, 2.0]), VALUE,
                             "Dimension 0 in both shapes must be equal"),
    "assign to a constant": (lambda: tf.assign(tf.constant(1.0), 2.0), (TypeError, AttributeError), ""),
    "made twice": (lambda: [tf.get_variable("a", [1]) for _ in range(2)], VALUE,
                   "Variable a already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE"),
    "no shape": (lambda: tf.get_variable("a"), VALUE, "initializer passed is not valid|must be fully defined"),
    "constant and shape": (lambda: tf.get_variable("a", [2], initializer=tf.constant([1.0, 2.0])), VALUE,
                           "If initializer is a constant, do not specify shape"),
    "scope without a name": (lambda: tf.variable_scope(None), TYPE, "name_or_scope is required"),
    # Building
    "shapes": (lambda: tf.zeros([2]) + tf.zeros([3]), VALUE, "Dimensions must be equal, but are 2 and 3"),
    "types": (lambda: tf.constant(1) + tf.constant(1.5), TYPE,
              "Input 'y' of '(Add|AddV2)' Op has type float32 that does not match type int32 of argument 'x'"),
    "bool plus bool": (lambda: tf.constant(True) + tf.constant(True), TYPE,
                       "has DataType bool not in list of allowed values"),
    "conversion": (lambda: tf.convert_to_tensor(tf.constant(1.0), tf.int32), VALUE,
                   "Tensor conversion requested dtype int32 for Tensor with dtype float32"),
    "constant of another type": (lambda: tf.constant(1.5, tf.int32), TYPE, "Expected int32, got 1.5 of type 'float'"),
    "text as a number": (lambda: tf.constant("a", tf.float32), TYPE, "Expected float32, got 'a' of type 'str'"),
    "constant None": (lambda: tf.constant(None), VALUE, "None values not supported"),
    "too many elements": (lambda: tf.constant([1, 2, 3], shape=[2]), VALUE, "Too many elements provided"),
    "rank": (lambda: tf.matmul(tf.zeros([3]), tf.zeros([3, 3])), VALUE, "Shape must be rank 2 but is rank 1"),
    "reshape": (lambda: tf.reshape(tf.zeros([2, 3]), [4, 2]), VALUE,
                r"Cannot reshape a tensor with 6 elements to shape \[4,2\] \(8 elements\)"),
    "concat": (lambda: tf.concat([tf.zeros([2, 3]), tf.zeros([3, 4])], 1), VALUE,
               "Dimension 0 in both shapes must be equal"),
    "squeeze": (lambda: tf.squeeze(tf.zeros([2, 3]), 0), VALUE,
                r"Can not squeeze dim\[0\], expected a dimension of 1, got 2"),
    "expand_dims": (lambda: tf.expand_dims(tf.zeros([2]), 3), VALUE, r"dim 3 not in the interval \[-2, 1\]"),
    "reduction axis": (lambda: tf.reduce_sum(tf.zeros([2, 3]), 5), VALUE,
                       "Invalid reduction dimension 5 for input with 2 dimensions"),
    "argmax axis": (lambda: tf.argmax(tf.zeros([2, 3]), 5), VALUE, r"must be in the range \[-2, 2\)"),
    "unknown keyword": (lambda: tf.reduce_sum([1], axes=0), TYPE, "unexpected keyword argument"),
    "index by text": (lambda: tf.zeros([2])["a"], TYPE, "Only integers, slices"),
    "stride 0": (lambda: tf.zeros([2])[::0], VALUE, r"strides\[0\] must be non-zero"),
    # Kernels
    "shapes that run": (lambda: fed(tf.add, [1, 2], [1, 2, 3]), BAD, r"Incompatible shapes: \[2\] vs. \[3\]"),
    "division by zero": (lambda: fed(tf.floordiv, [5], [0], dtype=tf.int32), BAD, "Integer division by zero"),
    "negative power": (lambda: fed(tf.pow, [2], [-1], dtype=tf.int32), BAD,
                       "Integers to negative integer powers are not allowed"),
    "gather": (lambda: fed(lambda i: tf.gather(tf.zeros([3]), tf.cast(i, tf.int32)), [7]), BAD,
               r"indices\[0\] = 7 is not in \[0, 3\)"),
    "matmul": (lambda: fed(tf.matmul, np.zeros((2, 3)), np.zeros((2, 3))), BAD, "Matrix size-incompatible"),
    "argmax of nothing": (lambda: fed(lambda x: tf.argmax(x, 0), np.zeros((0, 3))), BAD,
                          r"Reduction axis 0 is empty in shape \[0,3\]"),
    "fill": (lambda: fed(lambda n: tf.fill(tf.cast(n, tf.int32), 1.0), [-1, 2]), BAD, "must be >= 0"),
    "a huge fill": (lambda: fed(lambda n: tf.fill(n, 1.0), [2**40, 2**40], dtype=tf.int64), BAD, "would have more"),
    "out of memory": (lambda: fed(lambda n: tf.fill(n, 1.0), [2**26, 2**26], dtype=tf.int64),
                      ERRORS.ResourceExhaustedError, "OOM when allocating tensor with shape"),
    "too large a shape": (lambda: fed(lambda n: tf.reshape([1], n), [2**40, 2**40], dtype=tf.int64), BAD, ""),
    "two unknown sizes": (lambda: fed(lambda n: tf.reshape(tf.zeros([4]), n), [-1, -1], dtype=tf.int32), BAD,
                          "Only one input size may be -1, not both 0 and 1"),
    "too many dimensions": (lambda: fed(lambda n: tf.reshape(tf.zeros([1]), n), [1] * 300, dtype=tf.int32), BAD,
                            "too many dimensions"),
}  # fmt: skip


def on_device(name):
    with tf.device(name):
        pass


def feeding(tensor, value):
    return tensor, {tensor: value}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_have_their_error(mistake):
    do, error, words = MISTAKES[mistake]
    with pytest.raises(error) as caught:
        do()
    assert re.search(words, str(caught.value), re.DOTALL), str(caught.value)


def test_errors_of_a_run_name_the_node_and_where_it_was_made():
    x = tf.placeholder(tf.int32, name="x")
    y = tf.floordiv(1, x, name="quotient")
    with pytest.raises(ERRORS.InvalidArgumentError) as caught, tf.Session() as session:
        session.run(y, {x: 0})
    body, rest = caught.value.message.split("\n", 1)
    assert body == "Integer division by zero"
    assert (
        "[[node quotient" in rest and "test_error_table.py" in rest and 'tf.floordiv(1, x, name="quotient")' in rest
    )
    assert caught.value.node_def.name == "quotient" and caught.value.error_code == ERRORS.INVALID_ARGUMENT


def test_errors_have_codes_and_travel():
    import pickle

    for code in range(1, 17):
        kind = ERRORS.exception_type_from_error_code(code)
        assert ERRORS.error_code_from_exception_type(kind) == code
        error = pickle.loads(pickle.dumps(kind(None, None, "words")))
        assert type(error) is kind and error.message == "words" and isinstance(error, ERRORS.OpError)
