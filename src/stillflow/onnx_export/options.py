"""The options of `stillflow convert`."""

from __future__ import annotations


def add_arguments(parser):
    """Adds the options to an argparse parser."""
    parser.add_argument(
        "source", help="a SavedModel's folder, a MetaGraph (.meta) or its checkpoint, or a frozen GraphDef"
    )
    parser.add_argument("target", help="the file .onnx to write")
    parser.add_argument(
        "--inputs",
        nargs="+",
        default=[],
        metavar="NAME[SIZES]",
        help="tensors that are the model's inputs, with sizes if they are to be fixed: image:0[1,224,224,3]; by "
        "default those of the signature, or all placeholders",
    )
    parser.add_argument(
        "--outputs",
        nargs="+",
        default=[],
        metavar="NAME",
        help="tensors or nodes that are the model's outputs; by default those of the signature, or of a GraphDef the "
        "outputs that no node reads",
    )
    parser.add_argument(
        "--fix",
        nargs="+",
        default=[],
        metavar="NAME=VALUE",
        help="inputs that are constant in the model: keep_prob=1 is_training=false",
    )
    parser.add_argument("--tags", default="serve", help="tags of the graph in a SavedModel, separated by commas")
    parser.add_argument("--signature", default="serving_default", help="the signature in a SavedModel")
    parser.add_argument("--checkpoint", help="the checkpoint of a MetaGraph, by default the one it was written with")
