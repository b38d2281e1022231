"""The assertions of tf.test.TestCase about arrays, and about tensors, which are evaluated for them."""

from __future__ import annotations

import collections.abc

import numpy as np
from absl.testing import absltest

from stillflow.graph import dtypes
from stillflow.graph.operation import Tensor
from stillflow.ragged.tensor import RaggedTensor, is_ragged
from stillflow.ragged.value import RaggedTensorValue

# Larger arrays of many dimensions are not printed: numpy takes minutes for some.
_MOST_PRINTED_ELEMENTS = 500
_MOST_PRINTED_SUBSCRIPTS = 10


class ArrayAssertions(absltest.TestCase):
    """A test case that compares arrays, and tensors that it can `evaluate`."""

    def evaluate(self, tensors):
        """The values of tensors; for subclasses to say."""
        raise AssertionError(f"There is no session to evaluate {tensors} in.")

    def _GetNdArray(self, a):  # noqa: N802
        if isinstance(a, Tensor):
            a = self.evaluate(a)
        return a if isinstance(a, np.ndarray) else np.array(a)

    def _as_lists(self, value):
        """A tensor, ragged tensor or array as nested lists."""
        if isinstance(value, (Tensor, RaggedTensor)):
            value = self.evaluate(value)
        if isinstance(value, RaggedTensorValue):
            return value.to_list()
        return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else np.array(value).tolist()

    def _assert_ragged(self, a, b, compare, msg):
        """Compares nested lists, and ranks where both say how many dimensions are ragged."""
        compare(*(list(each) if isinstance(each, (list, tuple)) else self._as_lists(each) for each in (a, b)), msg)
        if not any(isinstance(each, (list, tuple)) for each in (a, b)):
            ranks = [each.ragged_rank if is_ragged(each) else 0 for each in (a, b)]
            self.assertEqual(ranks[0], ranks[1], msg)

    # ---- Nearly equal -----------------------------------------------------------------------------------------

    def assertNear(self, f1, f2, err, msg=None):  # noqa: N802
        """Fails unless two numbers differ by at most `err`."""
        is_near = f1 == f2 or abs(f1 - f2) <= err  # also of arrays with one element
        self.assertTrue(
            is_near, f"{float(f1):f} != {float(f2):f} +/- {float(err):f}{'' if msg is None else f' ({msg})'}"
        )

    def assertArrayNear(self, farray1, farray2, err, msg=None):  # noqa: N802
        """Fails unless two sequences of numbers are of one length and differ by at most `err` in each place."""
        self.assertEqual(len(farray1), len(farray2), msg=msg)
        for f1, f2 in zip(farray1, farray2, strict=True):
            self.assertNear(float(f1), float(f2), err, msg=msg)

    def assertNDArrayNear(self, ndarray1, ndarray2, err, msg=None):  # noqa: N802
        """Fails unless the norm of two arrays' difference is less than `err`."""
        self.assertTrue(self._NDArrayNear(ndarray1, ndarray2, err), msg=msg)

    def _NDArrayNear(self, ndarray1, ndarray2, err):  # noqa: N802
        return bool(np.linalg.norm(ndarray1 - ndarray2) < err)

    def assertAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None):  # noqa: N802
        """Fails unless |a - b| <= atol + rtol * |b| everywhere; NaN is close to NaN.

        Both may be arrays, tensors, or nested lists, tuples, named tuples and dicts of them.

        Raises ValueError if one has a dict, or a list of another length, where the other has not.
        """
        if is_ragged(a) or is_ragged(b):

            def compare(left, right, msg):
                self._assert_lists_close(left, right, rtol, atol, msg)

            self._assert_ragged(a, b, compare, msg)
            return
        self._assert_close(a, b, rtol, atol, msg or "", ())

    def _assert_lists_close(self, a, b, rtol, atol, msg):
        self.assertEqual(isinstance(a, list), isinstance(b, list), msg)
        if not isinstance(a, list):
            self._assert_close(a, b, rtol, atol, msg or "", ())
            return
        self.assertEqual(len(a), len(b), msg)
        for left, right in zip(a, b, strict=True):
            self._assert_lists_close(left, right, rtol, atol, msg)

    def assertAllCloseAccordingToType(  # noqa: N802
        self, a, b, rtol=1e-6, atol=1e-6, float_rtol=1e-6, float_atol=1e-6, half_rtol=1e-3, half_atol=1e-3,
        bfloat16_rtol=1e-2, bfloat16_atol=1e-2, msg=None,
    ):  # fmt: skip
        """assertAllClose with the larger tolerances of the narrowest type that `a` or `b` has."""
        a, b = self._GetNdArray(a), self._GetNdArray(b)
        types = (a.dtype, b.dtype)
        for names, type_rtol, type_atol in (
            ((np.float32, np.complex64), float_rtol, float_atol),
            ((np.float16,), half_rtol, half_atol),
            ((dtypes.bfloat16.as_numpy_dtype,), bfloat16_rtol, bfloat16_atol),
        ):
            if any(name in types for name in names):
                rtol, atol = max(rtol, type_rtol), max(atol, type_atol)
        self.assertAllClose(a, b, rtol=rtol, atol=atol, msg=msg)

    def assertNotAllClose(self, a, b, **kwargs):  # noqa: N802
        """Fails if assertAllClose, with these arguments, does not."""
        try:
            self.assertAllClose(a, b, **kwargs)
        except AssertionError:
            return
        raise AssertionError("The two values are close at all elements")

    def _assert_close(self, a, b, rtol, atol, msg, path):
        a, b = (value._asdict() if hasattr(value, "_asdict") else value for value in (a, b))
        where = "".join(f"[{key}]" for key in path)
        is_dict = isinstance(a, collections.abc.Mapping)
        if is_dict != isinstance(b, collections.abc.Mapping):
            raise ValueError(f"Can't compare dict to non-dict, a{where} vs b{where}. {msg}")
        if is_dict:
            text = f"mismatched keys: a{where} has keys {a.keys()}, but b{where} has keys {b.keys()}. {msg}"
            self.assertCountEqual(a.keys(), b.keys(), msg=text)
            for key in a:
                self._assert_close(a[key], b[key], rtol, atol, msg, (*path, key))
            return
        text = f"Mismatched value: a{where} is different from b{where}. {msg}"
        if not isinstance(a, (list, tuple)):
            try:
                self._assert_arrays_close(a, b, rtol, atol, text)
            except TypeError as error:
                types = f"a{where} has {type(a)}, but b{where} has {type(b)}"
                error.args = (f"{error.args[0]} : Error: {types}. {msg}", *error.args[1:])
                raise
            return
        try:
            self._assert_arrays_close(a, b, rtol, atol, text)
        except (ValueError, TypeError):  # no array, but maybe a list of arrays
            if len(a) != len(b):
                raise ValueError(
                    f"Mismatched length: a{where} has {len(a)} items, but b{where} has {len(b)} items. {msg}"
                ) from None
            for i, (a_item, b_item) in enumerate(zip(a, b, strict=True)):
                self._assert_close(a_item, b_item, rtol, atol, msg, (*path, str(i)))

    def _assert_arrays_close(self, a, b, rtol, atol, msg):
        a, b = self._GetNdArray(a), self._GetNdArray(b)
        if a.shape != b.shape:  # the text of an array takes longer than comparing it
            contents = f" with contents {b}" if _is_printable(b) else ""
            self.assertEqual(a.shape, b.shape, f"Shape mismatch: expected {a.shape}, got {b.shape}{contents}.")
        if np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True):
            return
        is_off = (np.abs(a - b) > atol + rtol * np.abs(b)) | (np.isnan(a) != np.isnan(b))
        lines = [msg]
        left, right = (a[is_off], b[is_off]) if a.ndim else (a, b)
        if a.ndim:
            lines.append(f"not close where = {np.where(is_off)}")
        lines.append(f"not close lhs = {left}")
        lines.append(f"not close rhs = {right}")
        lines.append(f"not close dif = {np.abs(left - right)}")
        lines.append(f"not close tol = {atol + rtol * np.abs(right)}")
        lines.append(f"dtype = {a.dtype}, shape = {a.shape}")
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, err_msg="\n".join(lines), equal_nan=True)

    # ---- Equal ------------------------------------------------------------------------------------------------

    def assertAllEqual(self, a, b, msg=None):  # noqa: N802
        """Fails unless two arrays or tensors have one shape and the same elements; NaN is equal to NaN."""
        msg = msg or ""
        if is_ragged(a) or is_ragged(b):
            self._assert_ragged(a, b, self.assertEqual, msg)
            return
        a, b = self._GetNdArray(a), self._GetNdArray(b)
        if a.shape != b.shape:
            contents = f" Contents: {b}. \n{msg}." if _is_printable(b) else f" {msg}"
            self.assertEqual(a.shape, b.shape, f"Shape mismatch: expected {a.shape}, got {b.shape}.{contents}")
        is_same = np.asarray(a == b)
        if a.dtype.kind == "f" or a.dtype == dtypes.bfloat16.as_numpy_dtype:
            is_same = is_same | (np.isnan(a) & np.isnan(b))
        if np.all(is_same):
            return
        lines = [msg]
        left, right = (a[~is_same], b[~is_same]) if a.ndim else (a, b)
        if a.ndim:
            lines.append(f"not equal where = {np.where(~is_same)}")
        lines.append(f"not equal lhs = {left}")
        lines.append(f"not equal rhs = {right}")
        np.testing.assert_array_equal(a, b, err_msg="\n".join(lines))

    def assertNotAllEqual(self, a, b, msg=None):  # noqa: N802
        """Fails if assertAllEqual does not."""
        try:
            self.assertAllEqual(a, b, msg)
        except AssertionError:
            return
        raise AssertionError("The two values are equal at all elements")

    # ---- Within bounds ----------------------------------------------------------------------------------------

    def assertAllGreater(self, a, comparison_target):  # noqa: N802
        """Fails unless all elements are greater than the target."""
        self.assertGreater(np.min(self._GetNdArray(a)).item(), comparison_target)

    def assertAllLess(self, a, comparison_target):  # noqa: N802
        """Fails unless all elements are less than the target."""
        self.assertLess(np.max(self._GetNdArray(a)).item(), comparison_target)

    def assertAllGreaterEqual(self, a, comparison_target):  # noqa: N802
        """Fails unless all elements are at least the target."""
        self.assertGreaterEqual(np.min(self._GetNdArray(a)).item(), comparison_target)

    def assertAllLessEqual(self, a, comparison_target):  # noqa: N802
        """Fails unless all elements are at most the target."""
        self.assertLessEqual(np.max(self._GetNdArray(a)).item(), comparison_target)

    def assertAllInRange(  # noqa: N802
        self, target, lower_bound, upper_bound, open_lower_bound=False, open_upper_bound=False
    ):
        """Fails unless all elements are numbers between the bounds; a bound that is not open is in the range."""
        target = self._GetNdArray(target)
        if not (np.issubdtype(target.dtype, np.floating) or np.issubdtype(target.dtype, np.integer)):
            raise AssertionError(
                f"The value of {target} does not have an ordered numeric type, instead it has type: {target.dtype}"
            )
        is_nan = np.isnan(target)
        if np.any(is_nan):
            raise AssertionError(
                f"{np.sum(is_nan)} of the {target.size} element(s) are NaN. Subscripts(s) and value(s) of the NaN "
                "element(s):\n" + _elements(target, is_nan)
            )
        is_below = target <= lower_bound if open_lower_bound else target < lower_bound
        is_above = target >= upper_bound if open_upper_bound else target > upper_bound
        is_outside = is_below | is_above
        if np.any(is_outside):
            bounds = f"{'(['[not open_lower_bound]}{lower_bound}, {upper_bound}{')]'[not open_upper_bound]}"
            raise AssertionError(
                f"{np.sum(is_outside)} of the {target.size} element(s) are outside the range {bounds}. Subscript(s) "
                "and value(s) of the offending elements:\n" + _elements(target, is_outside)
            )

    def assertAllInSet(self, target, expected_set):  # noqa: N802
        """Fails unless all elements are in a set, list or tuple."""
        outside = np.setdiff1d(self._GetNdArray(target).ravel(), list(expected_set))
        if outside.size:
            raise AssertionError(f"{outside.size} unique element(s) are not in the set {expected_set}: {outside}")

    # ---- Types and shapes -------------------------------------------------------------------------------------

    def assertDTypeEqual(self, target, expected_dtype):  # noqa: N802
        """Fails unless an array, or the value of a tensor, has numpy's type."""
        self.assertEqual(self._GetNdArray(target).dtype, expected_dtype)

    def assertShapeEqual(self, np_array, tf_tensor, msg=None):  # noqa: N802
        """Fails unless an array and a tensor have one shape. Raises TypeError for other things."""
        if not isinstance(np_array, (np.ndarray, np.generic)):
            raise TypeError("np_array must be a Numpy ndarray or Numpy scalar")
        if not isinstance(tf_tensor, Tensor):
            raise TypeError("tf_tensor must be a Tensor")
        self.assertAllEqual(np_array.shape, tf_tensor.get_shape().as_list(), msg=msg)


def _is_printable(array):
    return array.ndim <= 3 or array.size < _MOST_PRINTED_ELEMENTS


def _elements(array, is_meant):
    """The subscripts and values of some elements, one a line."""
    subscripts = np.argwhere(is_meant)
    shown = subscripts[:_MOST_PRINTED_SUBSCRIPTS]
    lines = [f"  {subscript} : {array[tuple(subscript)]}" for subscript in shown]
    return "\n".join([*lines, "  ..."] if len(subscripts) > len(shown) else lines)
