"""What `stillflow convert` does, its options, and its exit codes."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from stillflow import errors
from stillflow.conversion import hugging_face
from stillflow.conversion.frozen import frozen
from stillflow.conversion.onnx_model import onnx_model
from stillflow.files import filesystem
from stillflow.graph import dtypes
from stillflow.inspection.sources import DamageError, InputError, open_source, safetensors
from stillflow.saver.checkpoint_reader import RESERVED_PREFIX
from stillflow.saver.objects.object_graph import OBJECT_GRAPH_KEY


def add_arguments(parser):
    """Declares the options."""
    parser.add_argument(
        "source", help="a folder with a SavedModel, a frozen GraphDef (.pb), a MetaGraph (.meta), or a checkpoint"
    )
    parser.add_argument("target", help="a file .onnx, or a file .safetensors of a checkpoint's tensors")
    parser.add_argument("--checkpoint", help="the values of a MetaGraph's variables; by default those beside it")
    parser.add_argument(
        "--inputs", nargs="+", default=(), metavar="TENSOR", help="what is fed; by default the signature's inputs"
    )
    parser.add_argument(
        "--outputs",
        nargs="+",
        default=(),
        metavar="TENSOR",
        help="what is wanted; by default the signature's outputs",
    )
    parser.add_argument("--signature", help="the signature of a SavedModel; by default serving_default")
    parser.add_argument(
        "--names",
        choices=hugging_face.MODELS,
        help="name the tensors as Hugging Face's Transformers name this model's",
    )


def run(arguments) -> int:
    """Converts. Returns 0; 1 if the source is damaged, 2 for what cannot be converted, as stderr says."""
    try:
        if arguments.target.endswith(".onnx"):
            print(_to_onnx(arguments))
        elif arguments.target.endswith(".safetensors"):
            for line in _to_safetensors(arguments):
                print(line)
        else:
            raise InputError("The target must be a file .onnx or .safetensors; `stillflow ckpt convert` has others.")
    except InputError as error:
        return _fail(error, 2)
    except DamageError as error:
        return _fail(error, 1)
    except (errors.OpError, OSError) as error:
        return _fail(getattr(error, "message", error), 2)
    return 0


def _fail(error, code):
    print(f"stillflow convert: {error}", file=sys.stderr)
    return code


def _to_onnx(arguments):
    model = onnx_model(
        frozen(arguments.source, arguments.checkpoint, arguments.inputs, arguments.outputs, arguments.signature)
    )
    filesystem.write_atomically(arguments.target, model.SerializeToString(deterministic=True))
    inputs, outputs = ([info.name for info in infos] for infos in (model.graph.input, model.graph.output))
    size = Path(arguments.target).stat().st_size
    names = f"{', '.join(inputs)} -> {', '.join(outputs)}"
    return f"{arguments.target}: {len(model.graph.node)} nodes, {size} bytes, {names}"


def _to_safetensors(arguments):
    source = open_source(arguments.source)
    library = safetensors()
    found, left_out = {}, []
    for name, entry in source.entries.items():
        renaming = hugging_face.renamed(arguments.names, name) if arguments.names else hugging_face.Renaming(name)
        if renaming is None or name == OBJECT_GRAPH_KEY or name.startswith(RESERVED_PREFIX):
            left_out.append(name)
            continue
        if entry.dtype in (dtypes.string, dtypes.complex128) or entry.dtype.is_quantized:
            raise InputError(f"{name} is of the type {entry.dtype.name}, which .safetensors cannot hold.")
        if renaming.name in found:
            raise InputError(f"Two tensors would be called {renaming.name}.")
        value = np.asarray(source.read(name))
        found[renaming.name] = hugging_face.converted(arguments.names, value, renaming)
    metadata = {"format": "pt"} if arguments.names else None
    with filesystem.typed_errors(arguments.target):
        filesystem.write_atomically(arguments.target, library.numpy.save(found, metadata))
    yield f"{arguments.target}: {len(found)} tensors"
    for name in left_out:
        yield f"left out, because only training needs it: {name}"
