"""Kernel dispatchers that compile less than Numba's own, built on Numba's internals.

Numba compiles each function that a kernel calls to machine code of its own, with wrappers for C and for Python and two files
in the cache, and then once more as a part of its caller. A `KernelDispatcher` has machine code and a cached file only where
Python calls it. Inside other kernels it is intermediate code, which is optimised once, as a part of the kernel that Python
calls. That halves the time of a first use, and leaves a fifth of the files.

None of this is Numba's public interface. `AVAILABLE` says whether this version of Numba has what is needed; `bg_env._jit` falls
back to `numba.njit` where it has not.
"""

from __future__ import annotations

import gc
import hashlib
import importlib
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from bg_env import _numba_pipeline

__all__ = ["AVAILABLE", "KernelDispatcher", "part_of"]

try:
    from numba.core import types
    from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, _CacheLocator
    from numba.core.imputils import impl_ret_borrowed
    from numba.core.registry import CPUDispatcher
    from numba.extending import lower_builtin, type_callable
    from numba.np.arrayobj import populate_array

    from bg_env._numba_pipeline import IntermediateCompiler, KernelCompiler

    _NEEDED: Final = (
        (CPUDispatcher, ("enable_caching", "_numba_type_", "__reduce__")),
        (CompileResultCacheImpl, ("_locator_classes",)),
        (FunctionCache, ("_impl_class", "load_overload", "save_overload", "flush", "disable")),
        (IndexDataCacheFile, ("_dump", "_load_data", "_data_path")),
    )
    AVAILABLE: bool = _numba_pipeline.AVAILABLE and all(hasattr(kind, name) for kind, names in _NEEDED for name in names)
except ImportError:
    AVAILABLE = False


_DIGEST: Final = 32
"""Bytes of a SHA-256 digest."""


def _by_name(module: str, name: str) -> Any:
    """The kernel of that name, as pickles refer to it."""
    return getattr(importlib.import_module(module), name)


def part_of(memory: Any, at: int, size: int, dtype: Any, shape: tuple[int, ...]) -> Any:
    """An array of some dtype and shape in `size` bytes of an array of bytes, from byte `at` on.

    Kernels have it as a few instructions: slices and views of Numba take it a second to compile.
    """
    return memory[at : at + size].view(dtype).reshape(shape)


if AVAILABLE:

    @type_callable(part_of)  # type: ignore[untyped-decorator] # Numba has no types
    def _type_of_part(_context: Any) -> Any:
        def of(memory: Any, _at: Any, _size: Any, dtype: Any, shape: Any) -> Any:  # Numba calls it by position
            return types.Array(dtype.dtype, len(shape), "C", readonly=not memory.mutable)

        return of

    @lower_builtin(part_of, types.Array, types.Integer, types.Integer, types.Any, types.BaseTuple)  # type: ignore[untyped-decorator,attr-defined]
    def _lower_part(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        memory_type, kind = signature.args[0], signature.return_type
        memory = context.make_array(memory_type)(context, builder, arguments[0])
        part = context.make_array(kind)(context, builder)
        byte = builder.gep(builder.bitcast(memory.data, context.get_value_type(types.voidptr)), [arguments[1]])
        shape = [
            context.cast(builder, builder.extract_value(arguments[4], k), signature.args[4][k], types.intp)
            for k in range(kind.ndim)
        ]
        size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
        strides = [size]
        for length in reversed(shape[1:]):
            strides.insert(0, builder.mul(strides[0], length))
        data = builder.bitcast(byte, part.data.type)
        populate_array(
            part, data=data, shape=shape, strides=strides, itemsize=size, meminfo=memory.meminfo, parent=memory.parent
        )
        return impl_ret_borrowed(context, builder, kind, part._getvalue())

    class _Locator(_CacheLocator):  # type: ignore[misc]
        """Files of kernels are named by their module, so that every installation of a version finds the same ones."""

        cache: tuple[Path, str]
        """The folder of the kernels and the stamp of the next one; `from_function` has no other way to be given them."""

        def __init__(self, function: Any) -> None:
            self._folder, self._stamp = self.cache
            self._place = f"{function.__module__}-{function.__code__.co_firstlineno}-{self._stamp}"

        def get_cache_path(self) -> str:
            """The folder of the kernels."""
            return str(self._folder)

        def ensure_cache_path(self) -> None:
            """Make it again, should it have been removed."""
            self._folder.mkdir(mode=0o755, parents=True, exist_ok=True)

        def get_source_stamp(self) -> str:
            """The hash of the sources."""
            return self._stamp

        def get_disambiguator(self) -> str:
            """The kernel's place, and the hash."""
            return self._place

        @classmethod
        def from_function(cls, function: Any, _file: str) -> _Locator:
            """The locator of a kernel."""
            return cls(function)

    class _CacheImpl(CompileResultCacheImpl):  # type: ignore[misc]
        _locator_classes = (_Locator,)

    class _CheckedFile(IndexDataCacheFile):  # type: ignore[misc]
        """Files that end with a digest of what is before it: damaged machine code must not run."""

        def _dump(self, value: Any) -> bytes:
            content: bytes = super()._dump(value)
            return content + hashlib.sha256(content).digest()

        def _load_data(self, name: str) -> Any:
            content = Path(self._data_path(name)).read_bytes()
            if hashlib.sha256(content[:-_DIGEST]).digest() != content[-_DIGEST:]:
                msg = f"{name} is damaged"
                raise ValueError(msg)
            return pickle.loads(content)  # noqa: S301 - compiled code, from a folder that only its owner may write

    class _Cache(FunctionCache):  # type: ignore[misc]
        """Numba's cache, for which neither a damaged file nor a full or read-only disk is an error: the kernel is compiled."""

        _impl_class = _CacheImpl

        def __init__(self, function: Any) -> None:
            super().__init__(function)
            base, stamp = self._impl.filename_base, self._impl.locator.get_source_stamp()
            self._cache_file = _CheckedFile(cache_path=self._cache_path, filename_base=base, source_stamp=stamp)

        def load_overload(self, signature: Any, context: Any) -> Any:
            """The compiled kernel in the cache; None if there is none, or none that can be read."""
            try:
                return super().load_overload(signature, context)
            except Exception:  # noqa: BLE001 - whatever unpickling damaged or foreign files brings about
                try:
                    self.flush()
                except OSError:
                    self.disable()
                return None

        def save_overload(self, signature: Any, result: Any) -> None:
            """Keep a compiled kernel, where that is possible."""
            try:
                super().save_overload(signature, result)
            except OSError:
                self.disable()

    def _widened(kind: Any) -> Any:
        """The type as which a kernel takes a number from another: integers of 64 bits, whatever is known of them."""
        kind = types.unliteral(kind)  # type: ignore[attr-defined]
        if isinstance(kind, types.IntEnumMember):
            kind = kind.dtype
        if isinstance(kind, types.Integer):
            return types.int64 if kind.signed else types.uint64  # type: ignore[attr-defined]
        return kind

    class _Inner(CPUDispatcher):  # type: ignore[misc]
        """A kernel as others see it: compiled once for integers of all sizes, and for constants."""

        def get_call_template(self, args: Any, kws: Any) -> Any:
            """Numba's, for wider arguments, to which callers convert theirs."""
            if not kws:
                args = tuple(map(_widened, args))
            return super().get_call_template(args, kws)

    class KernelDispatcher(CPUDispatcher):  # type: ignore[misc]
        """A kernel: machine code from the cache where Python calls it, intermediate code where kernels do.

        Args:
            function: the function.
            options: Numba's target options.
            folder: of the cache; None to keep nothing.
            stamp: the hash of the sources that the kernel is made of.
        """

        inner: Any = None
        """The dispatcher that kernels see; None before one has been compiled that calls this one."""

        def __init__(self, function: Callable[..., Any], options: dict[str, Any], folder: Path | None, stamp: str) -> None:
            super().__init__(
                function,
                targetoptions={"nopython": True, "boundscheck": None, "no_cfunc_wrapper": True, **options},
                pipeline_class=KernelCompiler,
            )
            if folder is not None:
                _Locator.cache = folder, stamp
                self._cache = _Cache(function)

        def compile(self, sig: Any) -> Any:
            """Compile, or load what is in the cache; without collections of garbage, which take a tenth of the time."""
            collecting = gc.isenabled()
            gc.disable()
            try:
                return super().compile(sig)
            finally:
                if collecting:
                    gc.enable()

        @property
        def _numba_type_(self) -> Any:
            if self.inner is None:
                options = {**self.targetoptions, "no_cpython_wrapper": True}
                self.inner = _Inner(self.py_func, targetoptions=options, pipeline_class=IntermediateCompiler)
            return types.Dispatcher(self.inner)

        def __reduce__(self) -> tuple[Any, ...]:
            """By name: a kernel that travels by value is compiled anew wherever it arrives."""
            return _by_name, (self.py_func.__module__, self.py_func.__qualname__)
