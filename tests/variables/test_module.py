"""tf.Module: what is found among its attributes."""

import stillflow as tf


class Net(tf.Module):
    def __init__(self, below=None):
        super().__init__()
        self.b = {"y": tf.Variable(1.0), "x": [tf.Variable(2.0, trainable=False)]}
        self.a = below
        self.again = self.b["y"]


def test_variables_come_once_and_by_attribute():
    inner = Net()
    net = Net(inner)
    own = [net.again, net.b["x"][0]]
    assert net.variables == (own[0], own[1], inner.again, inner.b["x"][0])
    assert net.trainable_variables == (own[0], inner.again)
    assert net.submodules == (inner,)


def test_paths_to_what_is_wanted():
    net = Net(Net())
    net.a.a = net  # a circle
    found = dict(net._flatten(predicate=lambda value: value is net.a.again or value is net.again, with_path=True))
    assert set(found) == {("again",), ("b", "y"), ("a", "again"), ("a", "b", "y")}
    assert net.a.again not in list(net._flatten(recursive=False))
    first = next(iter(net._flatten(with_path=True, attribute_traversal_key=lambda name: name != "b")))
    assert first[0] == ("b", "x", 0)


def test_subclasses_say_what_is_left_out():
    class Quiet(Net):
        _TF_MODULE_IGNORED_PROPERTIES = tf.Module._TF_MODULE_IGNORED_PROPERTIES | {"b", "again"}

    assert Quiet().variables == ()
