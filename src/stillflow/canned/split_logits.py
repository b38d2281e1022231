"""Logits of several heads in one tensor, taken apart."""

from __future__ import annotations

from stillflow import ops
from stillflow.canned.keys import PREDICT_SERVING_KEY
from stillflow.graph.name_scope import name_scope
from stillflow.ops.convert import convert_to_tensor
from stillflow.saver.saved_model.export_outputs import PredictOutput
from stillflow.saver.saved_model.names import DEFAULT_SERVING_SIGNATURE_DEF_KEY


def split_logits(logits, heads):
    """{name of a head: its logits} of a tensor [..., logits of all]. Raises ValueError for another size."""
    with name_scope(None, "split_logits", values=[logits]):
        logits = convert_to_tensor(logits)
        sizes = [head.logits_dimension for head in heads]
        shape = logits.shape.as_list()
        if shape[-1] is not None and shape[-1] != sum(sizes):
            raise ValueError(
                f"Could not split logits of shape {shape!r} among the heads with individual logits dimensions: "
                f"{sizes!r}. The last dimension of the logits tensor should equal {shape[-1]} but is {sum(sizes)}."
            )
        batch_shape = ops.shape(logits)[:-1]
        zeros = ops.zeros_like(batch_shape)
        all_of_it = -1 * ops.ones_like(batch_shape)
        found, at = {}, 0
        for head, size in zip(heads, sizes, strict=True):
            begin = ops.concat([zeros, [at]], axis=0)
            found[head.name] = ops.slice(logits, begin=begin, size=ops.concat([all_of_it, [size]], axis=0))
            at += size
    return found


def merged_export_outputs(heads, specs, namespace):
    """The signatures of several heads: the first's is the default one, all together are "predict".

    Raises ValueError if the first one has no default signature.
    """
    first = specs[0].export_outputs
    if len(first) != 1 and DEFAULT_SERVING_SIGNATURE_DEF_KEY not in first:
        raise ValueError(
            f"{heads[0].name} did not specify default export_outputs. Given: {first} Suggested fix: Use one of the "
            f"heads in {namespace}, or include key {DEFAULT_SERVING_SIGNATURE_DEF_KEY} in export_outputs."
        )
    default = next(iter(first.values())) if len(first) == 1 else first[DEFAULT_SERVING_SIGNATURE_DEF_KEY]
    found, all_outputs = {DEFAULT_SERVING_SIGNATURE_DEF_KEY: default}, {}
    for head, spec in zip(heads, specs, strict=True):
        for key, output in spec.export_outputs.items():
            found[head.name if key == DEFAULT_SERVING_SIGNATURE_DEF_KEY else f"{head.name}/{key}"] = output
            if key == PREDICT_SERVING_KEY and isinstance(output, PredictOutput):
                all_outputs.update({f"{head.name}/{name}": tensor for name, tensor in output.outputs.items()})
    found[PREDICT_SERVING_KEY] = PredictOutput(all_outputs)
    return found
