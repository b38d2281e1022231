"""What absl refuses of flags and TensorFlow took before it had absl: flags with the names of absl's logging, defaults
of other types than the flag's, and `FLAGS.size = 3` for a flag that nobody defined. `stillflow run` lets programs do
it. absl is not loaded for this."""

from __future__ import annotations

from collections.abc import Callable, Iterable

Notice = Callable[[str], object]

_replaceable: dict[str, Notice] = {}
_setting: list[Notice] = []
_defaulting: list[Notice] = []


def let_programs_define(names: Iterable[str], notice: Notice) -> None:
    """Lets each of these flags be defined once more, and calls `notice` with the name of each that is."""
    _replaceable.update(dict.fromkeys(names, notice))


def let_programs_set(notice: Notice) -> None:
    """Lets flags be set that are not defined, and calls `notice` with the name of each that is."""
    _setting[:] = [notice]


def let_defaults_be_of_any_type(notice: Notice) -> None:
    """Lets flags have defaults that their types refuse, and calls `notice` with the name of each that has one."""
    _defaulting[:] = [notice]


def may_default() -> bool:
    """Whether flags may have defaults that their types refuse."""
    return bool(_defaulting)


def set_default(flag, value: object) -> None:
    """Gives a flag of absl's a default that its type refuses."""
    flag.default = flag.value = value
    _defaulting[0](flag.name)


def make_way(name: str) -> None:
    """Called before a program defines the flag `name`; one that it defines twice is refused."""
    notice = _replaceable.pop(name, None)
    if notice is not None:
        from absl import flags, logging as _  # noqa: F401, I001  (logging defines its flags when it is loaded)

        flags.FLAGS[name].allow_override = True
        notice(name)


def define_set(values, name: str, value: object) -> None:
    """Called before a program sets the flag `name` of `values`: defines it if it may be set without that."""
    if _setting and name not in values:
        from absl import flags

        values[name] = flags.Flag(_AnyValue(), None, name, value, "set, not defined")  # type: ignore[arg-type]
        _setting[0](name)


class _AnyValue:
    """A parser of absl's that leaves a value as it is."""

    syntactic_help = ""

    def parse(self, value):
        return value

    def flag_type(self):
        return "value"
