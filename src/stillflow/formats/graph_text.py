"""GraphDefs as text, as protobuf prints it."""

from __future__ import annotations

import re

_PLAIN = re.compile(r"[\w.:/^>@=;-]*", re.ASCII)  # what text has as it is
_LONGEST_KEPT = 256  # bytes of an attribute's value: longer ones, constants, rarely occur twice


def graph_def_text(graph_def):
    """What text_format.MessageToString returns, in a fraction of the time.

    Most attributes of a large graph are equal, and each is printed once.
    """
    from google.protobuf import text_format

    printed: dict = {}  # (name of an attribute, bytes of its value) -> text
    parts = [_node_text(node, printed, text_format) for node in graph_def.node]
    rest = type(graph_def)()
    for field, value in graph_def.ListFields():
        if field.name == "node":
            continue
        if field.message_type is None:
            setattr(rest, field.name, value)
        else:
            getattr(rest, field.name).CopyFrom(value)
    parts.append(text_format.MessageToString(rest))
    return "".join(parts)


def _node_text(node, printed, text_format):
    fields = [
        ("name", node.name),
        ("op", node.op),
        *(("input", each) for each in node.input),
        ("device", node.device),
    ]
    if all(_PLAIN.fullmatch(value) for _, value in fields):
        parts = [f'  {field}: "{value}"\n' for field, value in fields if value or field == "input"]
    else:
        plain = type(node)(name=node.name, op=node.op, input=node.input, device=node.device)
        parts = [text_format.MessageToString(plain, indent=2)]
    for key in sorted(node.attr):
        value = node.attr[key]
        content = value.SerializeToString(deterministic=True)
        text = printed.get((key, content))
        if text is None:
            text = text_format.MessageToString(type(node)(attr={key: value}), indent=2)
            if len(content) <= _LONGEST_KEPT:
                printed[key, content] = text
        parts.append(text)
    if node.HasField("experimental_debug_info"):
        origin = type(node)(experimental_debug_info=node.experimental_debug_info)
        parts.append(text_format.MessageToString(origin, indent=2))
    return "".join(["node {\n", *parts, "}\n"])
