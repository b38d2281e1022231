"""What `stillflow convert` does, and its exit codes."""

from __future__ import annotations

import sys

from stillflow import errors
from stillflow.onnx_export import conversion, sources
from stillflow.onnx_export.sources import ConversionError


def run(arguments) -> int:
    """Converts. Returns 0; 2 for what cannot be read or converted, which stderr names."""
    request = sources.Request(
        arguments.source,
        tuple(arguments.inputs),
        tuple(arguments.outputs),
        tuple(arguments.fix),
        tuple(arguments.tags.split(",")),
        arguments.signature,
        arguments.checkpoint,
    )
    try:
        model = sources.load(request)
        proto = conversion.to_onnx(model)
        with open(arguments.target, "wb") as file:
            file.write(proto.SerializeToString())
    except (ConversionError, errors.OpError, OSError, ValueError) as error:
        print(f"stillflow convert: {getattr(error, 'message', error)}", file=sys.stderr)
        return 2
    print(f"{arguments.target}: {len(proto.graph.node)} nodes, inputs {_listed(proto.graph.input)}, outputs ", end="")
    print(_listed(proto.graph.output))
    if proto.doc_string:
        print(proto.doc_string)
    return 0


def _listed(infos):
    return ", ".join(info.name for info in infos) or "none"
