"""The tree of name scopes: what the operations in each of them count together."""

from __future__ import annotations

from stillflow.formats import protobuf
from stillflow.profiler import texts
from stillflow.profiler.nodes import COUNTS, Node, joined, shape_texts

ROOT = "_TFProfRoot"
_SCOPE = "_kTFScopeParent"
_TOTALS = ("run_count", "definition_count", *COUNTS)
# A scope and an operation are shown for what they count themselves.
_LIMITS = (("parameters", "min_params"), ("float_ops", "min_float_ops"), ("run_count", "min_occurrence"))


class _Row:
    """A scope or an operation, with the rows in it."""

    def __init__(self, node):
        self.node = node
        self.inside = []
        self.shown = []
        self.is_counted = False
        self.text = ""
        self.proto = protobuf.message("GraphNodeProto")()

    def take_counts(self, step):
        self.proto.Clear()
        self.proto.name = self.node.name
        if self.node.device:
            self.proto.devices.append(self.node.device)
        self.proto.run_count = self.node.run_count(step)
        for key, value in self.node.counts(step).items():
            setattr(self.proto, key, value)
        for number, dims in enumerate(self.node.input_shapes):
            shape = self.proto.input_shapes[number]
            shape.unknown_rank = not dims
            for size in dims:
                shape.dim.add(size=size)

    def reset_totals(self):
        for key in _TOTALS:
            self.proto.ClearField(f"total_{key}")

    def add_self(self):
        self.proto.total_definition_count += 1
        for key in ("run_count", *COUNTS):
            self._add(f"total_{key}", getattr(self.proto, key))

    def add(self, row):
        for key in _TOTALS:
            self._add(f"total_{key}", getattr(row.proto, f"total_{key}"))

    def _add(self, field, value):
        setattr(self.proto, field, getattr(self.proto, field) + value)


def show(nodes, options):
    """The message of the tree, and its text."""
    root = _tree(nodes)
    root.take_counts(options.step)
    root.reset_totals()
    tops = _counted(root.inside, options)
    for row in tops:
        root.add(row)
    if options.start_name_regexes != [".*"]:
        tops = _starts(tops, options.start_name_regexes)
    root.shown = tops
    _choose([root], options, 1, 0)
    lines = [texts.legend(options.select, counts_first=True), root.text]
    _collect(root, root.proto, lines)
    return root.proto, "".join(lines)


def _tree(nodes):
    rows = {}
    for node in nodes:
        rows[node.name] = _Row(node)
    for name in list(rows):
        while "/" in name:
            name = name.rpartition("/")[0]
            if name not in rows:
                rows[name] = _Row(Node(name, _SCOPE))
    root = _Row(Node(ROOT, _SCOPE))
    for name in sorted(rows):
        scope = name.rpartition("/")[0]
        (rows[scope] if scope else root).inside.append(rows[name])
    return root


def _counted(rows, options):
    """Rows that count or have rows that do, with totals of their own and of those."""
    found = []
    for row in rows:
        inside = _counted(row.inside, options)
        row.take_counts(options.step)
        row.is_counted = row.node.is_of_type(options.account_type_regexes)
        if not row.is_counted and not inside:
            continue
        row.add_self()
        for each in inside:
            row.add(each)
        row.shown = inside
        found.append(row)
    return found


def _starts(rows, patterns):
    """The uppermost rows whose names match."""
    found: list = []
    for row in rows:
        found += [row] if texts.matches(row.node.name, patterns) else _starts(row.shown, patterns)
    return found


def _choose(rows, options, depth, indent):
    """The rows to show; in place of one that is not, those in it."""
    found = []
    for row in rows:
        is_shown = row.node.name == ROOT or texts.is_shown(row.proto, options, depth, _LIMITS)
        inside = []
        if not texts.matches(row.node.name, options.trim_name_regexes) and depth <= options.max_depth:
            inside = _choose(row.shown, options, depth + 1, indent + 2 * is_shown)
        if not is_shown:
            found += inside
            continue
        row.shown = texts.in_order(inside, options)
        if options.account_displayed_op_only:
            row.reset_totals()
            row.add_self()
            for each in row.shown:
                row.add(each)
        row.text = f"{indent * ' '}{row.node.name} ({', '.join(_attributes(row, options.select))})\n"
        found.append(row)
    return found


def _attributes(row, select):
    proto, node = row.proto, row.node

    def pair(field, write):
        own = write(getattr(proto, field)) if row.is_counted else "--"
        return f"{own}/{write(getattr(proto, f'total_{field}'))}"

    found = []
    if "params" in select:
        found += [joined(node.shape)] if node.shape else []
        found.append(f"{pair('parameters', texts.number)} params")
    if "float_ops" in select:
        found.append(f"{pair('float_ops', texts.number)} flops")
    found += [pair(field, texts.memory) for _, field, _ in texts.memory_columns(select)]
    found += [pair(field, texts.time) for _, field, _ in texts.time_columns(select)]
    if "device" in select and node.device:
        found.append(node.device)
    if "op_types" in select:
        found.append("|".join(sorted(node.types)))
    if "occurrence" in select:
        defined = f"{1 if row.is_counted else '--'}/{texts.number(proto.total_definition_count)}"
        found.append(f"{pair('run_count', texts.number)}|{defined}")
    if "input_shapes" in select:
        found.append("|".join(shape_texts(node)))
    return found


def _collect(row, proto, lines):
    """Adds the rows in a row to its message, and their texts to the lines."""
    for each in row.shown:
        lines.append(each.text)
        child = proto.children.add()
        child.CopyFrom(each.proto)
        _collect(each, child, lines)
