# What numpy's types have dropped, for old programs that `stillflow run` starts: numpy has no other place to add it.

ctypedef object (*_UnaryFunction)(object)
ctypedef object (*_BinaryFunction)(object, object)

cdef extern from "Python.h":
    ctypedef struct _NumberMethods "PyNumberMethods":
        _BinaryFunction nb_add
        _BinaryFunction nb_subtract
        _BinaryFunction nb_multiply
        _BinaryFunction nb_true_divide
        _BinaryFunction nb_floor_divide
        _UnaryFunction nb_int
        _UnaryFunction nb_float
    ctypedef struct _Type "PyTypeObject":
        _NumberMethods* tp_as_number
        PyObject* tp_dict
    void PyType_Modified(_Type* type)

cdef _UnaryFunction _int_of_array = NULL
cdef _UnaryFunction _float_of_array = NULL
cdef object _on_number_of_one = None


cdef object _int_of_one(object array):
    if array.ndim > 0 and array.size == 1:
        _on_number_of_one()
        return int(array.item())
    return _int_of_array(array)


cdef object _float_of_one(object array):
    if array.ndim > 0 and array.size == 1:
        _on_number_of_one()
        return float(array.item())
    return _float_of_array(array)


def take_arrays_of_one_for_numbers(notice):
    """Lets `int`, `float` and `%f` take arrays of one element and any rank, and so elements be set to such arrays;
    `notice` is called each time. Python's own classes of arrays, numpy.matrix, are left as they are."""
    global _int_of_array, _float_of_array, _on_number_of_one
    cdef _NumberMethods* methods = (<_Type*>np.ndarray).tp_as_number
    _on_number_of_one = notice
    if _int_of_array is NULL:
        _int_of_array, _float_of_array = methods.nb_int, methods.nb_float
        methods.nb_int, methods.nb_float = _int_of_one, _float_of_one


def add_method(type cls, str name, method):
    """Adds a method to a class of numpy that is written in C, unless it has one of that name."""
    methods = <dict>(<_Type*>cls).tp_dict
    methods.setdefault(name, method)
    PyType_Modified(<_Type*>cls)


# ---- Types of results: before numpy 2 an array decided over a number of its kind, whatever type that was of ------

cdef enum:
    _ADD, _SUBTRACT, _MULTIPLY, _DIVIDE, _FLOOR_DIVIDE, _OPERATIONS

cdef _BinaryFunction _of_arrays[5]
cdef _BinaryFunction _of_scalars[3][5]  # of np.float64, np.int64 and np.int32
cdef object _array_class = np.ndarray
cdef object _float64 = np.float64
cdef object _int64 = np.int64
cdef object _int32 = np.int32
cdef dict _LARGEST = {kind: float(np.finfo(kind).max) for kind in (np.float16, np.float32, np.complex64)}
# The integers that float16, float32 and complex64 stay beside.
cdef dict _INTEGERS = {np.float16: (-128, 255), np.float32: (-32768, 65535), np.complex64: (-32768, 65535)}


cdef object _beside(object number, object array):
    """Python's number for one of numpy's that does not decide over the type of an array's result."""
    cdef object value  # a float or an int, as it is
    kind = array.dtype.type
    if type(number) is _array_class:
        number = number[()]
    if type(number) is _float64:
        value = float(number)
        if kind in _LARGEST and not _LARGEST[kind] < abs(value) < float("inf"):
            return value
    elif isinstance(number, np.generic) and number.dtype.kind in "iu":  # timedelta64 is an np.integer, too
        value = int(number)
        if kind in _INTEGERS:
            smallest, largest = _INTEGERS[kind]
        elif array.dtype.kind in "iu":
            limits = np.iinfo(kind)
            smallest, largest = limits.min, limits.max
        else:
            return number
        if smallest <= value <= largest:
            return value
    return number


cdef inline bint _is_number(object value):
    return isinstance(value, np.generic) or (type(value) is _array_class and value.ndim == 0)


cdef object _of_array(int operation, object a, object b):
    if type(a) is _array_class and _is_number(b) and a.ndim > 0:
        b = _beside(b, a)
    elif type(b) is _array_class and _is_number(a) and b.ndim > 0:
        a = _beside(a, b)
    return _of_arrays[operation](a, b)


cdef int _index(object kind):
    return 0 if kind is _float64 else 1 if kind is _int64 else 2 if kind is _int32 else -1


cdef object _of_scalar(int operation, object a, object b):
    if type(a) is _array_class or type(b) is _array_class:
        return _of_array(operation, a, b)
    cdef int first = _index(type(a))
    cdef int second = _index(type(b))
    if first >= 0:
        result = _of_scalars[first][operation](a, b)
        if result is not NotImplemented or second < 0 or second == first:
            return result
    return _of_scalars[second][operation](a, b) if second >= 0 else NotImplemented


cdef object _array_add(object a, object b):
    return _of_array(_ADD, a, b)


cdef object _scalar_add(object a, object b):
    return _of_scalar(_ADD, a, b)


cdef object _array_subtract(object a, object b):
    return _of_array(_SUBTRACT, a, b)


cdef object _scalar_subtract(object a, object b):
    return _of_scalar(_SUBTRACT, a, b)


cdef object _array_multiply(object a, object b):
    return _of_array(_MULTIPLY, a, b)


cdef object _scalar_multiply(object a, object b):
    return _of_scalar(_MULTIPLY, a, b)


cdef object _array_divide(object a, object b):
    return _of_array(_DIVIDE, a, b)


cdef object _scalar_divide(object a, object b):
    return _of_scalar(_DIVIDE, a, b)


cdef object _array_floor_divide(object a, object b):
    return _of_array(_FLOOR_DIVIDE, a, b)


cdef object _scalar_floor_divide(object a, object b):
    return _of_scalar(_FLOOR_DIVIDE, a, b)


cdef void _take(_NumberMethods* methods, _BinaryFunction* found):
    found[_ADD], found[_SUBTRACT], found[_MULTIPLY] = methods.nb_add, methods.nb_subtract, methods.nb_multiply
    found[_DIVIDE], found[_FLOOR_DIVIDE] = methods.nb_true_divide, methods.nb_floor_divide


def let_arrays_decide():
    """Lets `+`, `-`, `*`, `/` and `//` of an array and one of numpy's numbers have the type of the array where numpy 1
    did: float32 stays float32 beside a float64 or a small int64."""
    cdef _NumberMethods* methods = (<_Type*>np.ndarray).tp_as_number
    if _of_arrays[_ADD] is not NULL:
        return
    _take(methods, _of_arrays)
    methods.nb_add, methods.nb_subtract, methods.nb_multiply = _array_add, _array_subtract, _array_multiply
    methods.nb_true_divide, methods.nb_floor_divide = _array_divide, _array_floor_divide
    for kind in (np.float64, np.int64, np.int32):
        methods = (<_Type*>kind).tp_as_number
        _take(methods, _of_scalars[_index(kind)])
        methods.nb_add, methods.nb_subtract, methods.nb_multiply = _scalar_add, _scalar_subtract, _scalar_multiply
        methods.nb_true_divide, methods.nb_floor_divide = _scalar_divide, _scalar_floor_divide
