"""Public names: each is said once, by a mark where the thing is defined, and looked up when a program asks for it.

    @public("gather", "manip.gather")
    def gather(params, indices, ...): ...

makes tf.gather and tf.manip.gather. From the marks, which it reads in the sources, tools/make_tables.py writes the
table of names when the package is built, and the stubs for editors and type checkers.
"""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def public(*names: str):
    """Marks what it decorates as public, under these names below `tf.`. The mark is read in the source, not run.

    A name that begins with "python." is one of TensorFlow's inner modules that programs import. For a constant:
    `newaxis = public("newaxis")(None)`.
    """

    def mark(item: T) -> T:
        return item

    return mark


class Setting:
    """The value of a public name that is a setting: modules give what it is now, and programs set it there.

    Args:
      get: says what the setting is.
      put: is called with what a program sets.
    """

    def __init__(self, get, put):
        self.get, self.put = get, put


def public_module(*names: str) -> None:
    """Says that the module which calls is itself the namespace of these names: all its names are public there."""


def public_names(names: dict[str, str]) -> dict[str, str]:
    """Public names of what a module makes when it is asked for it: {attribute: "name name"}."""
    return names


def passes_on(namespace: str, *others: str) -> None:
    """Says that a namespace has the names of others too: of public ones, or of TensorFlow's inner modules."""
