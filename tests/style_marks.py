"""Marks of style that a machine can take: docstrings, messages, parameters, lengths. `make marks` prints them.

The first lines of docstrings and the messages are tested; the lengths and the numbers of parameters are marks to steer by.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "bg_env"
LONGEST_MODULE = 450
"""Lines of a module."""
MOST_KERNEL_PARAMETERS = 8
MOST_PARAMETERS = 10
RIDDLES = re.compile(r"(What|How|Who|Whom|Whose|Where|When|Why)\b")
"""First words that make a riddle of a first line, which should name what the module holds."""
NONE_AS_WORD = re.compile(r"\b(is|are) none\b")
"""Reads as the value None."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def modules() -> dict[str, ast.Module]:
    """The modules of the package by their paths."""
    files = sorted(PACKAGE.rglob("*.py"))
    return {file.relative_to(PACKAGE).as_posix(): ast.parse(file.read_text(encoding="utf-8")) for file in files}


def functions(tree: ast.Module) -> Iterator[Function]:
    """All functions and methods of a module."""
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def is_kernel(function: Function) -> bool:
    """Whether it is decorated with `kernel` or `inlined`."""
    return any(isinstance(item, ast.Name) and item.id in {"kernel", "inlined"} for item in function.decorator_list)


def parameters(function: Function) -> list[ast.arg]:
    """The parameters that a caller gives one by one; `self` and `cls` are not."""
    found = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return [item for item in found if item.arg not in {"self", "cls"}]


def riddles(tree: ast.Module) -> list[str]:
    """The first line of the module's docstring, if it begins with a question word."""
    first = (ast.get_docstring(tree) or "").partition("\n")[0]
    return [first] if RIDDLES.match(first) else []


def nones(tree: ast.Module) -> list[str]:
    """Texts of the module, docstrings and messages, that say `is none`."""
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return [f"...{text[max(found.start() - 30, 0) : found.end()]}" for text in texts for found in NONE_AS_WORD.finditer(text)]


def wide(tree: ast.Module) -> list[str]:
    """Functions with more parameters than the mark for their kind."""
    found = []
    for function in functions(tree):
        n = len(parameters(function))
        if n > (MOST_KERNEL_PARAMETERS if is_kernel(function) else MOST_PARAMETERS):
            found.append(f"{function.lineno}: {'kernel ' * is_kernel(function)}{function.name} has {n} parameters")
    return found


def any_share(trees: dict[str, ast.Module]) -> tuple[int, int]:
    """The parameters annotated with `Any`, and all parameters, of the package."""
    found = [item for tree in trees.values() for function in functions(tree) for item in parameters(function)]
    loose = [item for item in found if isinstance(item.annotation, ast.Name) and item.annotation.id == "Any"]
    return len(loose), len(found)


def main() -> None:
    """Print the marks."""
    trees = modules()
    for name, tree in trees.items():
        length = len((PACKAGE / name).read_text(encoding="utf-8").splitlines())
        if length > LONGEST_MODULE:
            print(f"{name}: {length} lines")
        for fault in wide(tree):
            print(f"{name}:{fault}")
        for first in riddles(tree):
            print(f"{name}: begins with {first!r}")
        for text in nones(tree):
            print(f"{name}: {text!r}")
    loose, all_of_them = any_share(trees)
    print(f"{loose} of {all_of_them} parameters are Any: {loose / all_of_them:.0%}")


if __name__ == "__main__":
    main()
