"""Strings: split, joined, hashed, read as numbers and written."""

import numpy as np

_LENGTHS = [0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 100, 127, 128, 129, 192, 193, 1000]


def _texts():
    return [bytes((7 * i * i + length) % 256 for i in range(length)) for length in _LENGTHS]


def _parts(*tensors):
    return [part for tensor in tensors for part in (tensor.indices, tensor.values, tensor.dense_shape)]


def hashes(tf):
    texts = tf.constant(_texts())
    return [
        tf.string_to_hash_bucket(texts, 2**62),
        tf.string_to_hash_bucket_fast(texts, 2**62),
        tf.string_to_hash_bucket_strong(texts, 2**62, [123, 2**60 + 5]),
        tf.strings.to_hash_bucket(texts, 10),
        tf.strings.to_hash_bucket_fast("x", 1000, name="n"),
        tf.strings.to_hash_bucket_strong([["y"]], 7, key=[0, 0]),
    ]


def numbers(tf):
    floats = [
        "1",
        "-2.5",
        " 3e4\t",
        "1e400",
        "-1e400",
        "1e-400",
        "0x1F",
        "inf",
        "NaN",
        "+5",
        ".5",
        "5.",
        "1E+05",
        "123456789012345678901234567890",
        "0.1",
        "16777217",
        "1.00000005960464477539",
        "1.000000059604644775390626",
        "3.4028236e38",
        "1e-45",
        "7e-46",
        "1.1754943508222875e-38",
        "2.2250738585072014e-308",
        "4.9e-324",
        "9007199254740993",
        "0.0000000000000000000001e22",
    ]
    integers = ["1", "-2147483648", "2147483647", " 7 ", "007", "-0"]
    large = ["-9223372036854775808", "9223372036854775807"]
    return [
        tf.string_to_number(floats),
        tf.string_to_number(floats, tf.float64),
        tf.strings.to_number(integers, tf.int32),
        tf.string_to_number(tf.constant(large), out_type=tf.int64, name="n"),
    ]


def random_numbers(tf):
    random = np.random.RandomState(0)
    texts = []
    for _ in range(600):
        digits = "".join(str(digit) for digit in random.randint(0, 10, random.randint(1, 20)))
        point = random.randint(0, len(digits) + 1)
        exponent = ["", "e%d" % random.randint(-45, 38)][random.randint(0, 2)]
        texts.append(["", "-"][random.randint(0, 2)] + digits[:point] + "." + digits[point:] + exponent)
    return [tf.string_to_number(texts), tf.string_to_number(texts, tf.float64)]


def as_strings(tf):
    floats = np.float32([1.5, 1e-10, 1e20, np.nan, np.inf, -np.inf, 0.1, -0.0, 16777216, -1 / 3.0])
    doubles = np.float64([1 / 3.0, -1e300, np.nan])
    integers = [np.int8([-5, 127]), np.int16([-300]), np.int32([7, -8]), np.int64([2**62])]
    found = [tf.as_string(tf.constant([True, False]))]
    for options in (
        {},
        {"precision": 3},
        {"scientific": True},
        {"shortest": True},
        {"width": 8},
        {"width": 8, "fill": "0"},
        {"width": 8, "fill": "-"},
        {"width": 8, "fill": " "},
        {"width": 8, "fill": "+"},
        {"fill": "0"},
        {"precision": 2, "scientific": True, "width": 12},
        {"shortest": True, "precision": 9},
        {"precision": 0},
    ):
        found += [tf.as_string(tf.constant(values), **options) for values in (floats, doubles)]
        if not set(options) & {"precision", "scientific", "shortest"}:
            found += [tf.strings.as_string(tf.constant(values), **options) for values in integers]
    return found


def letters(tf):
    texts = [b"aB1", b" x y\t\n", b"", "\u00c9\u00e9\u0130\u00df".encode("utf-8"), b"\xff\xc3a"]
    return [
        tf.string_strip(texts),
        tf.strings.strip(tf.constant("  a")),
        tf.strings.length(texts),
        tf.strings.length(texts, unit="UTF8_CHAR"),
        tf.strings.lower(texts),
        tf.strings.upper(texts),
        tf.strings.lower(texts, encoding="utf-8"),
        tf.strings.upper([["a", "b"]], encoding="utf-8", name="n"),
    ]


def base64(tf):
    texts = [b"", b"a", b"ab", b"abc", b"\xff\xfe\xfd\xfc"]
    encoded = ["", "YQ", "YQ==", "YWI", "YWI=", "YWJj", "__79", "YR"]
    return [tf.encode_base64(texts), tf.io.encode_base64(tf.constant(texts), pad=True), tf.decode_base64(encoded)]


def substrings(tf):
    unknown = tf.placeholder_with_default(tf.constant([["abc"], ["defg"]]), None)
    return [
        tf.substr(["hello", "world"], 1, 3),
        tf.substr(["hello", "world"], [1, -2], [3, 1]),
        tf.substr("hello", [1, 2], [3, 9]),
        tf.strings.substr([["ab", "cd"], ["ef", "gh"]], [0, 1], [1, 1]),
        tf.substr(unknown, tf.constant([0, 2], tf.int64), tf.constant([1, -1], tf.int64)),
        tf.substr(["a\u00e9b\u4e2d"], 1, 2, unit="UTF8_CHAR"),
        tf.substr([b"\xff\xc3a\xe4\xb8"], -3, 2, unit="UTF8_CHAR"),
    ]


def splits(tf):
    texts = ["a b  c", "", " d "]
    return _parts(
        tf.string_split(texts),
        tf.string_split(tf.constant(texts), skip_empty=False),
        tf.string_split(["a,b;c"], ",;"),
        tf.string_split(["abc", ""], "", name="n"),
        tf.string_split(["a b"], delimiter="b"),
        tf.string_split(tf.constant([], tf.string)),
        tf.strings.split(texts),
        tf.strings.split(["a,,b,c", ""], ","),
        tf.strings.split(["a<>b<>c"], "<>", maxsplit=1),
        tf.strings.split(["  a b  c "], maxsplit=1),
        tf.strings.split(source=["a\tb\n\x0bc\x0c\rd"]),
        tf.strings.split(tf.constant(["a b c"]), maxsplit=0, name="n"),
    )


def joins(tf):
    texts = [["a", "b", "c"], ["d", "e", "f"]]
    unknown = tf.placeholder_with_default(tf.constant(texts), None)
    return [
        tf.reduce_join(texts),
        tf.reduce_join(texts, 0, separator="."),
        tf.reduce_join(texts, [0, 1]),
        tf.reduce_join(texts, [1, 0], name="n"),
        tf.reduce_join(texts, -1, keep_dims=True),
        tf.reduce_join(texts, []),
        tf.strings.reduce_join(unknown),
        tf.reduce_join(texts, reduction_indices=[0], keepdims=True),
        tf.reduce_join([texts, texts], [2, 0]),
        tf.string_join(["a", ["b", "c"]], "-"),
        tf.strings.join([texts, texts]),
        tf.strings.unsorted_segment_join(["a", "b", "c"], [1, 0, 1], 3, ":"),
    ]


def csv(tf):
    lines = ["1,2.5,x,-9,1e3", '3,,"a ""q"", b",7,', "-4, 1 ,,8,0x10", '\n5,6,"c\nd",0,.5']
    columns = tf.decode_csv(lines, [[0], [1.5], [""], tf.constant([0], tf.int64), tf.constant([0.5], tf.float64)])
    chosen = tf.decode_csv([["a;b;NA"], ['c;d;"e"']], ["", "z"], field_delim=";", na_value="NA", select_cols=[0, 2])
    unquoted = tf.io.decode_csv('"a,b",c', ["", "", ""], use_quote_delim=False, name="n")
    return columns + chosen + unquoted


def raw(tf):
    data = [bytes(bytearray(range(16))), bytes(bytearray(range(100, 116)))]
    types = [tf.uint8, tf.int8, tf.int16, tf.uint16, tf.int32, tf.int64, tf.float32, tf.float64, tf.bool]
    found = [tf.decode_raw(data, dtype) for dtype in types]
    found += [
        tf.decode_raw([data], dtype, little_endian=False) for dtype in (tf.int16, tf.int32, tf.float64, tf.uint8)
    ]
    return found + [tf.decode_raw(b"", tf.int16), tf.decode_raw(bytes=data[0], out_type=tf.float16)]


def messages(tf):
    json = ['{"features":{"feature":{"a":{"int64List":{"value":[1,2]}}}}}', "{}"]
    tensors = [tf.constant([1.0, 2.0]), tf.constant([b"a", b""]), tf.constant(3, tf.int64), tf.zeros([0, 2])]
    serialized = [tf.serialize_tensor(tensor) for tensor in tensors]
    parsed = [tf.io.parse_tensor(data, tensor.dtype) for data, tensor in zip(serialized, tensors)]
    examples = tf.parse_example(tf.decode_json_example(json), {"a": tf.VarLenFeature(tf.int64)})
    return [examples["a"].values, *serialized, *parsed, tf.decode_compressed(["x", ""])]


def png(tf):
    random = np.random.RandomState(0)
    found = []
    for channels in (1, 2, 3, 4):
        image = tf.constant(random.randint(0, 256, (5, 7, channels)).astype(np.uint8))
        deep = tf.constant(random.randint(0, 65536, (3, 4, channels)).astype(np.uint16))
        for data in (tf.image.encode_png(image), tf.image.encode_png(deep, compression=9)):
            found.append(data)
            found += [tf.image.decode_png(data, channels=wanted) for wanted in (0, 1, 3, 4)]
            found += [tf.image.decode_png(data, channels=wanted, dtype=tf.uint16) for wanted in (0, 1)]
            found += [tf.image.decode_jpeg(data, channels=3)]
    return [*found, tf.image.is_jpeg(tf.constant(b"\xff\xd8\xffx"))]


def regular_expressions(tf):
    texts, pattern = tf.constant(["abc", "b"]), tf.constant("b")
    return [
        tf.strings.regex_replace(texts, "b", "x"),
        tf.regex_replace(texts, pattern, "x", replace_global=False, name="named"),
        tf.strings.regex_replace(texts, "b", tf.constant("x")),
        tf.strings.regex_full_match(texts, "b"),
        tf.strings.regex_full_match(texts, pattern, name="match"),
    ]
