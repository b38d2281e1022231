"""Single kernels on arrays that no cache holds, beside numpy, PyTorch, and a copy of as many bytes.

Results go to memory that is there already, in every engine: stillflow's operation alone is run, the others write to
`out`.
"""

import numpy as np

from bench.cases.registry import case, open_session, threaded_copy

MI = 1 << 20


def kernel(name, moved, arrays, build, numpy=None, torch=None):
    """`moved` is how many bytes memory moves at least, None where all stays in cache; `arrays()` makes the operands.

    build(tf, *variables) gives the node; numpy(*arrays) and torch(torch, *tensors) give functions to time.
    """
    engines = (
        "stillflow",
        *(("numpy",) if numpy else ()),
        *(("torch",) if torch else ()),
        *(("copy",) if moved else ()),
    )

    @case(name, engines, bar=1, copy_bar=0.8 if moved else None)
    def make(engine, threads):
        if engine.__name__ == "copy":
            source = np.ones(moved // 8, np.float32)
            return threaded_copy(source, np.empty_like(source), threads)
        values = arrays()
        if engine.__name__ == "numpy":
            return numpy(*values)
        if engine.__name__ == "torch":
            return torch(engine, *(engine.tensor(value) for value in values))
        variables = [engine.Variable(value) for value in values]
        node = build(engine, *variables)
        session = open_session(engine, threads)
        session.run(engine.global_variables_initializer())
        operation = node.op
        return lambda: session.run(operation)


def floats(*shapes):
    random = np.random.RandomState(0)
    some = random.uniform(-1, 1, size=4 * MI).astype(np.float32)
    return [np.resize(some, shape) for shape in shapes]


def into(function, *arrays, shape=None):
    """function(*arrays, out=...) of numpy."""
    out = np.empty(shape or arrays[0].shape, arrays[0].dtype)
    return lambda: function(*arrays, out=out)


def torch_into(torch, function, *tensors, shape=None):
    out = torch.empty(*(shape or tensors[0].shape), dtype=tensors[0].dtype)
    return lambda: function(*tensors, out=out)


# ---- Elementwise ------------------------------------------------------------------------------------------------

kernel(
    "elementwise add, 64 Mi floats",
    3 * 256 * MI,
    lambda: floats(64 * MI, 64 * MI),
    lambda tf, a, b: tf.add(a, b),
    lambda a, b: into(np.add, a, b),
    lambda torch, a, b: torch_into(torch, torch.add, a, b),
)
kernel(
    "elementwise add of a row to each row, 262144 x 256 floats",
    2 * 256 * MI,
    lambda: floats((262144, 256), 256),
    lambda tf, a, b: tf.add(a, b),
    lambda a, b: into(np.add, a, b),
    lambda torch, a, b: torch_into(torch, torch.add, a, b),
)
for _name in ("exp", "tanh", "sqrt"):
    kernel(
        f"elementwise {_name}, 64 Mi floats",
        2 * 256 * MI,
        lambda: [np.abs(floats(64 * MI)[0])],
        lambda tf, a, name=_name: getattr(tf, name)(a),
        lambda a, name=_name: into(getattr(np, name), a),
        lambda torch, a, name=_name: torch_into(torch, getattr(torch, name), a),
    )

kernel(
    "elementwise tanh(a * b + c) of rows, 262144 x 256 floats",
    3 * 256 * MI,
    lambda: floats((262144, 256), (262144, 256), 256),
    lambda tf, a, b, c: tf.tanh(a * b + c),
)
kernel(
    "elementwise a - column, 65536 x 1024 floats",
    2 * 256 * MI,
    lambda: floats((65536, 1024), (65536, 1)),
    lambda tf, a, b: a - b,
    lambda a, b: into(np.subtract, a, b),
    lambda torch, a, b: torch_into(torch, torch.sub, a, b),
)

# ---- Reductions -------------------------------------------------------------------------------------------------

for _rows, _columns, _axis in ((8192, 8192, 0), (8192, 8192, 1), (256 << 10, 256, 0)):
    kernel(
        f"sum of {_rows} x {_columns} floats over axis {_axis}",
        256 * MI,
        lambda shape=(_rows, _columns): floats(shape),
        lambda tf, a, axis=_axis: tf.reduce_sum(a, axis),
        lambda a, axis=_axis: into(lambda x, out: np.sum(x, axis, out=out), a, shape=(a.shape[1 - axis],)),
        lambda torch, a, axis=_axis: torch_into(
            torch, lambda x, out: torch.sum(x, axis, out=out), a, shape=(a.shape[1 - axis],)
        ),
    )
kernel(
    "maximum of 8192 x 8192 floats over axis 1",
    256 * MI,
    lambda: floats((8192, 8192)),
    lambda tf, a: tf.reduce_max(a, 1),
    lambda a: into(lambda x, out: np.max(x, 1, out=out), a, shape=(8192,)),
    lambda torch, a: torch_into(torch, lambda x, out: torch.amax(x, 1, out=out), a, shape=(8192,)),
)
kernel(
    "softmax of 262144 x 256 floats",
    2 * 256 * MI,
    lambda: floats((262144, 256)),
    lambda tf, a: tf.nn.softmax(a),
    None,
    lambda torch, a: torch_into(torch, lambda x, out: torch.softmax(x, 1, out=out), a),
)

# ---- Rows -------------------------------------------------------------------------------------------------------


def rows(width):
    random = np.random.RandomState(1)
    return [*floats((64 * MI // width, width)), random.randint(0, 64 * MI // width, size=16 * MI // width)]


for _width in (16, 100, 128):
    kernel(
        f"gather of rows of {_width} floats, 16 Mi floats of 64 Mi",
        2 * 64 * MI,
        lambda width=_width: rows(width),
        lambda tf, table, ids: tf.gather(table, ids),
        lambda table, ids: into(
            lambda t, i, out: np.take(t, i, axis=0, out=out, mode="clip"),
            table,
            ids,
            shape=(len(ids), table.shape[1]),
        ),
        lambda torch, table, ids: torch_into(
            torch,
            lambda t, i, out: torch.index_select(t, 0, i, out=out),
            table,
            ids,
            shape=(len(ids), table.shape[1]),
        ),
    )
    kernel(
        f"scatter_add of rows of {_width} floats, 16 Mi floats to 64 Mi",
        3 * 64 * MI,
        lambda width=_width: [*rows(width), *floats((16 * MI // width, width))],
        lambda tf, table, ids, updates: tf.scatter_add(table, ids, updates),
        None,
        lambda torch, table, ids, updates: lambda: table.index_add_(0, ids, updates),
    )

# ---- Layout -----------------------------------------------------------------------------------------------------

kernel(
    "transpose of 8192 x 8192 floats",
    2 * 256 * MI,
    lambda: floats((8192, 8192)),
    lambda tf, a: tf.transpose(a),
    lambda a: into(lambda x, out: np.copyto(out, x.T), a),
    lambda torch, a: torch_into(torch, lambda x, out: out.copy_(x.t()), a),
)
kernel(  # rows that do not fill lines
    "transpose of 8001 x 8387 floats",
    2 * 256 * MI,
    lambda: floats((8001, 8387)),
    lambda tf, a: tf.transpose(a),
    lambda a: into(lambda x, out: np.copyto(out, x.T), a, shape=(8387, 8001)),
    lambda torch, a: torch_into(torch, lambda x, out: out.copy_(x.t()), a, shape=(8387, 8001)),
)
kernel(
    "transpose of 256 x 128 x 32 x 64 floats to (0, 2, 1, 3)",
    2 * 256 * MI,
    lambda: floats((256, 128, 32, 64)),
    lambda tf, a: tf.transpose(a, [0, 2, 1, 3]),
    lambda a: into(lambda x, out: np.copyto(out, x.transpose(0, 2, 1, 3)), a, shape=(256, 32, 128, 64)),
    lambda torch, a: torch_into(torch, lambda x, out: out.copy_(x.permute(0, 2, 1, 3)), a, shape=(256, 32, 128, 64)),
)
kernel(
    "concat of two 32768 x 1024 floats along axis 1",
    2 * 256 * MI,
    lambda: floats((32768, 1024), (32768, 1024)),
    lambda tf, a, b: tf.concat([a, b], 1),
    lambda a, b: into(lambda x, y, out: np.concatenate([x, y], 1, out=out), a, b, shape=(32768, 2048)),
    lambda torch, a, b: torch_into(torch, lambda x, y, out: torch.cat([x, y], 1, out=out), a, b, shape=(32768, 2048)),
)

kernel(
    "concat of 1048576 x 33 and 1048576 x 31 floats along axis 1",
    2 * 256 * MI,
    lambda: floats((MI, 33), (MI, 31)),
    lambda tf, a, b: tf.concat([a, b], 1),
    lambda a, b: into(lambda x, y, out: np.concatenate([x, y], 1, out=out), a, b, shape=(MI, 64)),
    lambda torch, a, b: torch_into(torch, lambda x, y, out: torch.cat([x, y], 1, out=out), a, b, shape=(MI, 64)),
)
kernel(
    "slice [:, 1:] of 32768 x 2049 floats",
    2 * 256 * MI,
    lambda: floats((32768, 2049)),
    lambda tf, a: a[:, 1:],
    lambda a: into(lambda x, out: np.copyto(out, x[:, 1:]), a, shape=(32768, 2048)),
    lambda torch, a: torch_into(torch, lambda x, out: out.copy_(x[:, 1:]), a, shape=(32768, 2048)),
)
kernel(
    "sum of three arrays of 32 Mi floats with add_n",
    4 * 128 * MI,
    lambda: floats(32 * MI, 32 * MI, 32 * MI),
    lambda tf, a, b, c: tf.add_n([a, b, c]),
    lambda a, b, c: into(lambda x, y, z, out: np.add(np.add(x, y, out=out), z, out=out), a, b, c),
    lambda torch, a, b, c: torch_into(
        torch, lambda x, y, z, out: torch.add(torch.add(x, y, out=out), z, out=out), a, b, c
    ),
)

# ---- In cache ---------------------------------------------------------------------------------------------------

KI = 1 << 10

for _name in ("exp", "log", "tanh", "erf", "erfc", "sin", "sqrt"):
    for _type in (np.float32, np.float64):
        kernel(
            f"{_name} of 32 Ki {'floats' if _type is np.float32 else 'doubles'}",
            None,
            lambda kind=_type: [(np.abs(floats(32 * KI)[0]) + np.float32(0.1)).astype(kind)],
            lambda tf, a, name=_name: getattr(tf, name)(a),
            None if _name in ("erf", "erfc") else lambda a, name=_name: into(getattr(np, name), a),
            lambda torch, a, name=_name: torch_into(torch, getattr(torch, name), a),
        )
for _name in ("floats", "doubles"):
    kernel(
        f"pow of 32 Ki {_name}",
        None,
        lambda name=_name: [
            (np.abs(values) + np.float32(0.1)).astype(np.float32 if name == "floats" else np.float64)
            for values in floats((2, 32 * KI))[0]
        ],
        lambda tf, a, b: tf.pow(a, b),
        lambda a, b: into(np.power, a, b),
        lambda torch, a, b: torch_into(torch, torch.pow, a, b),
    )
kernel(
    "elementwise add, 1 Mi floats",  # in a last-level cache
    None,
    lambda: floats(MI, MI),
    lambda tf, a, b: a + b,
    lambda a, b: into(np.add, a, b),
    lambda torch, a, b: torch_into(torch, torch.add, a, b),
)
kernel(
    "choice among 32 Ki doubles",
    None,
    lambda: [floats(32 * KI)[0] > 0, *(values.astype(np.float64) for values in floats(32 * KI, 32 * KI))],
    lambda tf, condition, a, b: tf.where(condition, a, b),
    lambda condition, a, b: lambda: np.where(condition, a, b),
    lambda torch, condition, a, b: lambda: torch.where(condition, a, b),
)
kernel(
    "clip of 32 Ki floats",
    None,
    lambda: floats(32 * KI),
    lambda tf, a: tf.clip_by_value(a, -0.5, 0.5),
    lambda a: into(lambda x, out: np.clip(x, np.float32(-0.5), np.float32(0.5), out=out), a),
    lambda torch, a: torch_into(torch, lambda x, out: torch.clamp(x, -0.5, 0.5, out=out), a),
)
kernel(
    "sum of 32 Ki halves",
    None,
    lambda: [floats(32 * KI)[0].astype(np.float16)],
    lambda tf, a: tf.reduce_sum(a),
    lambda a: lambda: np.sum(a),
    lambda torch, a: lambda: torch.sum(a),
)
for _rows, _columns in ((8192, 4), (256, 128)):
    kernel(
        f"sum of {_rows} x {_columns} floats over axis 1",
        None,
        lambda shape=(_rows, _columns): floats(shape),
        lambda tf, a: tf.reduce_sum(a, 1),
        lambda a: into(lambda x, out: np.sum(x, 1, out=out), a, shape=a.shape[:1]),
        lambda torch, a: torch_into(torch, lambda x, out: torch.sum(x, 1, out=out), a, shape=a.shape[:1]),
    )
kernel(
    "argmax of 256 x 128 floats over axis 1",
    None,
    lambda: floats((256, 128)),
    lambda tf, a: tf.argmax(a, 1),
    lambda a: lambda: np.argmax(a, 1),
    lambda torch, a: lambda: torch.argmax(a, 1),
)
kernel(
    "cumsum of 256 x 128 floats along axis 1",
    None,
    lambda: floats((256, 128)),
    lambda tf, a: tf.cumsum(a, 1),
    lambda a: into(lambda x, out: np.cumsum(x, 1, out=out), a),
    lambda torch, a: torch_into(torch, lambda x, out: torch.cumsum(x, 1, out=out), a),
)
kernel(
    "where of 32 Ki booleans",
    None,
    lambda: [floats(32 * KI)[0] > 0],
    lambda tf, a: tf.where(a),
    lambda a: lambda: np.argwhere(a),
    lambda torch, a: lambda: torch.nonzero(a),
)
kernel(
    "floor division of 32 Ki int32",
    None,
    lambda: [(values * 1000).astype(np.int32) | 1 for values in floats((2, 32 * KI))[0]],
    lambda tf, a, b: tf.floordiv(a, b),
    lambda a, b: lambda: np.floor_divide(a, b),
    lambda torch, a, b: lambda: torch.floor_divide(a, b),
)
kernel(
    "sort of 32 x 1024 floats along axis 1",
    None,
    lambda: floats((32, KI)),
    lambda tf, a: tf.sort(a),
    lambda a: lambda: np.sort(a),
    lambda torch, a: lambda: torch.sort(a),
)

# ---- Narrow rows, in cache --------------------------------------------------------------------------------------

kernel(
    "concat of two 16384 x 1 floats along axis 1",
    None,
    lambda: floats((16 * KI, 1), (16 * KI, 1)),
    lambda tf, a, b: tf.concat([a, b], 1),
    lambda a, b: into(lambda x, y, out: np.concatenate([x, y], 1, out=out), a, b, shape=(16 * KI, 2)),
    lambda torch, a, b: torch_into(torch, lambda x, y, out: torch.cat([x, y], 1, out=out), a, b, shape=(16 * KI, 2)),
)
kernel(
    "slice [:, 1:] of 8192 x 4 floats",
    None,
    lambda: floats((8 * KI, 4)),
    lambda tf, a: a[:, 1:],
    lambda a: into(lambda x, out: np.copyto(out, x[:, 1:]), a, shape=(8 * KI, 3)),
    lambda torch, a: torch_into(torch, lambda x, out: out.copy_(x[:, 1:]), a, shape=(8 * KI, 3)),
)
kernel(
    "gather of 8192 rows of 3 floats from as many",
    None,
    lambda: [*floats((8 * KI, 3)), np.random.RandomState(1).randint(0, 8 * KI, size=8 * KI)],
    lambda tf, table, ids: tf.gather(table, ids),
    lambda table, ids: into(lambda t, i, out: np.take(t, i, axis=0, out=out, mode="clip"), table, ids),
    lambda torch, table, ids: torch_into(torch, lambda t, i, out: torch.index_select(t, 0, i, out=out), table, ids),
)
kernel(
    "sum of 8192 x 4 floats over axis 0",
    None,
    lambda: floats((8 * KI, 4)),
    lambda tf, a: tf.reduce_sum(a, 0),
    lambda a: into(lambda x, out: np.sum(x, 0, out=out), a, shape=(4,)),
    lambda torch, a: torch_into(torch, lambda x, out: torch.sum(x, 0, out=out), a, shape=(4,)),
)
kernel(
    "argmax of 8192 x 4 floats over axis 0",
    None,
    lambda: floats((8 * KI, 4)),
    lambda tf, a: tf.argmax(a, 0),
    lambda a: lambda: np.argmax(a, 0),
    lambda torch, a: lambda: torch.argmax(a, 0),
)
kernel(
    "scatter_add of 32 Ki floats to as many",
    None,
    lambda: [*floats(32 * KI), np.random.RandomState(1).randint(0, 32 * KI, size=32 * KI), *floats(32 * KI)],
    lambda tf, table, ids, updates: tf.scatter_add(table, ids, updates),
    None,
    lambda torch, table, ids, updates: lambda: table.index_add_(0, ids, updates),
)
