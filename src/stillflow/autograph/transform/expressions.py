"""Expressions: calls, and what Python decides by the truth of values, become calls of operators."""

from __future__ import annotations

import ast


def operator(name):
    """The expression `ag__.<name>`."""
    return ast.Attribute(ast.Name("ag__", ast.Load()), name, ast.Load())


def call(name, *args):
    """The expression `ag__.<name>(...)`."""
    return ast.Call(operator(name), list(args), [])


def thunk(expression):
    """The expression `lambda: <expression>`."""
    nothing = ast.arguments(
        posonlyargs=[], args=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[]
    )
    return ast.Lambda(nothing, expression)


def texts(names):
    """A tuple of strings, as an expression."""
    return ast.Tuple([ast.Constant(name) for name in names], ast.Load())


def _binds(node):
    return any(isinstance(each, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)) for each in ast.walk(node))


class Expressions(ast.NodeTransformer):
    """Converts the expressions of a function.

    Args:
      scope_name: the variable that has the function's FunctionScope.
      settings: a ConversionOptions.
      first_argument: the name of the function's first argument, which super() takes; None without one.
      class_name: the class that private names belong to, or None.
    """

    def __init__(self, scope_name, settings, first_argument, class_name):
        self.scope_name = scope_name
        self.settings = settings
        self._first_argument = first_argument
        self._class_name = class_name

    # ---- Names ----------------------------------------------------------------------------------------------

    def _mangled(self, name):
        if self._class_name and name.startswith("__") and not name.endswith("__"):
            return f"_{self._class_name.lstrip('_')}{name}"
        return name

    def visit_Name(self, node):
        node.id = self._mangled(node.id)
        return node

    def visit_Attribute(self, node):
        self.generic_visit(node)
        node.attr = self._mangled(node.attr)
        return node

    # ---- Calls ----------------------------------------------------------------------------------------------

    def visit_Call(self, node):
        if isinstance(node.func, ast.Attribute) and _is_operator(node.func):
            node.args = [self.visit(arg) for arg in node.args]
            return node
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args and self._first_argument:
            node.args = [ast.Name("__class__", ast.Load()), ast.Name(self._first_argument, ast.Load())]
            return node
        if isinstance(node.func, ast.Name) and node.func.id == "print" and not self.settings.uses_builtins:
            return self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in ("locals", "globals", "vars", "dir") and not node.args:
            return node
        self.generic_visit(node)
        args: ast.expr = ast.Tuple(node.args, ast.Load())
        kwargs: ast.expr = ast.Constant(None)
        if node.keywords:
            kwargs = ast.Call(ast.Name("dict", ast.Load()), [], node.keywords)
        converted = call("converted_call", node.func, args, kwargs, ast.Name(self.scope_name, ast.Load()))
        return ast.copy_location(converted, node)

    # ---- Truth ----------------------------------------------------------------------------------------------

    def visit_BoolOp(self, node):
        self.generic_visit(node)
        if _binds(node):
            return node
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        result = node.values[-1]
        for value in reversed(node.values[:-1]):
            result = ast.copy_location(call(name, thunk(value), thunk(result)), node)
        return result

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        return ast.copy_location(call("not_", node.operand), node) if isinstance(node.op, ast.Not) else node

    def visit_Compare(self, node):
        self.generic_visit(node)
        parts = []
        left = node.left
        for sign, right in zip(node.ops, node.comparators, strict=True):
            parts.append(ast.copy_location(self._comparison(left, sign, right), node))
            left = right
        if len(parts) > 1 and _binds(node):
            return node
        result = parts[-1]
        for part in reversed(parts[:-1]):
            result = ast.copy_location(call("and_", thunk(part), thunk(result)), node)
        return result

    def _comparison(self, left, sign, right):
        if self.settings.uses_equality and isinstance(sign, ast.Eq):
            return call("eq", left, right)
        if self.settings.uses_equality and isinstance(sign, ast.NotEq):
            return call("not_eq", left, right)
        return ast.Compare(left, [sign], [right])

    def visit_IfExp(self, node):
        self.generic_visit(node)
        if _binds(node):
            return node
        return ast.copy_location(call("if_exp", node.test, thunk(node.body), thunk(node.orelse)), node)

    # ---- Scopes ---------------------------------------------------------------------------------------------

    def visit_Lambda(self, node):
        """A lambda: what it calls is converted as what the function around it calls."""
        self.generic_visit(node)
        return ast.copy_location(call("converted", node), node)

    def visit_FunctionDef(self, node):
        raise AssertionError("functions are converted as statements")

    def visit_ClassDef(self, node):
        return node


def _is_operator(node):
    return isinstance(node.value, ast.Name) and node.value.id == "ag__"
