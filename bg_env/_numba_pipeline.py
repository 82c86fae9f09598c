"""Numba's compiler for kernels: its passes less those that kernels do not need, with operators typed once for all kernels.

A kernel is a function of numbers, arrays and tuples that makes no array and has no closures. For such a function half of
Numba's passes have nothing to do, which they find out by reading the whole function. A kernel that does more is compiled by all
of them. What an operator makes of its operands is remembered, because Numba looks it up among dozens of types each time: that
takes longer than all other work on types together.

None of this is Numba's public interface; see `bg_env._numba`, which has an `AVAILABLE` for it too.
"""

from __future__ import annotations

import functools
import operator
from types import CodeType
from typing import Any, ClassVar, Final

__all__ = ["AVAILABLE", "IntermediateCompiler", "KernelCompiler"]

try:
    from llvmlite.binding import Linkage
    from numba.core import funcdesc, lowering, typed_passes, types, untyped_passes
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags, _LowerResult
    from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass
    from numba.core.typing import Context

    _NEEDED: Final = (
        (
            JITCodeLibrary,
            ("_get_module_for_linking", "_optimize_final_module", "_raise_if_finalized", "add_linking_library", "finalize"),
        ),
        (DefaultPassBuilder, ("define_nopython_pipeline",)),
        (PassManager, ("_runPass",)),
        (Context, ("_lookup_global", "resolve_function_type", "resolve_setitem")),
    )
    AVAILABLE: bool = all(hasattr(kind, name) for kind, names in _NEEDED for name in names)
except ImportError:
    AVAILABLE = False


if AVAILABLE:
    _UNNEEDED: Final = frozenset(
        getattr(module, name, None)
        for module, names in (
            (
                untyped_passes,
                (
                    "WithLifting",
                    "InlineClosureLikes",
                    "RewriteDynamicRaises",
                    "MakeFunctionToJitFunction",
                    "InlineInlinables",
                    "FindLiterallyCalls",
                    "LiteralUnroll",
                    "LiteralPropagationSubPipelinePass",
                ),
            ),
            (
                typed_passes,
                (
                    "InlineOverloads",
                    "NopythonRewrites",
                    "NoPythonSupportedFeatureValidation",
                    "AnnotateTypes",
                    "DumpParforDiagnostics",
                ),
            ),
        )
        for name in names
    )
    """Passes for `with`, closures, literal arguments, expressions of whole arrays, parallel loops and reports."""

    class _Typing(Context):  # type: ignore[misc] # Numba has no types
        """Numba's typing context, of which it shares all state, with a memory of the types of operators."""

        _remembered: ClassVar[dict[tuple[int, ...], tuple[Any, ...]]] = {}
        """Signatures by the identities of function and operands, which are held as well, lest others get their identity."""

        def __init__(self, context: Any) -> None:
            self.__dict__ = context.__dict__

        def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
            """The signature of a call of `func`; with a memory where it is one of Numba's own functions."""
            function = self._lookup_global(func) or func
            if kws or not isinstance(function, (types.Function, str)):
                return super().resolve_function_type(func, args, kws)
            key = (id(function), *map(id, args))
            found = self._remembered.get(key)
            if found is None:
                found = super().resolve_function_type(func, args, kws), function, args
                if found[0] is not None:
                    self._remembered[key] = found
            return found[0]

        def resolve_setitem(self, target: Any, index: Any, value: Any) -> Any:
            """The signature of `target[index] = value`."""
            return self.resolve_function_type(operator.setitem, (target, index, value), {})

    @functools.cache
    def _typing(context: Any) -> _Typing:
        """The one for all kernels: Numba keeps by context what it compiles for its own functions."""
        return _Typing(context)

    class _Flags(Flags):  # type: ignore[misc]
        """Numba's flags, compared by those that are set: it compares them thousands of times."""

        def __eq__(self, other: object) -> bool:
            if not isinstance(other, Flags):
                return NotImplemented
            return all(getattr(self, name) == getattr(other, name) for name in self._values.keys() | other._values.keys())

        def __hash__(self) -> int:
            return _HASH

    _HASH: Final = hash(Flags())
    """Of all flags: Numba hashes their names."""

    class _Passes(PassManager):  # type: ignore[misc]
        """Passes that run without being timed, reported and followed by an analysis that the next one does itself."""

        def _runPass(self, _index: int, one: Any, state: Any) -> None:  # noqa: N802 - Numba's name
            one.analysis = self._analysis
            one.run_initialization(state)
            one.run_pass(state)
            one.run_finalizer(state)

    class KernelCompiler(CompilerBase):  # type: ignore[misc]
        """Numba's pipeline without the passes that a kernel does not need."""

        lowering: Any = typed_passes.NativeLowering
        """The pass that makes the code."""

        def __init__(self, typing: Any, target: Any, library: Any, args: Any, return_type: Any, flags: Any, local: Any) -> None:
            super().__init__(typing, target, library, args, return_type, _Flags(flags), local)

        def define_pipelines(self) -> list[Any]:
            """One pipeline."""
            state = self.state
            whole = DefaultPassBuilder.define_nopython_pipeline(state, "bg_env")
            plain = not state.flags.nrt and not any(isinstance(one, CodeType) for one in state.func_id.code.co_consts)
            passes = _Passes("bg_env") if plain else whole
            passes.passes = [
                (self.lowering if kind is typed_passes.NativeLowering else kind, text)
                for kind, text in whole.passes
                if not plain or kind not in _UNNEEDED
            ]
            if plain:
                state.typingctx = _typing(state.typingctx)
            passes.finalize()
            return [passes]

    class _IntermediateLibrary(JITCodeLibrary):  # type: ignore[misc]
        """The code of a kernel inside others: linked into the one that Python calls, never optimised or made machine code."""

        parts: tuple[Any, ...] = ()
        """This library and all that its code calls, a caller before what it calls: LLVM links only what is missing so far."""

        _shared_module: Any

        def finalize(self) -> None:
            """Leave linking and optimisation to the kernel that Python calls."""
            self._raise_if_finalized()
            self.parts = tuple(dict.fromkeys((self, *self._linking_libraries)))
            self._finalized = True

        def _get_module_for_linking(self) -> Any:
            if self._shared_module is None:
                self._shared_module = self._final_module
                for function in self._final_module.functions:
                    if not function.is_declaration and function.linkage == Linkage.external:
                        function.linkage = Linkage.linkonce_odr
            return self._shared_module

    @register_pass(mutates_CFG=True, analysis_only=False)
    class _IntermediateLowering(LoweringPass):  # type: ignore[misc]
        """Numba's lowering without wrappers and without machine code."""

        _name = "bg_env_intermediate_lowering"

        def __init__(self) -> None:
            LoweringPass.__init__(self)

        def run_pass(self, state: Any) -> bool:
            """Lower the function that `state` holds, and let kernels call it."""
            context, flags = state.targetctx, state.flags
            state.library = library = _IntermediateLibrary(context.codegen(), state.func_id.func_qualname)
            description = funcdesc.PythonFunctionDescriptor.from_specialized_function(
                state.func_ir,
                state.typemap,
                state.return_type,
                state.calltypes,
                mangler=context.mangler,
                inline=flags.forceinline,
                noalias=flags.noalias,
                abi_tags=[flags.get_mangle_string()],
            )
            with context.push_code_library(library):
                lower = lowering.Lower(context, library, description, state.func_ir, metadata=state.metadata)
                lower.lower()
            library.finalize()
            entry: Any = [].append  # a new built-in function, by which the lowering of callers finds this one; nobody calls it
            context.insert_user_function(entry, description, library.parts)
            state["cr"] = _LowerResult(description, lower.call_helper, cfunc=entry, env=lower.env)
            return True

    class IntermediateCompiler(KernelCompiler):
        """The same with the lowering above."""

        lowering = _IntermediateLowering
