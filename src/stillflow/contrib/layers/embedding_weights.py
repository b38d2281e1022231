"""The variables of columns of vectors, and what is looked up in them."""

from __future__ import annotations

from stillflow.contrib.framework.model_variables import model_variable
from stillflow.contrib.layers.embeddings import safe_embedding_lookup_sparse
from stillflow.contrib.layers.plain import inner_flatten
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.saver.initialization import init_from_checkpoint
from stillflow.variables.variable import Variable


def parts_of(variable):
    """The variables that a variable has been cut into, or itself."""
    return [variable] if isinstance(variable, Variable) else variable._get_variable_list()


def restore(column, variables):
    """Lets the variables of a column begin with what a checkpoint has, if the column says so."""
    path = column.checkpoint_path()
    if path:
        checkpoint, name = path
        init_from_checkpoint(checkpoint, {name: variables[0] if len(variables) == 1 else variables})


def embeddings(column, arguments, collections, trainable, output_rank=2):
    """The means of the vectors of a column's categories: what the column looks up, as its LookupArguments say."""
    ids = inner_flatten(arguments.input_tensor, output_rank)
    weights = arguments.weight_tensor
    if weights is not None:
        weights = inner_flatten(weights, output_rank)
    shared = column.shared_embedding_name
    made = {
        "shape": [arguments.vocab_size, column.dimension],
        "dtype": dtypes.float32,
        "initializer": arguments.initializer,
        "trainable": trainable and column.trainable,
        "collections": collections,
    }
    vectors = model_variable(name="weights", **made) if shared is None else _shared(shared, made)
    parts = parts_of(vectors)
    restore(column, parts)
    return safe_embedding_lookup_sparse(
        parts,
        ids,
        sparse_weights=weights,
        combiner=arguments.combiner,
        name=f"{column.name}weights",
        max_norm=column.max_norm,
    )


def _shared(name, made):
    """The variable that columns share, which the first of them makes."""
    found = get_default_graph().get_collection_ref(f"SHARED_EMBEDDING_COLLECTION_{name.upper()}")
    if not found:
        found.append(model_variable(name=name, **made))
    elif found[0].get_shape() != made["shape"]:
        raise ValueError(
            f"The embedding variable with name {name} already exists, but its shape does not match required "
            "embedding shape here. Please make sure to use different shared_embedding_name for different shared "
            "embeddings."
        )
    return found[0]
