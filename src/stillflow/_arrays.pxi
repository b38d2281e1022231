# Numpy arrays to tensors of the engine and back; part of _engine.pyx.

cdef class _BufferOwner:
    """Keeps the engine's memory alive for a numpy array."""

    cdef sf_buffer* buffer

    def __dealloc__(self):
        if self.buffer != NULL:
            sf_buffer_release(self.buffer)


cdef class Variants:
    """The value of a variant tensor, such as a data set, in the engine's memory. Any program can be fed with it."""

    cdef sf_tensor tensor

    def __cinit__(self):
        self.tensor.buffer = NULL

    def __dealloc__(self):
        if self.tensor.buffer != NULL:
            with nogil:  # its end may take long
                sf_buffer_release(self.tensor.buffer)

    @property
    def shape(self):
        return tuple([self.tensor.dims[i] for i in range(self.tensor.rank)])

    @property
    def ndim(self):
        return self.tensor.rank


cdef int _describe(cnp.ndarray array, int32_t dtype, sf_tensor* tensor) except -1:
    """Fills in all but the memory."""
    cdef int rank = cnp.PyArray_NDIM(array)
    if rank > SF_MAX_RANK:
        raise ValueError(f"Tensors have at most {SF_MAX_RANK} dimensions, got {rank}")
    tensor.dtype = dtype
    tensor.rank = rank
    tensor.count = cnp.PyArray_SIZE(array)
    for i in range(rank):
        tensor.dims[i] = cnp.PyArray_DIM(array, i)
    return 0


cdef int _copy_strings(cnp.ndarray array, sf_tensor* tensor) except -1:
    """Gives `tensor` the strings of an object array of bytes."""
    cdef void* data = NULL
    cdef PyObject** cells = <PyObject**>cnp.PyArray_DATA(array)
    tensor.buffer = sf_strings_allocate(tensor.count, &data)
    if tensor.buffer == NULL:
        raise MemoryError
    tensor.data = data
    for i in range(tensor.count):
        value = <object>cells[i]
        if not isinstance(value, bytes) or not sf_string_set(
                data, i, PyBytes_AS_STRING(value), PyBytes_GET_SIZE(value)):
            sf_buffer_release(tensor.buffer)
            tensor.buffer = NULL
            raise TypeError(f"Expected bytes, got {value!r}")
    return 0


cdef int _copy_in(cnp.ndarray array, int32_t dtype, sf_tensor* tensor) except -1:
    """Makes `tensor` own a copy of an array that is in C order and of its dtype's numpy type."""
    _numpy_type(dtype)  # raises TypeError for what has no form there
    _describe(array, dtype, tensor)
    if dtype == DT_STRING:
        return _copy_strings(array, tensor)
    cdef void* data = NULL
    cdef int64_t size = cnp.PyArray_NBYTES(array)
    tensor.buffer = sf_buffer_allocate(size, &data)
    if tensor.buffer == NULL:
        raise MemoryError
    tensor.data = data
    memcpy(data, cnp.PyArray_DATA(array), size)
    return 0


cdef object _strings_out(sf_tensor* tensor):
    cdef int64_t size = 0
    cdef const char* text
    if tensor.rank == 0:
        text = sf_string_get(tensor.data, 0, &size)
        return PyBytes_FromStringAndSize(text, size)
    cdef cnp.ndarray array = np.empty(tensor.count, object)
    cdef PyObject** cells = <PyObject**>cnp.PyArray_DATA(array)
    for i in range(tensor.count):
        text = sf_string_get(tensor.data, i, &size)
        item = PyBytes_FromStringAndSize(text, size)
        Py_INCREF(item)
        Py_XDECREF(cells[i])  # None, or nothing
        cells[i] = <PyObject*>item
    return array.reshape([tensor.dims[i] for i in range(tensor.rank)])


cdef object _take_out(sf_tensor* tensor, bint shares=False):
    """A numpy scalar or array with the tensor's value; takes over its reference.

    With `shares` it is an array also for a scalar, is read-only, and, if large, uses the tensor's memory even if
    others use it too.
    """
    cdef cnp.dtype descr
    cdef cnp.ndarray array
    cdef _BufferOwner owner
    cdef Variants variants
    cdef cnp.npy_intp dims[SF_MAX_RANK]
    cdef int64_t size
    try:
        if tensor.dtype == DT_STRING:
            return _strings_out(tensor)
        if tensor.dtype == DT_VARIANT and shares:
            variants = Variants()
            variants.tensor = tensor[0]
            tensor.buffer = NULL
            return variants
        descr = _numpy_type(tensor.dtype)
        if tensor.rank == 0 and not shares:
            return PyArray_Scalar(tensor.data, descr, None)
        for i in range(tensor.rank):
            dims[i] = tensor.dims[i]
        size = tensor.count * descr.itemsize
        Py_INCREF(descr)
        if size > COPIED_BYTES and tensor.buffer != NULL and (shares or sf_buffer_is_unique(tensor.buffer)):
            array = PyArray_NewFromDescr(
                <PyTypeObject*>cnp.ndarray, descr, tensor.rank, dims, NULL, tensor.data,
                cnp.NPY_ARRAY_CARRAY_RO if shares else cnp.NPY_ARRAY_CARRAY, NULL)
            owner = _BufferOwner()
            owner.buffer = tensor.buffer
            tensor.buffer = NULL
            Py_INCREF(owner)
            PyArray_SetBaseObject(array, owner)
            return array
        array = PyArray_NewFromDescr(<PyTypeObject*>cnp.ndarray, descr, tensor.rank, dims, NULL, NULL, 0, NULL)
        memcpy(cnp.PyArray_DATA(array), tensor.data, size)
        if shares:
            cnp.PyArray_CLEARFLAGS(array, cnp.NPY_ARRAY_WRITEABLE)
        return array
    finally:
        if tensor.buffer != NULL:
            sf_buffer_release(tensor.buffer)
            tensor.buffer = NULL
