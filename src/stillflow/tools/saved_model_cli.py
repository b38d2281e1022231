"""tensorflow.python.tools.saved_model_cli: shows a SavedModel, runs it, and looks for ops that touch files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from stillflow.formats import protobuf
from stillflow.graph.graph import Graph
from stillflow.names import public_module
from stillflow.saver.saved_model import loader
from stillflow.session.session import Session
from stillflow.tools import saved_model_inputs
from stillflow.tools.saved_model_utils import get_meta_graph_def, get_saved_model_tag_sets, read_saved_model

public_module("python.tools.saved_model_cli")

_TOUCHING_FILES = frozenset(("PrintV2", "ReadFile", "WriteFile"))


def get_signature_def_map(saved_model_dir, tag_set):
    """{key: SignatureDef} of the MetaGraph with these tags."""
    return get_meta_graph_def(saved_model_dir, tag_set).signature_def


def _show_signature(signature, indent=0):
    """Prints the tensors of a signature."""
    margin = "  " * indent
    for what, tensors in (("input", signature.inputs), ("output", signature.outputs)):
        print(f"{margin}The given SavedModel SignatureDef contains the following {what}(s):")
        for key, info in sorted(tensors.items()):
            print(f"{margin}  {what}s['{key}'] tensor_info:")
            # What belongs to a tensor is indented once more in a list than TensorFlow indents the rest.
            _show_tensor(info, "  " * (indent + 1))
    print(f"{margin}Method name is: {signature.method_name}")


def _show_tensor(info, margin):
    dtypes = {number: name for name, number in protobuf.enum("DataType").items()}
    if info.tensor_shape.unknown_rank:
        shape = "unknown_rank"
    else:
        shape = f"({', '.join(str(dim.size) for dim in info.tensor_shape.dim)})"
    print(f"{margin}    dtype: {dtypes[info.dtype]}")
    print(f"{margin}    shape: {shape}")
    print(f"{margin}    name: {info.name}")


def show(args):
    """Prints the tags, the signatures, or the tensors of a signature, as far as the options say."""
    if args.all:
        for tags in sorted(get_saved_model_tag_sets(args.dir)):
            print(f"\nMetaGraphDef with tag-set: '{', '.join(tags)}' contains the following SignatureDefs:")
            for key, signature in sorted(get_signature_def_map(args.dir, ",".join(tags)).items()):
                print(f"\nsignature_def['{key}']:")
                _show_signature(signature, indent=1)
    elif args.tag_set is None:
        print("The given SavedModel contains the following tag-sets:")
        for tags in sorted(get_saved_model_tag_sets(args.dir)):
            print(", ".join(sorted(tags)))
    elif args.signature_def is None:
        print("The given SavedModel MetaGraphDef contains SignatureDefs with the following keys:")
        for key in sorted(get_signature_def_map(args.dir, args.tag_set)):
            print(f'SignatureDef key: "{key}"')
    else:
        _show_signature(get_signature_def_map(args.dir, args.tag_set)[args.signature_def])


def run_saved_model_with_feed_dict(
    saved_model_dir,
    tag_set,
    signature_def_key,
    input_tensor_key_feed_dict,
    outdir,
    overwrite_flag,
    worker="",
):
    """Runs a signature with {input: array}, prints its outputs, and saves them to a folder if one is given.

    Raises ValueError for an input that the signature does not have, RuntimeError for a file that is there already.
    """
    signature = get_signature_def_map(saved_model_dir, tag_set)[signature_def_key]
    for key in input_tensor_key_feed_dict:
        if key not in signature.inputs:
            known = '"' + '", "'.join(signature.inputs) + '"'
            raise ValueError(f'"{key}" is not a valid input key. Please choose from {known}, or use --show option.')
    feeds = {signature.inputs[key].name: value for key, value in input_tensor_key_feed_dict.items()}
    keys = sorted(signature.outputs)
    with Session(worker or "", graph=Graph()) as sess:
        loader.load(sess, tag_set.split(","), saved_model_dir)
        outputs = sess.run([signature.outputs[key].name for key in keys], feed_dict=feeds)
    for key, output in zip(keys, outputs, strict=True):
        print(f"Result for output key {key}:\n{output}")
        if outdir:
            _save(output, key, outdir, overwrite_flag)


def _save(output, key, folder, may_overwrite):
    path = Path(folder) / f"{key}.npy"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not may_overwrite and path.exists():
        raise RuntimeError(
            f'Output file {path} already exists. Add "--overwrite" to overwrite the existing output files.'
        )
    np.save(path, output)
    print(f"Output {key} is saved to {path}")


def run(args):
    """Runs a signature as the options say. Raises AttributeError if they give no input."""
    if not args.inputs and not args.input_exprs and not args.input_examples:
        raise AttributeError("At least one of --inputs, --input_exprs or --input_examples must be required")
    feeds = saved_model_inputs.load(args.inputs, args.input_exprs, args.input_examples)
    run_saved_model_with_feed_dict(
        args.dir, args.tag_set, args.signature_def, feeds, args.outdir, args.overwrite, worker=args.worker
    )


def scan_meta_graph_def(meta_graph_def):
    """Prints which ops of a MetaGraph touch files."""
    graph = meta_graph_def.graph_def
    nodes = [*graph.node, *(node for function in graph.library.function for node in function.node_def)]
    found = _TOUCHING_FILES & {node.op for node in nodes}
    tags = meta_graph_def.meta_info_def.tags
    if found:
        print(f"MetaGraph with tag set {tags} contains the following blacklisted ops:", found)
    else:
        print(f"MetaGraph with tag set {tags} does not contain blacklisted ops.")


def scan(args):
    """Scans one MetaGraph, or all."""
    if args.tag_set:
        scan_meta_graph_def(get_meta_graph_def(args.dir, args.tag_set))
        return
    for meta_graph in read_saved_model(args.dir).meta_graphs:
        scan_meta_graph_def(meta_graph)


def create_parser():
    """The parser of the program's arguments; what it finds has a `func` to call with it."""
    parser = argparse.ArgumentParser(description="saved_model_cli: Command-line interface for SavedModel")
    parser.add_argument("-v", "--version", action="version", version="0.1.0")
    commands = parser.add_subparsers(title="commands", description="valid commands")

    def command(name, function, tags_required, about):
        found = commands.add_parser(name, description=about, help=about)
        found.add_argument("--dir", required=True, help="the folder of the SavedModel")
        found.add_argument("--tag_set", required=tags_required, help="all tags of a MetaGraph, separated by ','")
        found.set_defaults(func=function)
        return found

    showing = command("show", show, False, "Prints tags, signatures and tensors of a SavedModel.")
    showing.add_argument("--all", action="store_true", help="print everything")
    showing.add_argument("--signature_def", metavar="SIGNATURE_DEF_KEY", help="the signature to print")
    running = command("run", run, True, "Runs a signature of a SavedModel.")
    running.add_argument("--signature_def", required=True, metavar="SIGNATURE_DEF_KEY", help="the signature to run")
    running.add_argument("--inputs", default="", help="'input=file.npz[name]', '.npy' or a pickle, separated by ';'")
    running.add_argument("--input_exprs", default="", help="'input=expression', with numpy as np, separated by ';'")
    running.add_argument("--input_examples", default="", help="'input=[{feature: [values]}]', separated by ';'")
    running.add_argument("--outdir", help="the folder to save outputs to")
    running.add_argument("--overwrite", action="store_true", help="overwrite files that are there")
    running.add_argument("--worker", help="the target of the session")
    command("scan", scan, False, "Looks for ops that read or write files.")
    return parser


def main():
    """The program."""
    parser = create_parser()
    args = parser.parse_args()
    if not hasattr(args, "func"):
        parser.error("too few arguments")
    args.func(args)


if __name__ == "__main__":
    sys.exit(main())
