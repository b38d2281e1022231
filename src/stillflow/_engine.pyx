# distutils: language = c++
"""The engine as Python sees it: kernel libraries, sessions, programs. All of stillflow.h crosses here."""

import os
import threading

import numpy as np

cimport numpy as cnp
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyTypeObject
from cpython.ref cimport PyObject, Py_INCREF, Py_XDECREF
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy, strdup
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

cnp.import_array()

cdef extern from "Python.h" nogil:
    unsigned long PyThread_get_thread_ident()

cdef extern from "runtime/capi/stillflow.h" nogil:
    ctypedef struct sf_kernels
    ctypedef struct sf_container
    ctypedef struct sf_session
    ctypedef struct sf_program
    ctypedef struct sf_variable
    ctypedef struct sf_buffer
    enum: SF_MAX_RANK
    ctypedef struct sf_tensor:
        void* data
        sf_buffer* buffer
        int64_t count
        int32_t dtype
        int32_t rank
        int64_t dims[SF_MAX_RANK]
    ctypedef struct sf_outcome:
        int32_t code
        int32_t step
        int32_t part
        char* message
    ctypedef struct sf_run_options:
        cbool (*poll)(void* arg) noexcept nogil
        void* arg
        int64_t timeout_nanos
        int32_t (*host)(void* arg, const char* name, int64_t name_size, const sf_tensor* const* inputs,
                        int32_t in_count, sf_tensor* const* outputs, int32_t out_count, char** message) noexcept nogil
        sf_step_trace* trace
    ctypedef struct sf_step_trace:
        int64_t start_nanos
        int64_t end_nanos
        int64_t output_bytes
    void sf_free(void*)
    const char* const* sf_supported_isas()
    int32_t sf_kernels_open(const char*, sf_kernels**, char**)
    int32_t sf_kernels_count(const sf_kernels*)
    const char* sf_kernels_name(const sf_kernels*, int32_t)
    const char* sf_kernels_parameters(const sf_kernels*, int32_t)
    sf_buffer* sf_buffer_allocate(int64_t, void**)
    void sf_buffer_retain(sf_buffer*)
    void sf_buffer_release(sf_buffer*)
    cbool sf_buffer_is_unique(const sf_buffer*)
    sf_buffer* sf_strings_allocate(int64_t, void**)
    cbool sf_string_set(void*, int64_t, const char*, int64_t)
    const char* sf_string_get(const void*, int64_t, int64_t*)
    void sf_allocator_statistics(int64_t*, int64_t*)
    sf_container* sf_container_new()
    void sf_container_free(sf_container*)
    sf_session* sf_session_new(int32_t, sf_container*)
    void sf_session_free(sf_session*)
    void sf_session_close(sf_session*)
    sf_variable* sf_session_variable(sf_session*, const char*, const char*, int32_t, int32_t, const int64_t*)
    void sf_variable_clear(sf_variable*)
    cbool sf_session_random_state(sf_session*, int64_t, const char**, uint64_t*, uint64_t*, uint64_t*)
    int32_t sf_session_set_random_state(sf_session*, const char*, uint64_t, uint64_t, uint64_t, char**)
    int32_t sf_session_save_op_states(
        sf_session*, char**, void (*)(void*, const char*, const char*, int64_t) noexcept, void*)
    int32_t sf_session_restore_op_state(sf_session*, const char*, const char*, int64_t, char**)
    void sf_session_forget_resource(sf_session*, const char*, const char*)
    sf_program* sf_program_new(sf_session*, const sf_kernels*, int32_t, cbool)
    void sf_program_free(sf_program*)
    void sf_program_constant(sf_program*, int32_t, const sf_tensor*)
    void sf_program_reference(sf_program*, int32_t, sf_variable*)
    void sf_program_attr_int(sf_program*, int64_t)
    void sf_program_attr_float(sf_program*, double)
    void sf_program_attr_bytes(sf_program*, const void*, int64_t, int64_t)
    void sf_program_attr_function(
        sf_program*, const sf_program*, const char*, cbool, const int32_t*, const int32_t*)
    void sf_program_part(sf_program*, const char*)
    void sf_program_random_state(sf_program*, const char*, int64_t, int64_t)
    void sf_program_op_state(sf_program*, const char*)
    int32_t sf_program_step(sf_program*, int32_t, const int32_t*, int32_t, const int32_t*, int32_t, uint64_t,
                            const int32_t*, int32_t, char**)
    void sf_program_guard(sf_program*, const int32_t*, int32_t)
    void sf_program_cells(sf_program*, int32_t)
    void sf_program_fetch_guard(sf_program*, int32_t, const int32_t*, int32_t)
    void sf_program_unit(
        sf_program*, int32_t, int32_t, cbool, cbool, const int32_t*, int32_t, const int32_t*, int32_t)
    int32_t sf_program_step_count(const sf_program*)
    void sf_program_feeds(sf_program*, const int32_t*, int32_t)
    void sf_program_fetches(sf_program*, const int32_t*, int32_t)
    sf_outcome sf_program_run(sf_program*, const sf_tensor*, sf_tensor*, const sf_run_options*)
    void sf_after_fork_in_child()

cdef extern from "numpy/arrayobject.h":
    object PyArray_Scalar(void*, cnp.dtype, object)
    int PyArray_SetBaseObject(cnp.ndarray, object) except -1
    # Steals a reference to the dtype.
    cnp.ndarray PyArray_NewFromDescr(
        PyTypeObject*, cnp.dtype, int, cnp.npy_intp*, cnp.npy_intp*, void*, int, PyObject*)

MAX_RANK = SF_MAX_RANK

# Arrays up to this size are copied out of the engine: that is cheaper than an owner object.
cdef enum: COPIED_BYTES = 4096

# TensorFlow's DataType numbers.
cdef enum:
    DT_STRING = 7
    DT_VARIANT = 21
    DT_BFLOAT16 = 14

cdef dict _NUMPY_TYPES = {
    1: np.dtype(np.float32), 2: np.dtype(np.float64), 3: np.dtype(np.int32), 4: np.dtype(np.uint8),
    5: np.dtype(np.int16), 6: np.dtype(np.int8), 7: np.dtype(object), 8: np.dtype(np.complex64),
    9: np.dtype(np.int64), 10: np.dtype(np.bool_), 11: np.dtype(np.int8), 12: np.dtype(np.uint8),
    13: np.dtype(np.int32), 15: np.dtype(np.int16), 16: np.dtype(np.uint16), 17: np.dtype(np.uint16),
    18: np.dtype(np.complex128), 19: np.dtype(np.float16), 22: np.dtype(np.uint32), 23: np.dtype(np.uint64),
}


cdef cnp.dtype _numpy_type(int32_t dtype):
    found = _NUMPY_TYPES.get(dtype)
    if found is None:
        if dtype != DT_BFLOAT16:
            raise TypeError(f"Values of DataType {dtype} have no numpy form")
        import ml_dtypes  # only programs that use bfloat16 pay for it
        found = _NUMPY_TYPES[DT_BFLOAT16] = np.dtype(ml_dtypes.bfloat16)
    return found


include "_errors.pxi"


def supported_isas():
    """The instruction sets that this processor runs, best first."""
    names = []
    cdef const char* const* isa = sf_supported_isas()
    while isa[0] != NULL:
        names.append((<bytes>isa[0]).decode())
        isa += 1
    return names


def allocator_statistics():
    """Bytes in use by tensors, and bytes kept for reuse."""
    cdef int64_t used = 0, cached = 0
    sf_allocator_statistics(&used, &cached)
    return used, cached


cdef int _fork_generation = 0
cdef unsigned long _main_thread = threading.main_thread().ident


def _after_fork_in_child():
    global _fork_generation, _main_thread
    _fork_generation += 1
    _main_thread = PyThread_get_thread_ident()
    sf_after_fork_in_child()


os.register_at_fork(after_in_child=_after_fork_in_child)


cdef class Kernels:
    """A kernel library for one instruction set; it stays loaded for good."""

    cdef sf_kernels* handle
    cdef readonly dict indices, parameters  # by name: an index, "inputs | attributes"

    def __init__(self, path):
        cdef char* message = NULL
        cdef bytes encoded = os.fsencode(path)
        code = sf_kernels_open(encoded, &self.handle, &message)
        _check(code, message)
        self.indices = {}
        self.parameters = {}
        for i in range(sf_kernels_count(self.handle)):
            name = (<bytes>sf_kernels_name(self.handle, i)).decode()
            self.indices[name] = i
            self.parameters[name] = (<bytes>sf_kernels_parameters(self.handle, i)).decode()


cdef class Session


cdef class Variable:
    """A variable of a session."""

    cdef sf_variable* handle
    cdef Session session

    def clear(self):
        """Takes its value away, and frees the memory. The variable is as it was before its first assignment."""
        if self.session.generation == _fork_generation:
            sf_variable_clear(self.handle)


cdef void _collect_state(void* states, const char* name, const char* data, int64_t size) noexcept with gil:
    (<dict>states)[(<bytes>name).decode()] = data[:size]


cdef class Container:
    """Variables and resources with shared names, which several sessions have in common."""

    cdef sf_container* handle
    cdef int generation

    def __init__(self):
        self.handle = sf_container_new()
        self.generation = _fork_generation
        if self.handle == NULL:
            raise MemoryError

    def __dealloc__(self):
        if self.handle != NULL and self.generation == _fork_generation:
            sf_container_free(self.handle)


cdef class Session:
    """What outlives a run: variables and random states. Close it, or drop the last reference.

    With a container its variables are shared with other sessions; `tasks` then says which task's an op is.
    """

    cdef sf_session* handle
    cdef int generation
    cdef readonly object tasks

    def __init__(self, int threads, Container container=None, tasks=None):
        cdef sf_container* shared = NULL
        if container is not None:
            shared = container.handle
        self.handle = sf_session_new(threads, shared)
        self.tasks = tasks
        self.generation = _fork_generation
        if self.handle == NULL:
            raise MemoryError

    def __dealloc__(self):
        # After a fork the runs of the parent's threads will never end, so nothing may wait for them.
        if self.handle != NULL and self.generation == _fork_generation:
            with nogil:
                sf_session_free(self.handle)

    def close(self):
        """Cancels the runs under way and waits for them."""
        if self.generation == _fork_generation:
            with nogil:
                sf_session_close(self.handle)

    def variable(self, str name, int dtype, dims, str place=""):
        """The variable `name`; `dims` is None when its rank is unknown, and has -1 for unknown sizes.

        Of sessions with a container `place` tells variables of the same name apart. Raises ValueError if another
        session has it with another type.
        """
        cdef int64_t sizes[SF_MAX_RANK]
        cdef int rank = -1
        if dims is not None:
            rank = len(dims)
            for i in range(rank):
                sizes[i] = dims[i]
        variable = Variable()
        variable.session = self
        variable.handle = sf_session_variable(self.handle, place.encode(), name.encode(), dtype, rank, sizes)
        if variable.handle == NULL:
            raise ValueError(f"Variable {name} has another type in another session")
        return variable

    def random_states(self):
        """{node name: (key, counter low, counter high)} of the random ops."""
        states = {}
        cdef const char* name = NULL
        cdef uint64_t key = 0, low = 0, high = 0, index = 0
        while sf_session_random_state(self.handle, index, &name, &key, &low, &high):
            states[(<bytes>name).decode()] = (key, low, high)
            index += 1
        return states

    def set_random_state(self, str name, uint64_t key, uint64_t low, uint64_t high):
        """Moves the random op `name`, which need not have been planned yet, to that position."""
        cdef char* message = NULL
        code = sf_session_set_random_state(self.handle, name.encode(), key, low, high, &message)
        _check(code, message)

    def op_states(self):
        """{node name: bytes} of the ops whose kernels have a state of their own and can save it."""
        cdef char* message = NULL
        states = {}
        with nogil:  # it may have to wait for a run that needs it
            code = sf_session_save_op_states(self.handle, &message, _collect_state, <void*>states)
        _check(code, message)
        return states

    def restore_op_state(self, str name, bytes state):
        """Restores such a state, at once or when the op is planned. Raises EngineError if it is not the op's."""
        cdef char* message = NULL
        cdef bytes op = name.encode()
        cdef const char* text = op
        cdef const char* data = state
        cdef int64_t size = len(state)
        with nogil:
            code = sf_session_restore_op_state(self.handle, text, data, size, &message)
        _check(code, message)

    def forget_resource(self, str kind, str name):
        """Frees what the op `name` declares, "iterator" or another kind of resource. The op must not run again."""
        cdef bytes kind_bytes = kind.encode()
        cdef bytes name_bytes = name.encode()
        cdef const char* kind_text = kind_bytes
        cdef const char* name_text = name_bytes
        if self.generation == _fork_generation:
            with nogil:
                sf_session_forget_resource(self.handle, kind_text, name_text)


include "_arrays.pxi"
include "_io.pxi"
include "_checkpoint.pxi"


cdef struct _Interruption:
    PyObject* error


cdef cbool _handle_signals(void* arg) noexcept with gil:
    """Lets Python's signal handlers run; what they raise ends the run."""
    try:
        PyErr_CheckSignals()
    except BaseException as error:
        Py_INCREF(error)
        (<_Interruption*>arg).error = <PyObject*>error
        return True
    return False


include "_host_call.pxi"
include "_program.pxi"
include "_array_types.pxi"
