"""Checkpoint files of TensorFlow read and written again byte for byte; whatever byte is damaged is noticed."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import stillflow as tf
from stillflow import _engine
from stillflow.formats import protobuf

FOLDER = Path(__file__).parent.parent / "data" / "formats" / "checkpoints"
PREFIXES = {
    "v1_saver": "old-2",
    "v1_sharded": "osh-?????-of-00002",
    "v1_single": "all.v1",
    "v2_aligned64": "hm",
    "v2_all_dtypes": "all",
    "v2_basic": "model.ckpt-10",
    "v2_big_endian": "hm",
    "v2_many_keys": "many",
    "v2_partitioned": "pv",
    "v2_partitioned_sharded": "ps",
    "v2_sharded": "shards-3",
    "v2_snappy_index": "hm",
    "v2_strings": "str",
}


def expected_of(name):
    return json.loads((FOLDER / name / "expected.json").read_text())


def plain(value, dtype):
    """A value as expected.json has it: flat, strings as latin-1 text, complex numbers as pairs."""
    if dtype == "string":
        return [item.decode("latin-1") for item in np.asarray(value, dtype=object).reshape(-1)]
    flat = np.asarray(value).reshape(-1)
    if dtype.startswith("complex"):
        return [[float(item.real), float(item.imag)] for item in flat]
    if dtype in ("bfloat16", "half", "float16"):
        return [float(item) for item in flat]
    return flat.tolist()


@pytest.mark.parametrize("name", PREFIXES)
def test_what_tensorflow_wrote_is_read(name):
    reader = tf.train.NewCheckpointReader(str(FOLDER / name / PREFIXES[name]))
    tensors = expected_of(name)["tensors"]
    shapes = reader.get_variable_to_shape_map()
    assert tensors
    for key, tensor in tensors.items():
        value = reader.get_tensor(key)
        assert shapes[key] == tensor["shape"] == list(np.shape(value))
        np.testing.assert_array_equal(plain(value, tensor["dtype"]), tensor["values"])
    _engine.CheckpointReader(str(FOLDER / name / PREFIXES[name]).encode()).verify()


def test_two_blocks_of_an_index_are_read():
    expected = expected_of("v2_multi_block")
    shapes = tf.train.NewCheckpointReader(str(FOLDER / "v2_multi_block" / "blocks")).get_variable_to_shape_map()
    assert len(shapes) == expected["count"]


def test_a_variant_among_the_tensors_is_refused_by_name():
    reader = tf.train.NewCheckpointReader(str(FOLDER / "v2_variant" / "var"))
    kinds = reader.get_variable_to_dtype_map()
    (variant,) = [name for name, dtype in kinds.items() if dtype is tf.variant]
    with pytest.raises(tf.errors.UnimplementedError, match=f"variant.*{variant}"):
        reader.get_tensor(variant)
    for name in kinds.keys() - {variant}:
        assert reader.get_tensor(name) is not None


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def entries_of(path):
    """[(key, value)] of a table, by the rules of its format alone; keys of slices are left out."""
    data = path.read_bytes()
    at = len(data) - 48
    _, at = varint(data, at)
    _, at = varint(data, at)
    offset, at = varint(data, at)
    size, _ = varint(data, at)

    def block(offset, size):
        body = data[offset : offset + size]
        end = size - 4 * (int.from_bytes(body[-4:], "little") + 1)
        at, key = 0, b""
        while at < end:
            shared, at = varint(body, at)
            unshared, at = varint(body, at)
            length, at = varint(body, at)
            key = key[:shared] + body[at : at + unshared]
            at += unshared
            yield key, body[at : at + length]
            at += length

    for _, handle in block(offset, size):
        start, at = varint(handle, 0)
        length, _ = varint(handle, at)
        yield from block(start, length)


def in_order_of_data(prefix):
    """The names of the tensors as they lie in the data file."""
    found = []
    for key, value in entries_of(Path(f"{prefix}.index")):
        if key:
            entry = protobuf.message("BundleEntryProto").FromString(value)
            found.append((entry.offset, entry.size, key))
    return [key for _, _, key in sorted(found)]


@pytest.mark.parametrize("name", ["v2_all_dtypes", "v2_basic", "v2_many_keys", "v2_multi_block", "v2_strings"])
def test_what_tensorflow_wrote_is_written_again_byte_for_byte(name, tmp_path):
    prefix = str(sorted((FOLDER / name).glob("*.index"))[0])[: -len(".index")]
    reader = _engine.CheckpointReader(prefix.encode())
    writer = _engine.CheckpointWriter(str(tmp_path / "copy").encode())
    for key in in_order_of_data(prefix):
        dtype, dims, _ = reader.tensors[key]
        value = reader.read(key)
        value = np.asarray(value, dtype=object).reshape(dims) if dtype == 7 else np.asarray(value)
        writer.add(key, np.ascontiguousarray(value).reshape(dims), dtype)
    writer.finish()
    for suffix in (".index", ".data-00000-of-00001"):
        assert (tmp_path / f"copy{suffix}").read_bytes() == Path(f"{prefix}{suffix}").read_bytes()


def test_slices_are_written_as_tensorflow_does(tmp_path):
    expected = expected_of("v2_partitioned")
    whole = {key: np.array(t["values"], t["dtype"]).reshape(t["shape"]) for key, t in expected["tensors"].items()}
    original = _engine.CheckpointReader(str(FOLDER / "v2_partitioned" / "pv").encode())
    writer = _engine.CheckpointWriter(str(tmp_path / "pv").encode())
    for part, spec in sorted(expected["part_specs"].items()):
        name = part.split("/part_")[0]
        dtype = original.tensors[name.encode()][0]
        if not spec:
            writer.add(name.encode(), whole[name], dtype)
            continue
        box = tuple(
            slice(int(extent.split(",")[0]), sum(map(int, extent.split(","))))
            for extent in spec.split(" ")[-1].split(":")
        )
        source = whole[name] if name in whole else original.read(name.encode())
        writer.add(name.encode(), np.ascontiguousarray(source[box]), dtype, spec.encode())
    writer.finish()
    for suffix in (".index", ".data-00000-of-00001"):
        theirs = (FOLDER / "v2_partitioned" / f"pv{suffix}").read_bytes()
        assert (tmp_path / f"pv{suffix}").read_bytes() == theirs


@pytest.mark.parametrize("prefix", ["v2_partitioned/pv", "v1_saver/old-2"])
def test_any_slice_is_put_together_of_those_that_are_there(prefix):
    reader = _engine.CheckpointReader(str(FOLDER / prefix).encode())
    name = next(name for name, (_, dims, slices) in reader.tensors.items() if len(slices) > 1 and len(dims) == 2)
    _, (rows, columns), _ = reader.tensors[name]
    whole = reader.read(name)
    assert whole.shape == (rows, columns)
    for top in range(rows):
        for left in range(columns):
            height, width = rows - top, max(1, (columns - left) // 2)
            spec = f"{rows} {columns} {top},{height}:{left},{width}"
            part = reader.read(name, spec.encode())
            np.testing.assert_array_equal(part, whole[top : top + height, left : left + width])


def test_a_slice_that_is_not_there_is_named(tmp_path):
    writer = _engine.CheckpointWriter(str(tmp_path / "m").encode())
    writer.add(b"p", np.ones((2, 3), np.float32), 1, b"4 3 0,2:0,3")
    writer.finish()
    reader = _engine.CheckpointReader(str(tmp_path / "m").encode())
    assert reader.read(b"p", b"4 3 1,1:0,2").tolist() == [[1.0, 1.0]]
    with pytest.raises(_engine.EngineError, match="Does not have sufficient slices for partitioned tensor p"):
        reader.read(b"p")
    with pytest.raises(_engine.EngineError, match=r"\[5,3\] does not match the shape stored in checkpoint: \[4,3\]"):
        reader.read(b"p", b"5 3 0,1:-")
    for spec in (b"x", b"4 3", b"4 3 0,2", b"4 3 0,0:-", b"4 3 3,2:-", b"4 3 -:-:-", b"4 x -:-", b"4 3 -:-:"):
        with pytest.raises(_engine.EngineError):
            reader.read(b"p", spec)


# ---- Damage -------------------------------------------------------------------------------------------------------


def small_checkpoint(folder, version):
    """Writes a checkpoint with numbers, strings, an empty tensor and a partitioned one; and returns what is in it."""
    variables = {
        "a": tf.Variable([[1.5, -2.0], [3.0, 4.0]], name="a"),
        "e": tf.Variable(np.zeros((0, 3), np.int64), name="e"),
        "s": tf.Variable(["one", "", "three"], name="s"),
    }
    with tf.variable_scope("", partitioner=tf.fixed_size_partitioner(2)):
        variables["p"] = tf.get_variable("p", dtype=tf.int32, initializer=tf.constant([[1, 2], [3, 4], [5, 6]]))
    saver = tf.train.Saver(write_version=version)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        saver.save(session, str(folder / "m"), write_meta_graph=False, write_state=False)
        values = session.run({key: variable for key, variable in variables.items() if key != "p"})
        values["p"] = session.run(tf.convert_to_tensor(variables["p"]))
    return values


def read_all(prefix):
    """All tensors of a checkpoint; None if it says that something is wrong."""
    try:
        reader = _engine.CheckpointReader(prefix.encode())
        return {name.decode("latin-1"): reader.read(name) for name in reader.tensors}
    except _engine.EngineError:
        return None


@pytest.mark.parametrize("version", [tf.train.SaverDef.V2, tf.train.SaverDef.V1])
def test_any_damage_is_an_error_or_does_not_matter(version, tmp_path):
    (tmp_path / "good").mkdir()
    values = small_checkpoint(tmp_path / "good", version)
    damaged = 0
    for path in sorted((tmp_path / "good").iterdir()):
        data = path.read_bytes()
        folder = tmp_path / "bad"
        shutil.copytree(tmp_path / "good", folder)
        target = folder / path.name
        cases = [data[:length] for length in range(len(data))]
        cases += [
            data[:at] + bytes([data[at] ^ change]) + data[at + 1 :]
            for at in range(len(data))
            for change in (1, 128, 255)
        ]
        for case in cases:
            target.write_bytes(case)
            found = read_all(str(folder / "m"))
            if found is None:
                damaged += 1
                continue
            for name, value in values.items():
                np.testing.assert_array_equal(found[name], value)
        shutil.rmtree(folder)
    assert damaged > 1000


def test_what_a_checkpoint_claims_is_not_allocated(tmp_path):
    """An index that is well formed but lies: a tensor of 2^40 elements in a file of a few bytes."""
    writer = _engine.CheckpointWriter(str(tmp_path / "m").encode())
    writer.add(b"w", np.ones(3, np.float32), 1)
    writer.finish()
    index = tmp_path / "m.index"
    data = index.read_bytes()
    entry = bytes([0x12, 0x04, 0x12, 0x02, 0x08, 0x03])  # shape { dim { size: 3 } }
    at = data.index(entry)
    for size in (4, 2, 127):
        block = data[: at + 5] + bytes([size]) + data[at + 6 :]
        end = block.index(b"\x00\x00\x00\x00\x01\x00\x00\x00", at) + 9
        crc = _engine.masked_crc32c(block[:end]).to_bytes(4, "little")
        index.write_bytes(block[:end] + crc + block[end + 4 :])
        with pytest.raises(tf.errors.DataLossError, match="Invalid size in bundle entry: key w; stored size 12"):
            tf.train.NewCheckpointReader(str(tmp_path / "m")).get_tensor("w")


@pytest.mark.parametrize("bytes_before", [0, 1, 4096, (8 << 20) - 3])
def test_large_tensors_at_any_place_of_the_file(tmp_path, bytes_before):
    """They are cut where the file's pages end, and several threads write and read them."""
    chunk = 8 << 20
    random = np.random.RandomState(0)
    sizes = {"a": bytes_before, "b": chunk, "c": chunk + 1, "d": 2 * chunk - bytes_before, "e": 3 * chunk + 513}
    values = {name: random.randint(-128, 128, size, np.int8) for name, size in sizes.items()}
    variables = [tf.get_variable(name, initializer=tf.zeros([size], tf.int8)) for name, size in sizes.items()]
    saver = tf.train.Saver(variables, save_random_state=False)
    prefix = str(tmp_path / "m")
    with tf.Session() as session:
        for variable in variables:
            variable.load(values[variable.op.name], session)
        saver.save(session, prefix, write_meta_graph=False)
        data = (tmp_path / "m.data-00000-of-00001").read_bytes()
        assert data == b"".join(values[name].tobytes() for name in sorted(sizes))
        _engine.CheckpointReader(prefix.encode()).verify()  # piece by piece from the tensor's beginning
        session.run(tf.global_variables_initializer())
        saver.restore(session, prefix)
        for variable in variables:
            np.testing.assert_array_equal(session.run(variable), values[variable.op.name])
