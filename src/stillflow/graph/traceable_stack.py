"""Objects with the place in a program where they were put on a stack: tensorflow.python.framework.traceable_stack."""

from __future__ import annotations

import sys

from stillflow.names import public


@public("python.framework.traceable_stack.TraceableObject")
class TraceableObject:
    """An object, and the file and line of the code that it comes from."""

    SUCCESS, HEURISTIC_USED, FAILURE = 0, 1, 2

    def __init__(self, obj, filename=None, lineno=None):
        self.obj = obj
        self.filename = filename
        self.lineno = lineno

    def set_filename_and_line_from_caller(self, offset=0):
        """Takes the place of the caller, or of the caller `offset` calls further out.

        Returns SUCCESS, or HEURISTIC_USED if there are not so many calls and it is the outermost.
        """
        frame, left = sys._getframe(1), offset
        while left and frame.f_back is not None:
            frame, left = frame.f_back, left - 1
        self.filename, self.lineno = frame.f_code.co_filename, frame.f_lineno
        return self.HEURISTIC_USED if left else self.SUCCESS

    def copy_metadata(self):
        """The place alone."""
        return TraceableObject(None, self.filename, self.lineno)


@public("python.framework.traceable_stack.TraceableStack")
class TraceableStack:
    """A stack of TraceableObjects. `existing_stack` is a list of those it begins with."""

    def __init__(self, existing_stack=None):
        self._stack = list(existing_stack or ())

    def push_obj(self, obj, offset=0):
        """Puts an object on the stack, with the place of the caller or of a caller further out."""
        traceable = TraceableObject(obj)
        self._stack.append(traceable)
        return traceable.set_filename_and_line_from_caller(offset + 1)

    def pop_obj(self):
        return self._stack.pop().obj

    def peek_top_obj(self):
        return self._stack[-1].obj

    def peek_objs(self):
        """The objects, the newest first."""
        return (traceable.obj for traceable in reversed(self._stack))

    def peek_traceable_objs(self):
        """The objects with their places, the newest first."""
        return reversed(self._stack)

    def __len__(self):
        return len(self._stack)

    def copy(self):
        return TraceableStack(self._stack)
