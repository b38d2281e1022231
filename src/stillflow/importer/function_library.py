"""tensorflow.python.framework.function: functions made of the messages that graphs keep of them."""

from __future__ import annotations

from stillflow.functions.defun import DefinedFunction
from stillflow.graph.default_graph import get_default_graph
from stillflow.importer.import_graph_def import imported_function
from stillflow.names import public


@public("python.framework.function._from_definition")
def from_definition(fdef, grad_func=None):
    """The function of a FunctionDef message, which `grad_func`, a function too, computes the gradient of."""
    made = DefinedFunction.of_library(imported_function(fdef, get_default_graph()))
    if grad_func is not None:
        made.set_grad_func(grad_func)
    return made


@public("python.framework.function.from_library")
def from_library(lib):
    """The functions of a FunctionDefLibrary message, each with its gradient.

    Raises ValueError if a function that it names is not in it, or functions are each other's gradients.
    """
    definitions = {definition.signature.name: definition for definition in lib.function}
    gradient_of = {gradient.function_name: gradient.gradient_func for gradient in lib.gradient}
    for name in (*gradient_of, *gradient_of.values()):
        if name not in definitions:
            raise ValueError(f"FunctionDefLibrary missing '{name}' FunctionDef\n{lib}")
    made: dict = {}
    while len(made) < len(definitions):
        ready = [name for name in definitions if name not in made and gradient_of.get(name, name) in {*made, name}]
        if not ready:
            raise ValueError(f"FunctionDefLibrary contains cyclic gradient functions!\n{lib}")
        for name in ready:
            made[name] = from_definition(definitions[name], made.get(gradient_of.get(name)))
    return list(made.values())
