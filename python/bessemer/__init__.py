"""Runs compiled programs (.vmfb):

    import bessemer
    program = bessemer.load("model.vmfb")
    y = program.main(x)

Inputs are NumPy arrays, anything with ``__dlpack__`` in the host's memory, numbers, or None.
Results are NumPy arrays (which export DLPack) and numbers: one by itself, several as a tuple.
"""

import os

import numpy

from . import _bessemer

Error = _bessemer.Error
__version__ = _bessemer.version
__all__ = ["Error", "Program", "devices", "load"]

try:
    from ml_dtypes import bfloat16 as _bfloat16
except ImportError:
    _bfloat16 = None  # bfloat16 comes and goes as uint16 bits


def _prepare(value):
    """An input as the native part takes it."""
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        value = numpy.ascontiguousarray(value).reshape(numpy.shape(value))
        return value.astype(value.dtype.newbyteorder("="), copy=False)
    if isinstance(value, (list, tuple)):
        raise TypeError("an input is a list: make it an array of the type that the program takes")
    return value


def _finish(kind, value):
    if kind == "bf16" and _bfloat16 is not None:
        return value.view(_bfloat16)
    return value


class Function:
    """A function of a program; call it with its inputs in order."""

    def __init__(self, program, name):
        self._program = program
        self.__name__ = name
        self.__doc__ = program._native.declaration(name) or None

    def __call__(self, *inputs):
        results = self._program._native.call(self.__name__, [_prepare(i) for i in inputs])
        results = [_finish(kind, value) for kind, value in results]
        if len(results) == 1:
            return results[0]
        return tuple(results) if results else None

    def __repr__(self):
        return f"<bessemer function {self.__doc__ or self.__name__}>"


class Program:
    """A loaded program with its state. Its functions are attributes, and items for names that are
    no Python names."""

    def __init__(self, native):
        self._native = native

    def functions(self):
        """The names of the program's functions."""
        return self._native.functions()

    def __getitem__(self, name):
        if name not in self._native.functions():
            raise KeyError(f"there is no function {name!r}; the program has: "
                           + ", ".join(self.functions()))
        return Function(self, name)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __dir__(self):
        return [*super().__dir__(), *self.functions()]


def load(program, device="metal", parameters=()):
    """Loads a program from a path or from bytes and runs its initialisers.

    ``parameters``: files with weights, "scope=file" or "file" (.irpa, .safetensors, .gguf), or a
    dictionary from scopes to files.
    """
    if isinstance(parameters, dict):
        parameters = [f"{scope}={os.fspath(file)}" for scope, file in parameters.items()]
    elif isinstance(parameters, (str, os.PathLike)):
        parameters = [os.fspath(parameters)]
    parameters = list(parameters)
    if isinstance(program, (bytes, bytearray, memoryview)):
        return Program(_bessemer.load_bytes(bytes(program), device, parameters))
    return Program(_bessemer.load(os.fspath(program), device, parameters))


def devices():
    """Pairs of a device for ``load`` and its name for people."""
    return _bessemer.devices()
