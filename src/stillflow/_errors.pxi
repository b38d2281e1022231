# Failures in the engine as exceptions; part of _engine.pyx.

class EngineError(Exception):
    """A failure in the engine: TensorFlow's error code, the step and the part of it that failed."""

    def __init__(self, code, message, step=-1, part=0):
        super().__init__(message)
        self.code = code
        self.message = message
        self.step = step
        self.part = part


cdef object _take_message(char* message):
    if message == NULL:
        return ""
    text = (<bytes>message).decode("utf-8", "backslashreplace")
    sf_free(message)
    return text


# Call it with the results of a call, not with the call: C++ may read `message` before the call sets it.
cdef int _check(int32_t code, char* message) except -1:
    if code != 0:
        raise EngineError(code, _take_message(message))
    return 0
