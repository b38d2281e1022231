"""The protobuf messages of tf.*; each is made when it is first asked for."""

import sys

MESSAGES = frozenset(
    "AttrValue ConfigProto Event GPUOptions GraphDef GraphOptions HistogramProto LogMessage MetaGraphDef "
    "NameAttrList NodeDef OptimizerOptions RunMetadata RunOptions SessionLog Summary SummaryMetadata "
    "TensorInfo".split()
)


def offering(module, names):
    """A module's __getattr__ that finds these messages, and nothing else."""
    offered = frozenset(names.split())

    def find(name):
        if name not in offered:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        from stillflow.formats import protobuf

        message = protobuf.message(name)
        setattr(sys.modules[module], name, message)
        return message

    return find
