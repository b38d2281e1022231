# What numpy's types have dropped, for old programs that `stillflow run` starts: numpy has no other place to add it.

ctypedef object (*_UnaryFunction)(object)

cdef extern from "Python.h":
    ctypedef struct _NumberMethods "PyNumberMethods":
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
