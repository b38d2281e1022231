"""tf.test.StubOutForTesting: attributes replaced for the duration of a test."""

from __future__ import annotations

import inspect

from stillflow.names import public


@public("test.StubOutForTesting", "python.platform.googletest.StubOutForTesting")
class StubOutForTesting:
    """Replaces attributes of modules, classes and objects until `CleanUp`, or the end of the `with` block.

    with tf.test.StubOutForTesting() as stubs:
        stubs.Set(os.path, "exists", lambda path: True)
    """

    def __init__(self):
        self.cache: list = []
        self.stubs: list = []

    def __del__(self):
        self.CleanUp()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.CleanUp()

    def CleanUp(self):  # noqa: N802
        """Puts everything back."""
        self.UnsetAll()
        self.SmartUnsetAll()

    def SmartSet(self, obj, attr_name, new_attr):  # noqa: N802
        """Replaces an attribute where it takes effect: for an object without it, in its class.

        Raises AttributeError if there is none.
        """
        if not hasattr(obj, attr_name):
            raise AttributeError("Attribute not found.")
        is_own = inspect.ismodule(obj) or inspect.isclass(obj) or attr_name in vars(obj)
        owner = obj if is_own else type(obj)
        self.stubs.append((owner, attr_name, _kept(owner, attr_name)))
        setattr(owner, attr_name, new_attr)

    def SmartUnsetAll(self):  # noqa: N802
        """Puts back what SmartSet replaced."""
        _put_back(self.stubs)

    def Set(self, parent, child_name, new_child):  # noqa: N802
        """Replaces an attribute of a module, class or object. Raises AttributeError if there is none."""
        getattr(parent, child_name)
        self.cache.append((parent, child_name, _kept(parent, child_name)))
        setattr(parent, child_name, new_child)

    def UnsetAll(self):  # noqa: N802
        """Puts back what Set replaced."""
        _put_back(self.cache)


_INHERITED = object()


def _kept(owner, name):
    """The attribute as the owner has it, a staticmethod as one; or a mark if the owner has inherited it."""
    return vars(owner).get(name, _INHERITED)


def _put_back(replaced):
    while replaced:
        owner, name, old = replaced.pop()
        if old is _INHERITED:
            delattr(owner, name)
        else:
            setattr(owner, name, old)
