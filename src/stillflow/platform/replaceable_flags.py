"""Flags of absl's logging that a program may define as its own. absl is not loaded for it before one is."""

from __future__ import annotations

from collections.abc import Callable, Iterable

_replaceable: dict[str, Callable[[str], object]] = {}


def let_programs_define(names: Iterable[str], notice: Callable[[str], object]) -> None:
    """Lets each of these flags be defined once more, and calls `notice` with the name of each that is."""
    _replaceable.update(dict.fromkeys(names, notice))


def make_way(name: str) -> None:
    """Called before a program defines the flag `name`; one that it defines twice is refused."""
    notice = _replaceable.pop(name, None)
    if notice is not None:
        from absl import flags, logging as _  # noqa: F401, I001  (logging defines its flags when it is loaded)

        flags.FLAGS[name].allow_override = True
        notice(name)
