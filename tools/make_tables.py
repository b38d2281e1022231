"""Writes what the package knows of itself: run by the build, which installs the results beside the sources.

    python tools/make_tables.py OUT

The sources are read; only stillflow.ops is imported, as many ops are declared in loops:

OUT/stillflow/names/table.py      {public name: "module:attribute"}, from the marks of stillflow.names
OUT/stillflow/ops/contents.py     which module declares an op type, and which has a builder
OUT/stillflow-stubs               stubs of `stillflow` and its namespaces, with the real signatures
"""

import ast
import importlib
import json
import sys
import types
from pathlib import Path

import make_stubs

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "stillflow"


def module_name(path):
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix("__init__").removesuffix(".")


def sources():
    return sorted(SOURCE.rglob("*.py"))


# ---- Marks --------------------------------------------------------------------------------------------------


def marks_of(tree):
    """(public name, attribute or "", the statement that defines it) for each mark in a module."""
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            for decorator in node.decorator_list:
                for name in called("public", decorator):
                    yield name, node.name, node
        elif isinstance(node, ast.Assign):
            yield from _marks_of_assignment(node)
        elif isinstance(node, ast.Expr):
            for name in called("public_module", node.value):
                yield name, "", node


def called(function, node):
    """The strings that a call of the function has as arguments."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.lstrip("_") == function:
        return [argument.value for argument in node.args]
    return []


def _marks_of_assignment(node):
    """X = public("x")(value), X = define_op(..., public="x y"), NAMES = public_names({...})."""
    value, target = node.value, node.targets[0]
    if not isinstance(value, ast.Call):
        return
    for name in called("public", value.func):
        yield name, target.id, node
    if isinstance(value.func, ast.Name) and value.func.id == "public_names":
        for attribute, names in ast.literal_eval(value.args[0]).items():
            for name in names.split():
                yield name, attribute, node
    for call in ast.walk(value):
        for keyword in getattr(call, "keywords", ()):
            if keyword.arg == "public":
                for name in ast.literal_eval(keyword.value).split():
                    yield name, target.id, node


def public_names():
    """{public name: (module, attribute, statement)}. Raises ValueError for a name that is marked twice."""
    found, passed_on = {}, []
    for path in sources():
        tree = ast.parse(path.read_text(), str(path))
        for name, attribute, node in marks_of(tree):
            if name in found:
                raise ValueError(f"tf.{name} is marked in {found[name][0]} and in {module_name(path)}")
            found[name] = module_name(path), attribute, node
        passed_on += [called("passes_on", node.value) for node in tree.body if isinstance(node, ast.Expr)]
    for namespace, *others in filter(None, passed_on):
        for source in others:
            for last, name in names_in(source, found):
                found.setdefault(f"{namespace}.{last}", found[name])
    return found


def names_in(namespace, found):
    """(last part, public name) of what a namespace holds: by marks, and by where TensorFlow keeps its names."""
    marked = [name for name in found if name.rpartition(".")[0] == namespace]
    yield from ((name.rpartition(".")[2], name) for name in marked)
    locations = json.loads((SOURCE / "names" / "locations.json").read_text())
    yield from ((last, name) for last, name in locations.get(namespace, {}).items() if name in found)


def table_text(names):
    lines = [
        '"""{public name: "module:attribute"}, made from the marks in the sources by tools/make_tables.py."""',
        "",
    ]
    lines += ["NAMES = {"]
    lines += [f'    "{name}": "{module}:{attribute}",' for name, (module, attribute, _) in sorted(names.items())]
    return "\n".join([*lines, "}", ""])


# ---- Ops ----------------------------------------------------------------------------------------------------


def imported_names(tree):
    """The names that a module has from elsewhere."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
    return found


def own_names(tree):
    """The names that a module defines at its top, as far as they can be read."""
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                parts = target.elts if isinstance(target, ast.Tuple) else [target]
                yield from (part.id for part in parts if isinstance(part, ast.Name))


def op_modules():
    """{module below stillflow.ops: its tree}."""
    folder = SOURCE / "ops"
    paths = [path for path in sorted(folder.rglob("*/*.py")) if path.name != "__init__.py"]
    return {
        ".".join(path.relative_to(folder).with_suffix("").parts): ast.parse(path.read_text(), str(path))
        for path in paths
    }


def contents():
    """({op type: module}, {builder: module}, {(module, name): op function}).

    The modules are imported, with what can be read of the builders.
    """
    trees = op_modules()
    stub = types.ModuleType("stillflow.ops.contents")
    stub.OPS = {}
    stub.BUILDERS = {name: module for module, tree in trees.items() for name in own_names(tree)}
    sys.modules[stub.__name__] = stub
    names = sys.modules["stillflow.names.table"] = types.ModuleType("stillflow.names.table")
    names.NAMES = {}
    sys.path.insert(0, str(SOURCE.parent))
    from stillflow.graph import op_def

    ops, builders, functions = {}, {}, {}
    register = op_def.register

    def note(declared):
        frame = sys._getframe()
        while frame.f_code.co_name != "<module>":
            frame = frame.f_back
        ops[declared.name] = frame.f_globals["__name__"].removeprefix("stillflow.ops.")
        register(declared)

    op_def.register = note
    for module, tree in trees.items():
        found = importlib.import_module(f"stillflow.ops.{module}")
        elsewhere = imported_names(tree)
        for name, value in sorted(vars(found).items()):
            if not callable(value) or name.startswith("_") or name in elsewhere:
                continue
            if name in builders:
                raise ValueError(f"ops.{name} is defined in {builders[name]} and in {module}")
            builders[name] = module
            if hasattr(value, "op_def"):
                functions[f"ops.{module}", name] = value
    return ops, builders, functions


def contents_text(ops, builders):
    def entries(table):
        return [f'    "{name}": "{module}",' for name, module in sorted(table.items())]

    head = (
        '"""Which module declares an op, and which has a builder: made from the sources by tools/make_tables.py."""'
    )
    return "\n".join([head, "", "OPS = {", *entries(ops), "}", "BUILDERS = {", *entries(builders), "}", ""])


# ---- Writing ------------------------------------------------------------------------------------------------


def write(path, text):
    """Writes a file unless it is so already, so that nothing is built anew for nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main(out):
    names = public_names()
    ops, builders, functions = contents()
    write(out / "stillflow" / "names" / "table.py", table_text(names))
    write(out / "stillflow" / "ops" / "contents.py", contents_text(ops, builders))
    for path, text in make_stubs.stubs(names, functions).items():
        write(out / "stillflow-stubs" / path, text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
