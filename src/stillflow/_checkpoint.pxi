# Checkpoints and snapshots; part of _engine.pyx.

cdef extern from "runtime/capi/stillflow.h" nogil:
    ctypedef struct sf_snapshot
    ctypedef struct sf_checkpoint
    ctypedef struct sf_checkpoint_writer
    sf_snapshot* sf_snapshot_take(sf_variable* const*, int32_t)
    void sf_snapshot_restore(const sf_snapshot*)
    void sf_snapshot_free(sf_snapshot*)
    int32_t sf_variable_shape(sf_variable*, int64_t*)
    int32_t sf_checkpoint_open(const char*, sf_checkpoint**, char**)
    void sf_checkpoint_free(sf_checkpoint*)
    cbool sf_checkpoint_is_v2(const sf_checkpoint*)
    cbool sf_checkpoint_tensor(const sf_checkpoint*, int64_t, const char**, int64_t*, int32_t*, int32_t*,
                               const int64_t**, int64_t*)
    char* sf_checkpoint_slice(const sf_checkpoint*, int64_t, int64_t)
    int32_t sf_checkpoint_read(const sf_checkpoint*, const char*, int64_t, const char*, sf_tensor*, char**)
    int32_t sf_checkpoint_verify(const sf_checkpoint*, char**)
    int32_t sf_checkpoint_writer_open(const char*, sf_checkpoint_writer**, char**)
    void sf_checkpoint_writer_free(sf_checkpoint_writer*)
    int32_t sf_checkpoint_writer_add(sf_checkpoint_writer*, const char*, int64_t, const char*, const sf_tensor*, char**)
    int32_t sf_checkpoint_writer_finish(sf_checkpoint_writer*, char**)
    int32_t sf_session_set_note(sf_session*, const char*, const char*, const char*, int64_t, char**)
    void sf_session_clear_notes(sf_session*, const char*)


def variable_dims(Variable variable):
    """The sizes of a variable's value as it is now, or None if it has none."""
    cdef int64_t dims[SF_MAX_RANK]
    rank = sf_variable_shape(variable.handle, dims)
    return None if rank < 0 else tuple(dims[i] for i in range(rank))


cdef class Snapshot:
    """The values of some variables of a session at one instant. Nothing is copied: who updates one copies it."""

    cdef sf_snapshot* handle
    cdef Session session

    def __init__(self, Session session, variables):
        cdef vector[sf_variable*] handles
        for variable in variables:
            handles.push_back((<Variable>variable).handle)
        self.session = session
        self.handle = sf_snapshot_take(handles.data(), <int32_t>handles.size())
        if self.handle == NULL:
            raise MemoryError

    def __dealloc__(self):
        sf_snapshot_free(self.handle)

    def restore(self):
        """Gives the variables those values again; those that had none have none. It may be called again."""
        with nogil:
            sf_snapshot_restore(self.handle)


cdef int _check_path(bytes path) except -1:
    if b"\0" in path:
        raise EngineError(3, f"{path!r}; A path has a zero byte")
    return 0


def set_note(Session session, bytes prefix, bytes key, bytes value):
    """Makes `value` a string scalar of the next checkpoint that the session writes at `prefix`."""
    cdef char* message = NULL
    _check_path(prefix)
    code = sf_session_set_note(session.handle, prefix, key, value, len(value), &message)
    _check(code, message)


def clear_notes(Session session, bytes prefix):
    """Forgets what was set for a checkpoint that has not been written."""
    sf_session_clear_notes(session.handle, prefix)


cdef class CheckpointReader:
    """A checkpoint of either format. Raises EngineError for what is damaged or not there."""

    cdef sf_checkpoint* handle
    cdef readonly dict tensors    # name -> (DataType, sizes, slices as "0,3:-"), names and slices as bytes

    def __init__(self, bytes prefix):
        cdef char* message = NULL
        _check_path(prefix)
        cdef const char* path = prefix
        with nogil:
            code = sf_checkpoint_open(path, &self.handle, &message)
        _check(code, message)
        self.tensors = {}
        cdef const char* name = NULL
        cdef const int64_t* dims = NULL
        cdef int64_t name_size = 0, slice_count = 0, index = 0
        cdef int32_t dtype = 0, rank = 0
        while sf_checkpoint_tensor(self.handle, index, &name, &name_size, &dtype, &rank, &dims, &slice_count):
            slices = [self.slice_text(index, i) for i in range(slice_count)]
            self.tensors[name[:name_size]] = dtype, tuple(dims[i] for i in range(rank)), slices
            index += 1

    def __dealloc__(self):
        sf_checkpoint_free(self.handle)

    cdef bytes slice_text(self, int64_t index, int64_t number):
        cdef char* text = sf_checkpoint_slice(self.handle, index, number)
        try:
            return <bytes>text
        finally:
            sf_free(text)

    @property
    def is_v2(self):
        return sf_checkpoint_is_v2(self.handle)

    def read(self, bytes name, bytes shape_and_slice=b""):
        """The tensor, or the slice of it that RestoreV2 means by `shape_and_slice`: an array, numpy scalar, or bytes."""
        cdef char* message = NULL
        cdef sf_tensor tensor
        cdef const char* first = name
        cdef const char* spec = shape_and_slice
        cdef int64_t size = len(name)
        with nogil:
            code = sf_checkpoint_read(self.handle, first, size, spec, &tensor, &message)
        _check(code, message)
        return _take_out(&tensor)

    def verify(self):
        """Reads everything and checks all checksums."""
        cdef char* message = NULL
        with nogil:
            code = sf_checkpoint_verify(self.handle, &message)
        _check(code, message)


cdef class CheckpointWriter:
    """Writes a checkpoint of format V2, which appears at `finish`, or not at all."""

    cdef sf_checkpoint_writer* handle

    def __init__(self, bytes prefix):
        cdef char* message = NULL
        _check_path(prefix)
        code = sf_checkpoint_writer_open(prefix, &self.handle, &message)
        _check(code, message)

    def __dealloc__(self):
        sf_checkpoint_writer_free(self.handle)

    def add(self, bytes name, cnp.ndarray array, int dtype, bytes shape_and_slice=b""):
        """`array` is in C order and of the dtype's numpy type (objects of bytes for strings)."""
        cdef sf_tensor tensor
        cdef char* message = NULL
        cdef const char* first = name
        cdef const char* spec = shape_and_slice
        cdef int64_t size = len(name)
        _describe(array, dtype, &tensor)
        tensor.buffer = NULL
        tensor.data = cnp.PyArray_DATA(array)
        if dtype == DT_STRING:
            _copy_strings(array, &tensor)
        with nogil:
            code = sf_checkpoint_writer_add(self.handle, first, size, spec, &tensor, &message)
        if tensor.buffer != NULL:
            sf_buffer_release(tensor.buffer)
        _check(code, message)

    def finish(self):
        cdef char* message = NULL
        with nogil:
            code = sf_checkpoint_writer_finish(self.handle, &message)
        _check(code, message)
