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

    def as_proto(self):
        """The NameAttrList message."""
        from stillflow.formats import protobuf
        from stillflow.graph.attr_value import set_message

        proto = protobuf.message("NameAttrList")(name=self.name)
        for key, value in self.attrs.items():
            set_message(proto.attr[key], value)
        return proto
