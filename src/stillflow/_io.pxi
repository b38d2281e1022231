"""The formats of files, as far as they are C++; included by _engine.pyx."""

from libc.stdint cimport uint32_t

cdef extern from "io/crc32c.h" namespace "stillflow::io" nogil:
    uint32_t ExtendCrc32c(uint32_t, const void*, size_t)
    uint32_t ExtendCrc32cByTable(uint32_t, const void*, size_t)
    uint32_t MaskCrc(uint32_t)


def crc32c(const unsigned char[::1] data, uint32_t crc=0, bint by_table=False):
    """The CRC-32C of what has the checksum `crc`, followed by `data`. `by_table` does without the instruction."""
    cdef const void* first = &data[0] if data.shape[0] > 0 else NULL
    cdef size_t size = data.shape[0]
    with nogil:
        crc = ExtendCrc32cByTable(crc, first, size) if by_table else ExtendCrc32c(crc, first, size)
    return crc


def masked_crc32c(const unsigned char[::1] data):
    """The CRC-32C of `data` as TensorFlow's files store it."""
    return MaskCrc(crc32c(data))
