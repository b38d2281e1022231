"""CRC-32C against the vectors of RFC 3720, by instruction and by table, at every length around the lanes' edges."""

import random

import pytest
from stillflow._engine import crc32c, masked_crc32c

VECTORS = [
    (b"", 0x00000000),
    (b"123456789", 0xE3069283),
    (bytes(32), 0x8A9136AA),
    (b"\xff" * 32, 0x62A8AB43),
    (bytes(range(32)), 0x46DD794E),
    (bytes(range(31, -1, -1)), 0x113FDB5C),
]


@pytest.mark.parametrize("by_table", [False, True])
@pytest.mark.parametrize(("data", "expected"), VECTORS)
def test_published_vectors(data, expected, by_table):
    assert crc32c(data, 0, by_table) == expected


@pytest.mark.parametrize("size", [1, 7, 8, 9, 2047, 6143, 6144, 6145, 6151, 12288, 100_003])
def test_instruction_and_table_agree_and_go_on(size):
    data = random.Random(size).randbytes(size)
    whole = crc32c(data)
    assert whole == crc32c(data, 0, by_table=True)
    for cut in (0, 1, size // 3, size):
        assert crc32c(data[cut:], crc32c(data[:cut])) == whole


def test_mask():
    assert masked_crc32c(b"") == 0xA282EAD8
    crc = crc32c(b"123456789")
    assert masked_crc32c(b"123456789") == ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
