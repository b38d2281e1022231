"""The messages of tf.contrib.session_bundle.manifest_pb2: what an export says of its signatures and files."""

from __future__ import annotations

from stillflow.formats import protobuf
from stillflow.names import public_names

_PUBLIC = public_names(
    {
        "AssetFile": "contrib.session_bundle.manifest_pb2.AssetFile",
        "ClassificationSignature": "contrib.session_bundle.manifest_pb2.ClassificationSignature",
        "GenericSignature": "contrib.session_bundle.manifest_pb2.GenericSignature",
        "RegressionSignature": "contrib.session_bundle.manifest_pb2.RegressionSignature",
        "Signature": "contrib.session_bundle.manifest_pb2.Signature",
        "Signatures": "contrib.session_bundle.manifest_pb2.Signatures",
        "TensorBinding": "contrib.session_bundle.manifest_pb2.TensorBinding",
    }
)


def message(name):
    """The class of one of the messages."""
    return protobuf.message(f"serving.{name}")


def __getattr__(name):
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return message(name)
