"""Defun functions that TensorFlow is to compile: the attributes that TensorFlow 1.15.5 gives them."""

from stillflow.python.framework import function

import stillflow as tf


def _marks(attrs):
    return {key: attrs[key].s or attrs[key].b for key in attrs if key.startswith("_Xla")}


def test_definitions_and_gradients_are_marked_and_calls_are_not():
    @function.Defun(tf.float32, compiled=True, separate_compiled_gradients=True)
    def separate(x):
        return tf.square(x)

    @function.Defun(tf.float32, compiled=True, noinline=True)
    def together(x):
        return tf.square(x)

    x = tf.constant([1.0, 2.0])
    tf.gradients([separate(x), together(x)], x)
    message = tf.get_default_graph().as_graph_def()
    definitions = {each.signature.name.split("_")[0]: _marks(each.attr) for each in message.library.function}
    assert definitions == {
        "separate": {
            "_XlaCompile": True, "_XlaSeparateCompiledGradients": True, "_XlaScope": b"function_separate",
        },
        "together": {
            "_XlaCompile": True, "_XlaSeparateCompiledGradients": False, "_XlaScope": b"function_together",
        },
    }  # fmt: skip
    gradients = [_marks(node.attr) for node in message.node if node.op == "SymbolicGradient"]
    assert sorted(each["_XlaScope"] for each in gradients) == [
        b"function_separate_grad_gradients", b"function_together",
    ]  # fmt: skip
    assert not any(_marks(node.attr) for node in message.node if node.op.startswith(("separate", "together")))
