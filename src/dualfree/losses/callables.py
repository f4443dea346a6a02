"""Compiled scalar functions in SciPy's LowLevelCallable convention."""

import ctypes
from typing import Any

from scipy import LowLevelCallable

_SIGNATURES = {"double (double, double)": False, "double (double, double, void *)": True}

_VECTOR_SIGNATURE = "double (double *, double *, double *, long)"
_VECTOR_SIGNATURES = {"double(double*,double*,double*,long)", "double(double*,double*,double*,int64_t)"}


def address(name: str, function: Any) -> tuple[int, int, bool]:
    """Address of a LowLevelCallable's function and user data, and whether it takes user data."""
    if not isinstance(function, LowLevelCallable):
        raise TypeError(f"compiled {name} is a {type(function).__name__}; it must be a scipy.LowLevelCallable.")
    if function.signature not in _SIGNATURES:
        raise TypeError(
            f"compiled {name} has the signature {function.signature!r}; it must be one of "
            + " or ".join(repr(s) for s in _SIGNATURES)
            + "."
        )
    if _SIGNATURES[function.signature] and function.user_data is None:
        raise ValueError(f"compiled {name} takes a void *, but no user_data was given with it, so it would be NULL.")
    address, context = _addresses(function)
    return address, context, _SIGNATURES[function.signature]


def pointer_of(name: str, function: Any) -> int:
    """Address of a LowLevelCallable of pointers, for losses of several numbers."""
    if not isinstance(function, LowLevelCallable):
        raise TypeError(f"{name} is a {type(function).__name__}; it must be a scipy.LowLevelCallable.")
    if function.signature.replace(" ", "") not in _VECTOR_SIGNATURES:
        raise TypeError(f"{name} has the signature {function.signature!r}; it must be {_VECTOR_SIGNATURE!r}.")
    return _addresses(function)[0]


def _addresses(function: LowLevelCallable) -> tuple[int, int]:
    """Of the function and of its user data."""
    capsule = tuple.__getitem__(function, 0)
    get_name, get_pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    get_context = ctypes.pythonapi.PyCapsule_GetContext
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    get_context.restype, get_context.argtypes = ctypes.c_void_p, [ctypes.py_object]
    address = get_pointer(capsule, get_name(capsule))
    return int(address or 0), int(get_context(capsule) or 0)
