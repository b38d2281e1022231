"""TensorFlow's ops for its own tests (python/framework/test_ops.cc), which it declares without kernels.

The declarations are read from TensorFlow's sources; nodes of these ops exist in graphs only.
"""

import re
from pathlib import Path

_FILE = "tensorflow/python/framework/test_ops.cc"
_OP = re.compile(r'REGISTER_OP\("(\w+)"\)((?:\s*\.\w+\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*)')
_CALL = re.compile(r'\.(Input|Output|Attr)\(((?:\s*"(?:[^"\\]|\\.)*")+)\s*\)')
_DTYPES = {"DT_INT32": "int32", "DT_FLOAT": "float32", "DT_STRING": "string", "DT_BOOL": "bool"}
_FLOATS = {"float": "float32", "double": "float64"}


def _text(quoted):
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', quoted))


def _attr(text):
    """An attribute's declaration. Defaults that are messages become what stillflow has for them."""
    name, _, rest = text.partition(":")
    kind, equals, default = rest.partition("=") if ">=" not in rest else (rest, "", "")
    kind = kind.strip()
    if not equals:
        head = re.sub(r"\{([^{}']*)\}", lambda found: "{" + _types(found[1]) + "}", rest)
        return f"{name}:{re.sub(r'DT_[A-Z0-9]+', lambda found: _DTYPES[found[0]], head)}"
    messages = {"shape": "[2, 1]", "list(shape)": None, "tensor": "int32[1]", "list(tensor)": None}
    if kind in messages:
        default = messages[kind]
        return f"{name}: {kind}" if default is None else f"{name}: {kind} = {default}"
    default = re.sub(r"DT_[A-Z0-9]+", lambda found: _DTYPES[found[0]], default)
    return f"{name}: {kind} = {default.strip()}"


def _types(text):
    return ", ".join(_FLOATS.get(part.strip(), part.strip()) for part in text.split(","))


def _arg(text):
    return re.sub(r"\b(float|double)\b", lambda found: _FLOATS[found[0]], text)


def declare(folder):
    """Declares the ops, if the folder has them. Returns {op type: the function that adds a node}."""
    from stillflow.ops.registry import define_op

    found = {}
    file = Path(folder, _FILE)
    for name, calls in _OP.findall(file.read_text() if file.exists() else ""):
        parts = {"Input": [], "Output": [], "Attr": []}
        for kind, quoted in _CALL.findall(calls):
            parts[kind].append(_text(quoted))
        inputs, outputs = (", ".join(map(_arg, parts[kind])) for kind in ("Input", "Output"))
        function = define_op(
            f"{name}({inputs}) -> ({outputs})",
            "; ".join(map(_attr, parts["Attr"])),
            special="of_tests",
            stateful=".SetIsStateful" in calls,
            differentiable=None,
        )
        function.shape_rule(_unknown)
        found[name] = function
    return found


def _unknown(context):
    return [None] * context.output_count()


class OpDefLibrary:
    """The object that adds nodes by the types of ops, `_op_def_lib` of modules of ops."""

    def apply_op(self, op_type_name, name=None, **kwargs):
        from stillflow.graph import op_def
        from stillflow.graph.operation import Operation
        from stillflow.ops import build

        found = op_def.find(op_type_name)
        if found is None:
            raise RuntimeError(f"Unrecognized Op name {op_type_name}")
        known = {*(arg.name for arg in found.inputs), *found.attrs}
        # Names that are Python's words, or functions, have an underscore at the end.
        kwargs = {key if key in known else key.removesuffix("_"): value for key, value in kwargs.items()}
        unexpected = sorted(kwargs.keys() - known)
        if unexpected and all(arg.name in kwargs for arg in found.inputs):
            raise TypeError(f"apply_op() got unexpected keyword arguments: {', '.join(unexpected)}")
        result = build.function_of(found)(name=name, **kwargs)
        if isinstance(result, Operation) and found.outputs:
            return build.structured_outputs(found, result._attrs, [])
        return result
