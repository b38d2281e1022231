"""FunctionCall: a function's name and attributes, which is what nodes that call functions have as an attribute."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class FunctionCall:
    """An attribute of kind "func"."""

    name: str
    attrs: dict = field(default_factory=dict)

    def __hash__(self):
        return hash(self.name)
