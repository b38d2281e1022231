"""fuse_column_blocks: elementwise nodes over blocks of a matrix's columns become one kernel, blocks and all.

What Split cuts out of a matrix is read where it lies, and what ConcatV2 puts side by side is written there: neither
has a pass over memory of its own. This is what cells of recurrent nets are made of: all gates of an LSTM or GRU come
out of one product, and their gradients go into one. It is so in the bodies of loops, too, and for any cell.

Nodes join a group in the order in which they run, until a node outside of it reads something that it computes: then
all of it must have been computed, and the next group begins. The bits are those of the nodes one by one.
"""

from __future__ import annotations

from stillflow.graph import dtypes
from stillflow.ops.registry import Elementwise, Kernel
from stillflow.plan.elementwise import instruction_text, prepare
from stillflow.plan.ir import Node, Value

_KERNEL = Kernel("elementwise_rows", ("inputs",), ("program", "operands", "results", "copies", "shape", "widths"))
_MATRIX, _ROW, _COLUMN, _SINGLE = range(4)

_LEAST_WIDTH = 16  # of blocks: to start an operation takes as long as it takes for so many elements
_MOST_INPUTS = 64
_MOST_OUTPUTS = 64
_MOST_INSTRUCTIONS = 256


def fuse_column_blocks(plan):
    """Makes one node of elementwise nodes that read and write blocks of columns, where there are any."""
    prepare(plan)
    readers = plan.readers()
    fetched = set(plan.fetch_values)
    blocks = _Blocks(plan, readers, fetched)
    groups = _Grouping(blocks, readers, fetched)
    for node in plan.nodes:
        groups.add(node)
    groups.close_all()
    replaced: dict = {}  # Node -> the fused node in its place, or None
    for group in groups.closed:
        for part in group.parts():
            part.replace_in(replaced)
    if replaced:
        nodes = [replaced.get(node, node) for node in plan.nodes]
        plan.nodes = [node for node in nodes if node is not None]
        _drop_cuts(plan, blocks)


def _drop_cuts(plan, blocks):
    """Takes out what nobody reads any more: Splits whose parts are all read where they lie."""
    cut = {block.cut for block in blocks.of.values()}
    inner = {node for block in blocks.of.values() for node in block.hoisted}
    while True:
        read = {value for node in plan.nodes for value in node.inputs}
        gone = [node for node in plan.nodes if node in cut | inner and read.isdisjoint(node.outputs)]
        if not gone:
            return
        plan.nodes = [node for node in plan.nodes if node not in gone]


def known_matrix(value):
    """Whether it is a matrix, or of a higher rank, whose shape is known."""
    return value.count is not None and len(value.dims) >= 2


# ---- What is cut ----------------------------------------------------------------------------------------------


class _Block:
    """An output of a Split: columns of a matrix, or of what elementwise nodes compute of matrices."""

    __slots__ = ("cut", "hoisted", "offset", "source")

    def __init__(self, cut, source, offset, hoisted):
        self.cut = cut  # the Split
        self.source = source  # the value that is cut
        self.offset = offset  # the first of the columns
        self.hoisted = hoisted  # elementwise nodes that compute the source for the Split alone, the last first


class _Blocks:
    """{value: its _Block} of all outputs of Splits that need not be made."""

    def __init__(self, plan, readers, fetched):
        self.of: dict = {}
        for node in plan.nodes:
            if node.type in ("Split", "SplitV") and len(node.outputs) > 1 and _cuts_columns(node):
                self._add(node, readers, fetched)
        self._cuts = {block.cut for block in self.of.values()}
        self._hoisted = {node for block in self.of.values() for node in block.hoisted}

    def _add(self, node, readers, fetched):
        source = node.inputs[1 if node.type == "Split" else 0]
        for value in node.outputs:
            if value in fetched or value.dims[-1] < _LEAST_WIDTH:
                return
            for reader in readers.get(value, ()):
                if not may_join(reader) or reader.outputs[0].dims != value.dims or reader.guard != node.guard:
                    return
        hoisted: list = []
        self._hoist(source, node, readers, fetched, hoisted)
        offset = 0
        for value in node.outputs:
            self.of[value] = _Block(node, source, offset, hoisted)
            offset += value.dims[-1]

    def _hoist(self, value, reader, readers, fetched, hoisted):
        """Finds the elementwise nodes that compute a value only to be cut: they are computed block by block."""
        node = value.producer
        if node is None or not may_join(node) or node.guard != reader.guard or value in fetched:
            return
        if readers[value] != [reader] or not all(_is_cut_along(each, value.dims) for each in node.inputs):
            return
        hoisted.append(node)
        for each in node.inputs:
            if each.dims == value.dims:
                self._hoist(each, node, readers, fetched, hoisted)

    def read_by(self, node):
        """The values in memory that a node reads; a block's are those that it is cut out of, or computed of."""
        for value in node.inputs:
            block = self.of.get(value)
            if block is None:
                yield value
            else:
                yield from _sources(block.source, block.hoisted)

    def goes_away(self, node):
        """Whether the node will not be there: a Split, or what is computed block by block instead."""
        return node in self._cuts or node in self._hoisted


def _sources(value, hoisted):
    if value.producer is None or value.producer not in hoisted:
        yield value
    else:
        for each in value.producer.inputs:
            yield from _sources(each, hoisted)


def _cuts_columns(node):
    """Whether a Split cuts a matrix of known shape along its last axis."""
    source, axis = node.inputs[1::-1] if node.type == "Split" else (node.inputs[0], node.inputs[2])
    if axis.constant is None or not known_matrix(source) or not all(map(known_matrix, node.outputs)):
        return False
    return int(axis.constant) in (-1, len(source.dims) - 1)


def operation(node):
    """The elementwise operation that a node is, or None."""
    if isinstance(node.lowering, Elementwise):
        return node.lowering.name
    is_last = node.attrs.get("data_format") != b"NCHW" or len(node.outputs[0].dims or ()) == 2
    is_bias = node.type in ("BiasAdd", "BiasAddV1") and is_last and node.outputs[0].dtype in _BIASED
    return "add" if is_bias else None


_BIASED = dtypes.float32, dtypes.float64, dtypes.float16, dtypes.bfloat16


def may_join(node):
    """Whether the node is an elementwise one of a known shape that rows can be computed of."""
    if operation(node) is None or node.conditions:
        return False
    return known_matrix(node.outputs[0]) and 0 not in node.outputs[0].dims


def _is_cut_along(value, dims):
    """Whether of an operand of an elementwise node, whose result is cut, blocks can be taken."""
    return value.dims in (dims, ()) or value.count == 1 or value.dims == dims[-1:]


# ---- Groups ---------------------------------------------------------------------------------------------------


class _Grouping:
    """Groups that nodes may still join, and those that are closed."""

    def __init__(self, blocks, readers, fetched):
        self._blocks = blocks
        self._readers = readers
        self._fetched = fetched
        self._open: dict = {}  # (dims, guard) -> _Group
        self._group_of: dict = {}  # value that a group computes -> the group, while it is open
        self.closed: list = []

    def add(self, node):
        """Takes the next node of the plan."""
        if self._blocks.goes_away(node):
            return
        if node.type in ("_LoopEnter", "_LoopEnd"):
            self.close_all()
            return
        group = self._group_to_join(node) or self._group_to_be_put_together(node)
        for value in self._blocks.read_by(node):
            other = self._group_of.get(value)
            if other is not None and other is not group:
                self._close(other)
        if group is None:
            return
        group.add(node)
        for value in node.outputs:
            self._group_of[value] = group

    def _group_to_join(self, node):
        if not may_join(node) or node.outputs[0].dims[-1] < _LEAST_WIDTH:
            return None
        dims = node.outputs[0].dims
        if any(_kind_of(value, dims) is None for value in node.inputs):
            return None
        key = dims, node.guard
        group = self._open.get(key)
        if group is None:
            group = self._open[key] = _Group(key, self._blocks, self._readers, self._fetched)
        return group

    def _group_to_be_put_together(self, node):
        """The group that computes all that a ConcatV2 puts side by side, if there is one."""
        if node.type != "ConcatV2" or not known_matrix(node.outputs[0]):
            return None
        *parts, axis = node.inputs
        if axis.constant is None or int(axis.constant) not in (-1, len(node.outputs[0].dims) - 1):
            return None
        groups = {self._group_of.get(part) for part in parts}
        group = groups.pop()
        return group if len(parts) > 1 and not groups and group is not None and group.guard == node.guard else None

    def _close(self, group):
        self.closed.append(group)
        del self._open[group.key]
        self._group_of = {value: each for value, each in self._group_of.items() if each is not group}

    def close_all(self):
        for group in list(self._open.values()):
            self._close(group)


def _kind_of(value, dims):
    """What an operand is to a node of that shape: as the kernel says it, or None if it is nothing of these."""
    if value.dims == dims:
        return _MATRIX
    if value.count == 1:
        return _SINGLE
    if value.count is None or len(value.dims) > len(dims):
        return None
    if value.count == value.dims[-1] == dims[-1]:
        return _ROW
    return _COLUMN if value.dims == (*dims[:-1], 1) else None


class _Group:
    """Nodes of one shape under one guard, in the order in which they run, and ConcatV2s of what they compute."""

    def __init__(self, key, blocks, readers, fetched):
        self.key = key
        self.guard = key[1]
        self._blocks = blocks
        self._readers = readers
        self._fetched = fetched
        self._nodes: list = []

    def add(self, node):
        self._nodes.append(node)

    def parts(self):
        """The nodes that hang together, for each set of them in which something is cut or put together."""
        joined = _Sets()
        for node in self._nodes:
            for value in (*node.inputs, *node.outputs):
                block = self._blocks.of.get(value)
                if value.count != 1 and value.constant is None:
                    joined.put_together(node, value if block is None else block.source)
        for nodes in joined.of(self._nodes):
            part = _Part(nodes, self.key, self._blocks, self._readers, self._fetched)
            if part.is_worth_it():
                yield part


class _Sets:
    """Sets of things that have been put together (union-find)."""

    def __init__(self):
        self._parent: dict = {}

    def _find(self, item):
        self._parent.setdefault(item, item)
        while self._parent[item] is not item:
            self._parent[item] = self._parent[self._parent[item]]
            item = self._parent[item]
        return item

    def put_together(self, a, b):
        self._parent[self._find(a)] = self._find(b)

    def of(self, items):
        """The items by the set that they are in."""
        found: dict = {}
        for item in items:
            found.setdefault(self._find(item), []).append(item)
        return list(found.values())


# ---- The fused node -------------------------------------------------------------------------------------------


class _Part:
    """Nodes that become one."""

    def __init__(self, nodes, key, blocks, readers, fetched):
        self._members = [node for node in nodes if node.type != "ConcatV2"]
        self._concats = [node for node in nodes if node.type == "ConcatV2"]
        self._last = nodes[-1]
        self._dims, self._guard = key
        self._blocks = blocks
        inside = set(nodes)
        self._results = [  # values that are needed on their own
            node.outputs[0]
            for node in self._members
            if node.outputs[0] in fetched or any(r not in inside for r in readers.get(node.outputs[0], ()))
        ]
        self._program = _Program(self._dims)
        for node in self._members:
            self._program.add(node, self._operands_of(node))

    def is_worth_it(self):
        cuts = any(value in self._blocks.of for node in self._members for value in node.inputs)
        return (cuts or bool(self._concats)) and self._program.fits() and self._output_count() <= _MOST_OUTPUTS

    def _output_count(self):
        return len(self._results) + len(self._concats)

    def _operands_of(self, node):
        return [self._register(value) for value in node.inputs]

    def _register(self, value):
        block = self._blocks.of.get(value)
        if block is None:
            return self._program.operand(value, _kind_of(value, self._dims))
        if value not in self._program.registers:
            self._program.registers[value] = self._block_register(block.source, block.offset, block.hoisted)
        return self._program.registers[value]

    def _block_register(self, source, offset, hoisted):
        """The register of columns of a value, which is computed of such columns if nodes do that for the Split."""
        node = source.producer
        if node is None or node not in hoisted:
            return self._program.operand(source, _MATRIX, offset)
        operands = []
        for value in node.inputs:
            if value.dims == source.dims:
                operands.append(self._block_register(value, offset, hoisted))
            elif value.count == 1:
                operands.append(self._program.operand(value, _SINGLE))
            else:
                operands.append(self._program.operand(value, _ROW, offset))
        return self._program.instruction(node, operands)

    def replace_in(self, replaced):
        """Puts the fused node in the place of the last of its nodes."""
        program = self._program
        shape = tuple(self._dims)
        outputs = list(self._results)
        widths: list[int] = []
        results: list = []  # (value, tensor, first column)
        copies: list[int] = []
        placed: dict = {}  # value -> which output of the program it is
        for value in self._results:
            placed[value] = len(results)
            results.append((value, len(widths), 0))
            widths.append(shape[-1])
        for concat in self._concats:
            offset = 0
            for value in concat.inputs[:-1]:
                if value in placed:
                    copies += [placed[value], len(widths), offset]
                else:
                    placed[value] = len(results)
                    results.append((value, len(widths), offset))
                offset += value.dims[-1]
            outputs.append(concat.outputs[0])
            widths.append(offset)
        attrs = {
            "program": program.text([value for value, _, _ in results]),
            "operands": tuple(number for operand in program.operands for number in operand),
            "results": tuple(number for _, tensor, offset in results for number in (tensor, offset)),
            "copies": tuple(copies),
            "shape": shape,
            "widths": tuple(widths),
        }
        last = self._last
        fused = Node(last.op, "_ElementwiseRows", _KERNEL, program.tensors, attrs, last.position, is_pure=True)
        fused.guard = self._guard
        fused.outputs = outputs
        for value in outputs:
            value.producer = fused
        fused.parts = program.parts
        for node in (*self._members, *self._concats):
            replaced[node] = None
        replaced[last] = fused


class _Program:
    """Instructions over registers; the first of these are the operands."""

    def __init__(self, dims):
        self._dims = dims
        self.tensors: list[Value] = []
        self.operands: list = []  # (tensor, kind, offset)
        self._operand_numbers: dict = {}
        self._instructions: list = []  # (node, operands, type of an operand), numbered from -1 down until it is known
        self.registers: dict = {}  # value -> register: operands from 0 on, results of instructions from -1 down
        self.parts: list = []  # the operation of each instruction

    def operand(self, value, kind, offset=0):
        """The register of an operand."""
        if value in self.registers:
            return self.registers[value]
        if value not in self.tensors:
            self.tensors.append(value)
        operand = self.tensors.index(value), kind, offset
        if operand not in self._operand_numbers:
            self._operand_numbers[operand] = len(self.operands)
            self.operands.append(operand)
        return self._operand_numbers[operand]

    def instruction(self, node, operands):
        """The register of what a node computes of operands."""
        self._instructions.append((node, operands))
        self.parts.append(node.op)
        return -len(self._instructions)

    def add(self, node, operands):
        self.registers[node.outputs[0]] = self.instruction(node, operands)

    def fits(self):
        return (
            len(self.tensors) <= _MOST_INPUTS
            and len(self.operands) <= _MOST_INPUTS
            and len(self._instructions) <= _MOST_INSTRUCTIONS
        )

    def text(self, results):
        """The program with these results: see csrc/arithmetic/elementwise/program.h."""

        def number(register):
            return register if register >= 0 else len(self.operands) - 1 - register

        lines = [
            instruction_text(operation(node), node, number(-1 - i), [number(each) for each in operands])
            for i, (node, operands) in enumerate(self._instructions)
        ]
        outputs = " ".join(str(number(self.registers[value])) for value in results)
        return f"{'; '.join(lines)} | {outputs}".encode()
