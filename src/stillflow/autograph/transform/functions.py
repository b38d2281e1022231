"""convert_function: a function's syntax tree with its control flow as calls of operators."""

from __future__ import annotations

import ast
import sys

from stillflow.autograph.transform.expressions import Expressions, call, operator, texts, thunk
from stillflow.autograph.transform.jumps import lower_loop_jumps, lower_returns
from stillflow.autograph.transform.liveness import live_before, live_in_loop
from stillflow.autograph.transform.names import FUNCTIONS, Namer, all_names, arguments, blocks, bound, outer_names


def convert_function(function, settings, options, class_name=None):
    """Converts an ast.FunctionDef in place.

    Args:
      function: the function; of its decorators nothing is left.
      settings: a ConversionOptions.
      options: the expression that makes the ConversionOptions of the calls in it.
      class_name: the class that private names belong to, or None.

    Raises NotImplementedError for what cannot be converted.
    """
    _refuse_unsupported(function)
    function.decorator_list = []
    function.args.defaults = [_placeholder() for _ in function.args.defaults]
    function.args.kw_defaults = [None if each is None else _placeholder() for each in function.args.kw_defaults]
    namer = Namer(all_names(function) | {"ag__"})
    _Conversion(function, settings, options, class_name, namer).convert()
    ast.fix_missing_locations(function)
    return function


def _placeholder():
    return ast.Constant(None)  # defaults are those of the original function


def _refuse_unsupported(function):
    if isinstance(function, ast.AsyncFunctionDef):
        raise NotImplementedError("Coroutines are not supported by AutoGraph")
    pending: list = list(function.body)
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            raise NotImplementedError("Generators are not supported by AutoGraph")
        if not isinstance(node, (*FUNCTIONS, ast.Lambda)):
            pending.extend(ast.iter_child_nodes(node))


class _Conversion:
    def __init__(self, function, settings, options, class_name, namer):
        self._function = function
        self._settings = settings
        self._options = options
        self._class_name = class_name
        self._namer = namer
        args = function.args
        first = [*args.posonlyargs, *args.args][:1]
        self._expressions = Expressions(
            namer.new("fscope"), settings, first[0].arg if first else None, class_name
        )  # fmt: skip
        self._outer = outer_names(function.body)
        self._globals = _declared(function.body, ast.Global)
        self._local = (bound(*function.body)[0] | arguments(args)) - self._outer
        self._declared: dict = {}  # names that only inner functions bind

    def convert(self):
        function = self._function
        function.body = lower_loop_jumps(function.body, self._namer)
        if len(function.body) > 1 and _is_text(function.body[0]):
            documentation, function.body = [function.body[0]], function.body[1:]
        else:
            documentation = []
        lower_returns(function, self._namer)
        self._local |= bound(*function.body)[0] - self._outer
        declarations = [each for each in function.body if isinstance(each, (ast.Global, ast.Nonlocal))]
        body, _ = self._block([each for each in function.body if each not in declarations], set())
        scope = ast.With(
            [
                ast.withitem(
                    call("FunctionScope", ast.Constant(function.name), ast.Constant(self._expressions.scope_name),
                         self._options),
                    ast.Name(self._expressions.scope_name, ast.Store()),
                )
            ],
            body or [ast.Pass()],
        )  # fmt: skip
        ast.copy_location(scope, function.body[0] if function.body else function)
        function.body = [*documentation, *declarations, *self._bindings(function), scope]

    def _bindings(self, function):
        """Statements that make the names of inner functions' variables names of this one."""
        here = arguments(function.args)
        names = sorted(name for name in self._declared if name not in here)
        if not names:
            return []
        targets: list = [ast.Name(name, ast.Store()) for name in names]
        statement = ast.If(ast.Constant(False), [ast.Assign(targets, ast.Constant(None), lineno=1)], [])
        return [ast.copy_location(statement, function)]

    # ---- Statements -----------------------------------------------------------------------------------------

    def _block(self, statements, live):
        """(the converted statements, the names that are live before them), for the names that are live after them."""
        converted: list = []
        for statement in reversed(statements):
            before = live_before([statement], live)
            converted[:0] = self._statement(statement, live)
            live = before
        return converted, live

    def _statement(self, statement, live):
        if isinstance(statement, ast.If):
            return self._if(statement, live)
        if isinstance(statement, ast.While):
            return self._while(statement, live)
        if isinstance(statement, ast.For):
            return self._for(statement, live)
        if isinstance(statement, ast.Assert) and self._settings.uses_asserts:
            return [self._assert(statement)]
        if isinstance(statement, FUNCTIONS):
            return [self._inner_function(statement)]
        if isinstance(statement, ast.ClassDef):
            return [statement]
        if isinstance(statement, ast.Return):
            value = ast.Constant(None) if statement.value is None else self._expressions.visit(statement.value)
            scope = ast.Name(self._expressions.scope_name, ast.Load())
            marked = ast.Call(ast.Attribute(scope, "mark_return_value", ast.Load()), [value], [])
            return [ast.copy_location(ast.Return(ast.copy_location(marked, statement)), statement)]
        return [self._simple(statement, live)]

    def _simple(self, statement, live):
        """A statement whose blocks stay where they are."""
        inside = live_before([statement], live) | live
        for field, value in ast.iter_fields(statement):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                last = field in ("finalbody",) or len([1 for _ in blocks(statement)]) == 1
                setattr(statement, field, self._block(value, live if last else inside)[0])
            elif (
                isinstance(value, list) and value and hasattr(value[0], "body") and not isinstance(value[0], ast.expr)
            ):
                for part in value:
                    part.body = self._block(part.body, inside)[0]
                    self._visit_fields(part)
            else:
                setattr(statement, field, self._visited(value))
        return statement

    def _visit_fields(self, part):
        for field, value in ast.iter_fields(part):
            if field != "body":
                setattr(part, field, self._visited(value))

    def _visited(self, value):
        if isinstance(value, ast.AST):
            return self._expressions.visit(value)
        if isinstance(value, list):
            return [self._expressions.visit(each) if isinstance(each, ast.AST) else each for each in value]
        return value

    def _assert(self, node):
        message = ast.Constant("Assertion error") if node.msg is None else self._expressions.visit(node.msg)
        test = self._expressions.visit(node.test)
        return ast.copy_location(ast.Expr(call("assert_stmt", test, thunk(message))), node)

    def _inner_function(self, node):
        decorators = [self._expressions.visit(each) for each in node.decorator_list]
        defaults = [self._expressions.visit(each) for each in node.args.defaults]
        keyword_defaults = [each and self._expressions.visit(each) for each in node.args.kw_defaults]
        try:
            _refuse_unsupported(node)
        except NotImplementedError:
            return node
        _Conversion(node, self._settings, self._options, self._class_name, self._namer).convert()
        node.args.defaults, node.args.kw_defaults = defaults, keyword_defaults
        node.decorator_list = [*decorators, operator("converted")]
        return node

    # ---- Branches and loops ---------------------------------------------------------------------------------

    def _if(self, node, live):
        names, attributes = bound(*node.body, *node.orelse)
        bodies = self._block(node.body, live)[0], self._block(node.orelse, live)[0]
        state = self._state(names & live, attributes)
        true_name, false_name = self._namer.new("if_true"), self._namer.new("if_false")
        getter, setter = self._namer.new("get_state"), self._namer.new("set_state")
        made = [
            *self._state_functions(state, getter, setter),
            self._inner(true_name, [], bodies[0], names),
            self._inner(false_name, [], bodies[1], names),
            ast.Expr(call("if_stmt", self._expressions.visit(node.test), *map(_load, (true_name, false_name, getter,
                          setter)), texts(state))),
        ]  # fmt: skip
        return _located(made, node)

    def _while(self, node, live):
        names, attributes = bound(*node.body)
        around = live_in_loop(node, live)
        body, _ = self._block(node.body, around)
        state = self._state(names & around, attributes)
        test_name, body_name = self._namer.new("loop_test"), self._namer.new("loop_body")
        getter, setter = self._namer.new("get_state"), self._namer.new("set_state")
        body, options = _loop_options(body)
        made = [
            *self._state_functions(state, getter, setter),
            self._inner(body_name, [], body, names),
            self._inner(test_name, [], [ast.Return(self._expressions.visit(node.test))], set()),
            ast.Expr(call("while_stmt", *map(_load, (test_name, body_name, getter, setter)), texts(state), options)),
        ]  # fmt: skip
        return _located(made, node)

    def _for(self, node, live):
        names, attributes = bound(*node.body, node.target)
        around = live_in_loop(node, live)
        body, _ = self._block(node.body, around)
        state = self._state(names & around, attributes)
        body_name, item = self._namer.new("loop_body"), self._namer.new("itr")
        getter, setter = self._namer.new("get_state"), self._namer.new("set_state")
        body, options = _loop_options(body)
        target = ast.Assign([self._expressions.visit(node.target)], _load(item), lineno=node.lineno)
        made = [
            *self._state_functions(state, getter, setter),
            self._inner(body_name, [item], [target, *body], names),
        ]
        test: ast.expr = ast.Constant(None)
        extra = getattr(node, "extra_test", None)
        if extra is not None:
            test_name = self._namer.new("extra_test")
            made.append(self._inner(test_name, [], [ast.Return(self._expressions.visit(extra))], set()))
            test = _load(test_name)
        iterated = self._expressions.visit(node.iter)
        made.append(
            ast.Expr(
                call("for_stmt", iterated, test, *map(_load, (body_name, getter, setter)), texts(state), options)
            )
        )
        return _located(made, node)

    def _state(self, names, attributes):
        """What a branch or a loop changes: names of variables, and of attributes of objects."""
        return [*sorted(names), *sorted(path for path in attributes if path.split(".")[0] not in names)]

    def _inner(self, name, args, body, names):
        """A function inside of the function, which binds the function's variables."""
        body = [*self._declarations(names), *(body or [ast.Pass()])]
        arguments_ = ast.arguments(
            posonlyargs=[], args=[ast.arg(each) for each in args], vararg=None, kwonlyargs=[], kw_defaults=[],
            kwarg=None, defaults=[],
        )  # fmt: skip
        return _function(name, arguments_, body)

    def _declarations(self, names):
        names = set(names) & (self._local | self._outer)
        outer_globals = sorted(names & self._globals)
        inner = sorted(names - self._globals)
        self._declared.update(dict.fromkeys(name for name in inner if name not in self._outer))
        found: list = [ast.Global(outer_globals)] if outer_globals else []
        return [*found, ast.Nonlocal(inner)] if inner else found

    def _state_functions(self, state, getter, setter):
        values = [call("ldu", thunk(_path(name)), ast.Constant(name)) for name in state]
        get = self._inner(getter, [], [ast.Return(ast.Tuple(values, ast.Load()))], set())
        argument = self._namer.new("values")
        statements: list = []
        for i, name in enumerate(state):
            value = ast.Subscript(_load(argument), ast.Constant(i), ast.Load())
            if "." in name:
                owner, attribute = name.rsplit(".", 1)
                statements.append(ast.Expr(call("set_attribute", _path(owner), ast.Constant(attribute), value)))
            else:
                statements.append(ast.Assign([ast.Name(name, ast.Store())], value, lineno=1))
        return [get, self._inner(setter, [argument], statements, {name for name in state if "." not in name})]


def _function(name, args, body):
    extra: dict = {"type_params": []} if sys.version_info >= (3, 12) else {}
    return ast.FunctionDef(name, args, body, [], None, None, lineno=1, **extra)


def _loop_options(body):
    """(the body of a loop without tf.autograph.experimental.set_loop_options, an expression for its arguments)."""
    for i, statement in enumerate(body):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            converted = statement.value
            if not (isinstance(converted.func, ast.Attribute) and converted.func.attr == "converted_call"):
                continue
            called = converted.args[0]
            if isinstance(called, ast.Attribute) and called.attr == "set_loop_options":
                return [*body[:i], *body[i + 1 :]], converted.args[2]
    return body, ast.Constant(None)


def _declared(statements, kind):
    found: set = set()
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, kind):
                found.update(node.names)
    return found


def _is_text(statement):
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) and isinstance(
        statement.value.value, str)  # fmt: skip


def _load(name):
    return ast.Name(name, ast.Load())


def _path(path):
    first, *rest = path.split(".")
    node: ast.expr = _load(first)
    for attribute in rest:
        node = ast.Attribute(node, attribute, ast.Load())
    return node


def _located(statements, node):
    for statement in statements:
        for each in ast.walk(statement):
            if isinstance(each, (ast.expr, ast.stmt)) and not hasattr(each, "end_lineno"):
                ast.copy_location(each, node)
        ast.copy_location(statement, node)
    return statements
