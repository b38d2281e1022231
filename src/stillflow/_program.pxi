# Compiled plans, and how values are brought to them; part of _engine.pyx.


cdef class Feed:
    """How a value is brought to one external slot: its type, and how to convert what is not an array."""

    cdef int32_t dtype
    cdef cnp.dtype descr
    cdef int rank                    # of the static shape; -1 when unknown
    cdef int64_t dims[SF_MAX_RANK]   # -1 when unknown
    cdef object convert              # value -> array of the right type and shape, or raises

    def __init__(self, int dtype, dims, convert):
        self.dtype = dtype
        self.descr = None if dtype == DT_VARIANT else _numpy_type(dtype)
        self.convert = convert
        self.rank = -1
        if dims is not None:
            self.rank = len(dims)
            for i in range(self.rank):
                self.dims[i] = -1 if dims[i] is None else dims[i]

    cdef bint is_usable(self, cnp.ndarray array):
        """Whether the array can be used as it lies in memory; of strings that has to be looked into."""
        return (self.dtype != DT_STRING and array.descr is self.descr and cnp.PyArray_IS_C_CONTIGUOUS(array)
                and cnp.PyArray_ISALIGNED(array))

    cdef bint fits(self, cnp.ndarray array):
        """Whether the program was planned for arrays of this shape."""
        return self.fits_dims(cnp.PyArray_NDIM(array), cnp.PyArray_DIMS(array))

    cdef bint fits_dims(self, int rank, const cnp.npy_intp* dims):
        if self.rank < 0:
            return True
        if rank != self.rank:
            return False
        for i in range(self.rank):
            if self.dims[i] >= 0 and self.dims[i] != dims[i]:
                return False
        return True

    cdef cnp.ndarray prepare(self, value):
        cdef cnp.ndarray array
        if type(value) is cnp.ndarray and self.is_usable(<cnp.ndarray>value) and self.fits(<cnp.ndarray>value):
            return <cnp.ndarray>value
        if type(value) is float and self.rank <= 0 and self.dtype == 1:
            array = cnp.PyArray_EMPTY(0, NULL, cnp.NPY_FLOAT32, 0)
            (<float*>cnp.PyArray_DATA(array))[0] = <float><double>value
            return array
        return self.convert(value)


cdef class Function:
    """An attribute of a step: a program that the step's kernel calls.

    `is_stateful` says whether calls can be told apart but by their results. Types are DataType numbers, VARIABLE for
    arguments that are variables.
    """

    VARIABLE = 1000

    cdef Program body
    cdef bytes name
    cdef bint is_stateful
    cdef vector[int32_t] input_types
    cdef vector[int32_t] output_types

    def __init__(self, Program body, str name, bint is_stateful, input_types, output_types):
        self.body = body
        self.name = name.encode()
        self.is_stateful = is_stateful
        self.input_types = input_types
        self.output_types = output_types

    cdef void add_to(self, sf_program* program):
        sf_program_attr_function(program, self.body.handle, self.name, self.is_stateful, self.input_types.data(),
                                 self.output_types.data())


cdef class Program:
    """A compiled plan. Owns the C++ program and keeps its session alive; immutable once run.

    With `is_body` it is the body of a Function: its steps have names, and their states belong to its callers.
    `explain`(code, message, step, part) makes the exception that a failed run raises, by default an EngineError.
    """

    cdef sf_program* handle
    cdef Session session
    cdef Kernels kernels
    cdef list feeds
    cdef int fetch_count
    cdef public object explain

    def __init__(self, Session session, Kernels kernels, int slot_count, bint is_body=False):
        self.session = session
        self.kernels = kernels
        self.feeds = []
        self.fetch_count = 0
        self.explain = EngineError
        self.handle = sf_program_new(session.handle, kernels.handle, slot_count, is_body)
        if self.handle == NULL:
            raise MemoryError

    def __dealloc__(self):
        if self.handle != NULL and self.session.generation == _fork_generation:
            sf_program_free(self.handle)

    def add_constant(self, int slot, cnp.ndarray array, int dtype):
        """`array` is in C order and of the dtype's numpy type (objects of bytes for strings)."""
        cdef sf_tensor tensor
        _copy_in(array, dtype, &tensor)
        sf_program_constant(self.handle, slot, &tensor)

    def add_reference(self, int slot, Variable variable):
        sf_program_reference(self.handle, slot, variable.handle)

    def add_step(self, kernel, inputs, outputs, attrs, dying, releases, random_state=None, op_state=None, guard=(),
                 parts=()):
        """Attributes are ints, floats, bytes, Functions, or lists of ints or floats.

        `random_state` is (name, seed, seed2); `parts` are names of nodes, for messages.
        """
        cdef vector[int32_t] in_slots = inputs
        cdef vector[int32_t] out_slots = outputs
        cdef vector[int32_t] released = releases
        cdef char* message = NULL
        for attr in attrs:
            self.add_attr(attr)
        if random_state is not None:
            name, seed, seed2 = random_state
            sf_program_random_state(self.handle, name.encode(), seed, seed2)
        if op_state is not None:
            sf_program_op_state(self.handle, op_state.encode())
        for part in parts:
            sf_program_part(self.handle, part.encode())
        cdef vector[int32_t] cells = guard
        sf_program_guard(self.handle, cells.data(), <int32_t>cells.size())
        code = sf_program_step(
            self.handle, self.kernels.indices[kernel], in_slots.data(), <int32_t>in_slots.size(),
            out_slots.data(), <int32_t>out_slots.size(), dying, released.data(), <int32_t>released.size(), &message)
        _check(code, message)

    cdef int add_attr(self, attr) except -1:
        cdef cnp.ndarray array
        cdef bytes text
        if isinstance(attr, (bool, int)):
            sf_program_attr_int(self.handle, attr)
        elif isinstance(attr, float):
            sf_program_attr_float(self.handle, attr)
        elif isinstance(attr, Function):
            (<Function>attr).add_to(self.handle)
        elif isinstance(attr, bytes):
            text = attr
            sf_program_attr_bytes(self.handle, PyBytes_AS_STRING(text), len(text), len(text))
        else:
            is_float = any(isinstance(value, float) for value in attr)
            array = np.ascontiguousarray(attr, np.float64 if is_float else np.int64)
            sf_program_attr_bytes(self.handle, cnp.PyArray_DATA(array), cnp.PyArray_NBYTES(array), len(attr))
        return 0

    def set_feeds(self, feeds, slots):
        """`feeds` are Feed objects; `slots` the slots they fill, in the same order."""
        cdef vector[int32_t] numbers = slots
        self.feeds = list(feeds)
        sf_program_feeds(self.handle, numbers.data(), <int32_t>numbers.size())

    def set_fetches(self, slots, int cell_count=0, guards=()):
        """`guards` are (label for messages, cells) of fetches that may have no value."""
        cdef vector[int32_t] numbers = slots
        self.fetch_count = len(slots)
        sf_program_fetches(self.handle, numbers.data(), <int32_t>numbers.size())
        sf_program_cells(self.handle, cell_count)
        for label, numbers in guards:
            sf_program_fetch_guard(self.handle, label, numbers.data(), <int32_t>numbers.size())

    def add_unit(self, int first, int end, bint is_loop, bint waits, after, loosely_after):
        """Steps that run together; see plan/units.py. `after` and `loosely_after` are numbers of earlier units."""
        cdef vector[int32_t] strictly = after
        cdef vector[int32_t] loosely = loosely_after
        sf_program_unit(self.handle, first, end, is_loop, waits, strictly.data(), <int32_t>strictly.size(),
                        loosely.data(), <int32_t>loosely.size())

    cpdef list run(self, values, int64_t timeout_nanos=0, list trace=None, bint shares=False):
        """Runs every step once. `values` are fed in the order of the feeds; returns the fetched values.

        `trace` gets a (start, end, bytes of the outputs) for each step, times in nanoseconds since 1970. With `shares`
        the arrays may lie in memory that variables use too, which will change elsewhere; they cannot be written to.

        Returns None, having run nothing, if a value is not of the shape that the program was planned for.
        """
        if self.session.generation != _fork_generation:
            raise RuntimeError("This session was made before fork(); make a new one in the child process.")
        cdef vector[sf_tensor] inputs
        cdef vector[sf_tensor] results
        cdef sf_outcome outcome
        cdef _Interruption interruption
        cdef sf_run_options options
        cdef Py_ssize_t i, feed_count = len(self.feeds)
        cdef Feed feed
        cdef cnp.ndarray array
        cdef Variants variants
        interruption.error = NULL
        options.poll = NULL
        if PyThread_get_thread_ident() == _main_thread:  # signals reach no other
            options.poll = _handle_signals
        options.arg = &interruption
        options.timeout_nanos = timeout_nanos
        options.host = _call_host
        options.trace = NULL
        cdef vector[sf_step_trace] times
        if trace is not None:
            times.resize(sf_program_step_count(self.handle))
            options.trace = times.data()
        inputs.resize(feed_count)
        results.resize(self.fetch_count)
        held = []
        try:
            for i in range(feed_count):
                feed = <Feed>self.feeds[i]
                if feed.dtype == DT_VARIANT:
                    variants = <Variants?>values[i]
                    if not feed.fits_dims(variants.tensor.rank, variants.tensor.dims):
                        return None
                    inputs[i] = variants.tensor
                    sf_buffer_retain(inputs[i].buffer)
                    held.append(variants)
                    continue
                array = feed.prepare(values[i])
                if not feed.fits(array):
                    return None
                inputs[i].buffer = NULL
                held.append(array)
                if feed.dtype == DT_STRING:
                    _copy_in(array, feed.dtype, &inputs[i])
                else:
                    _describe(array, feed.dtype, &inputs[i])
                    inputs[i].data = cnp.PyArray_DATA(array)
            with nogil:
                outcome = sf_program_run(self.handle, inputs.data(), results.data(), &options)
        finally:
            for i in range(len(held)):
                if inputs[i].buffer != NULL:
                    sf_buffer_release(inputs[i].buffer)
        if trace is not None:
            for i in range(<Py_ssize_t>times.size()):
                trace.append((times[i].start_nanos, times[i].end_nanos, times[i].output_bytes))
        if interruption.error != NULL:
            error = <object>interruption.error
            Py_XDECREF(interruption.error)
            sf_free(outcome.message)
            raise error
        if outcome.code != 0:
            raise self.explain(outcome.code, _take_message(outcome.message), outcome.step, outcome.part)
        return [_take_out(&results[i], shares) for i in range(self.fetch_count)]


cdef class Programs:
    """Programs of the same fetches for different shapes of the same feeds; a subclass adds those that are missing."""

    cdef public list programs

    def __init__(self):
        self.programs = []

    def run(self, values, int64_t timeout_nanos=0, bint shares=False):
        """Runs the first program that was planned for the shapes of `values`. See Program.run."""
        cdef list results
        for program in self.programs:
            results = (<Program>program).run(values, timeout_nanos, None, shares)
            if results is not None:
                return results
        return (<Program?>self.program_for(values)).run(values, timeout_nanos, None, shares)
