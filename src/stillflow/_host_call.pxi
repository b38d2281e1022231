# The way back from the engine into Python, for py_func; part of _engine.pyx.

cdef object _host_function = None


def set_host_function(function):
    """`function(name, arguments, dtypes)` is called for host_call steps, with the GIL held.

    `name` is bytes, `arguments` are arrays and scalars of the callee's own, `dtypes` are DataType numbers. It
    returns an array of each dtype, in C order and of the dtype's numpy type, or raises EngineError.
    """
    global _host_function
    _host_function = function


cdef list _arguments(const sf_tensor* const* inputs, int32_t count):
    cdef sf_tensor copy
    values = []
    for i in range(count):
        copy = inputs[i][0]
        sf_buffer_retain(copy.buffer)  # with two references the buffer is nobody's alone, and so is copied
        values.append(_take_out(&copy))
    return values


cdef int32_t _call_host(void* arg, const char* name, int64_t name_size, const sf_tensor* const* inputs,
                        int32_t in_count, sf_tensor* const* outputs, int32_t out_count,
                        char** message) noexcept with gil:
    cdef bytes text
    try:
        dtypes = [outputs[i].dtype for i in range(out_count)]
        results = _host_function(
            PyBytes_FromStringAndSize(name, name_size), _arguments(inputs, in_count), dtypes)
        for i in range(out_count):
            _copy_in(results[i], dtypes[i], outputs[i])
        return 0
    except EngineError as error:
        code = error.code
        text = error.message.encode("utf-8", "backslashreplace")
    except BaseException as error:
        code = 13
        text = f"{type(error).__name__}: {error}".encode("utf-8", "backslashreplace")
    message[0] = strdup(text)
    return code
