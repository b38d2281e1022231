"""Calls that TensorFlow refuses when a graph is built: the errors of TensorFlow 1.15.5 are in tests/golden/refusals.

A module is an area; its function `cases` returns {name: function of no arguments}. Each runs in a graph of its own.
Runs in Python 3.7, too, where tools/record_golden.py records it.
"""


def outcome(tf, case):
    """[type, message] of the error, or None if there is none."""
    with tf.Graph().as_default():
        try:
            case()
        except Exception as error:
            # Where something was made before is a matter of the two engines' files.
            return [type(error).__name__, str(error).partition(" Originally defined at")[0]]
    return None
