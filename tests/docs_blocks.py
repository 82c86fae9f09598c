"""Checks of Markdown pages: their code blocks, shell commands and links.

Every block runs, unless the line before its fence gives a reason: `<!-- not run: the reason -->`. A block of Python after
`<!-- needs: EXTRA -->` runs on its own where the library of that extra is installed (tests/test_docs_snippets.py).
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import click
from markdown_it import MarkdownIt
from markdown_it.token import Token

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
PYTHON = "python"
SHELL = {"bash", "console"}
SHOWN = {"text", "dockerfile", "json", "toml", "xml", "bibtex", "{eval-rst}"}  # only shown, or processed by `make site`
SECONDS = 180  # for all Python blocks of a page together, and for each shell command

_SKIP = re.compile(r"<!--\s*not run:\s*(.*?)\s*-->\s*", re.DOTALL)
_NEEDS = re.compile(r"<!--\s*needs:\s*([\w-]+)\s*-->\s*")
_EXTRAS = re.compile(r"(?:\.|bg[-_]env)\[([\w,-]+)\]")
_ENVIRONMENT = os.environ | {
    "PYTHONPATH": str(ROOT),
    "MPLBACKEND": "Agg",
    "SDL_VIDEODRIVER": "dummy",
    "TQDM_DISABLE": "1",
    "COLUMNS": "120",
}
_WARNINGS = ("-W", "error", "-W", "ignore:The old environment creation API:DeprecationWarning")  # as in pyproject.toml


@dataclass(frozen=True)
class Block:
    """One fenced block: language, text, line on the page (from 0), the reason if it is not run, the extra it needs."""

    language: str
    text: str
    line: int
    reason: str | None
    needs: str | None = None


@dataclass(frozen=True)
class Command:
    """One shell command of a page and, in a console block, the output that the page shows."""

    text: str
    line: int
    shown: str


def pages() -> list[Path]:
    """Every page for readers of the repository."""
    return sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


@cache
def _tokens(page: Path) -> tuple[Token, ...]:
    return tuple(MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8")))


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page."""
    found, before = [], None
    for token in _tokens(page):
        if token.type == "fence":
            mark = before.content if before and before.type == "html_block" else ""
            skip, needs = _SKIP.fullmatch(mark), _NEEDS.fullmatch(mark)
            line = token.map[0] + 1 if token.map else 0
            marked = (skip.group(1) if skip else None, needs.group(1) if needs else None)
            found.append(Block(token.info.strip(), token.content, line, *marked))
        before = token
    return found


def marks(page: Path) -> int:
    """The number of comments on the page that exclude a block from running."""
    return sum(bool(_SKIP.fullmatch(token.content)) for token in _tokens(page) if token.type == "html_block")


def script(page: Path) -> str:
    """The Python blocks of a page as one program, with the line numbers of the page."""
    lines: list[str] = []
    for block in blocks(page):
        if block.language == PYTHON and block.reason is None and block.needs is None:
            lines += [""] * (block.line - len(lines)) + block.text.splitlines()
    return "\n".join(lines) + "\n" if lines else ""


def run_python(page: Path, folder: Path) -> str | None:
    """Run the Python blocks of a page in a separate folder, with warnings as errors; the fault, if any."""
    program = folder / page.name
    program.write_text(script(page), encoding="utf-8")
    return _run([sys.executable, *_WARNINGS, str(program)], folder)[1]


def run_alone(block: Block, folder: Path) -> str | None:
    """Run one Python block on its own, where libraries may warn; the fault, if any."""
    program = folder / "block.py"
    program.write_text(block.text, encoding="utf-8")
    return _run([sys.executable, str(program)], folder)[1]


def _run(command: list[str], folder: Path) -> tuple[str, str | None]:
    """The output of a command, and its fault if it fails or takes too long."""
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=_ENVIRONMENT,
            timeout=SECONDS,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return "", f"took more than {SECONDS} s"
    if done.returncode:
        return done.stdout, f"ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
    return done.stdout, None


def commands(block: Block) -> Iterator[Command]:
    """The commands of a shell block: each line of a `bash` block, each `$ ` line of a `console` block."""
    lines = block.text.split("\n")
    at = 0
    while at < len(lines):
        start, text = at, lines[at]
        at += 1
        while text.endswith("\\") and at < len(lines):
            text = text[:-1] + lines[at]
            at += 1
        shown: list[str] = []
        if block.language == "console":
            if not text.startswith("$ "):
                continue
            text = text[2:]
            while at < len(lines) and not lines[at].startswith("$ "):
                shown.append(lines[at])
                at += 1
        if shlex.split(text, comments=True):
            yield Command(text, block.line + start + 1, "\n".join(shown).strip("\n"))


def simple_commands(text: str) -> list[list[str]]:
    """The words of each simple command of a shell line, without the variables set before and the redirections after it."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    found: list[list[str]] = [[]]
    redirected = False
    for word in lexer:
        if word in {"&&", "||", ";", "|"}:
            found.append([])
            redirected = False
        elif set(word) <= set("<>&"):
            redirected = True
        elif not redirected and (found[-1] or not re.fullmatch(r"\w+=.*", word)):
            found[-1].append(word)
    return [words for words in found if words]


def command_fault(words: list[str]) -> str | None:
    """The reason why a simple command would fail for a reader; None if it would work."""
    match words:
        case ["make", *arguments]:
            return _make_fault(tuple(arguments))
        case ["bg-env", *arguments] | ["python" | "python3", "-m", "bg_env", *arguments]:
            return _cli_fault(arguments)
        case ["pip", "install", *arguments] | ["python" | "python3", "-m", "pip", "install", *arguments]:
            return _pip_fault(arguments)
        case ["python" | "python3", path, *arguments] if path.endswith(".py"):
            return _script_fault(path, arguments)
        case ["bash" | "sh", path] | [path] if "/" in path:
            return None if (ROOT / path).is_file() else f"there is no {path}"
        case ["git", "clone", _] | ["cd", _] | ["source", _] | ["export", *_] | ["python" | "python3", "-m", "venv", _]:
            return None
    return "an unknown command: add it to tests/docs_blocks.py, or give a reason before the block why it is not run"


@cache
def _make_fault(arguments: tuple[str, ...]) -> str | None:
    done = subprocess.run(["make", "-n", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else None


def _cli_fault(arguments: list[str]) -> str | None:
    """Parse the arguments as the program would, without running anything."""
    from bg_env.cli import main

    try:
        name, *rest = arguments or ["--help"]
        if name.startswith("-"):
            main.make_context("bg-env", arguments or ["--help"])
        else:
            command = main.get_command(click.Context(main), name)
            if name == "train":  # which learner, then its options
                name, *rest = command.with_command(rest)
                command = command if name.startswith("-") else command.commands.get(name)
            if command is None:
                return f"bg-env has no command {name}"
            command.make_context(name, rest)
    except click.exceptions.Exit:
        return None
    except click.ClickException as error:
        return error.format_message()
    return None


def extras() -> set[str]:
    """The extras that pyproject.toml declares."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        return set(tomllib.load(file)["project"]["optional-dependencies"])


def _pip_fault(arguments: list[str]) -> str | None:
    for argument in arguments:
        asked = _EXTRAS.search(argument)
        unknown = set(asked.group(1).split(",")) - extras() if asked else set()
        if unknown:
            return f"there is no extra {', '.join(sorted(unknown))}"
    return None


@cache
def _help_of(path: str) -> str:
    done = subprocess.run(
        [sys.executable, path, "--help"],
        cwd=ROOT,
        env=_ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    return done.stdout if done.returncode == 0 else ""


def _script_fault(path: str, arguments: list[str]) -> str | None:
    if not (ROOT / path).is_file():
        return f"there is no {path}"
    options = [argument.split("=")[0] for argument in arguments if argument.startswith("-")]
    unknown = [option for option in options if not re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", _help_of(path))]
    return f"{path} --help does not name {', '.join(unknown)}" if unknown else None


def is_run(command: Command) -> bool:
    """Whether the test runs a command: the page shows its output, or it changes nothing."""
    looks = re.match(r"(?:bg-env|python3? -m bg_env) (?:plays|show|info|--version)\b|.* --help$", command.text)
    return bool(command.shown or looks)


def run_command(command: Command, folder: Path) -> str | None:
    """Run a command and compare its output with the page (`...` matches anything)."""
    words = shlex.split(command.text, comments=True)
    if words[0] == "bg-env":
        words = ["python", "-m", "bg_env", *words[1:]]
    if words[0] in {"python", "python3"}:
        words = [sys.executable, *words[1:]]
    got, fault = _run(words, folder)
    if fault or not command.shown:
        return fault
    want = command.shown + "\n"
    got = "\n".join(line.rstrip() for line in got.strip("\n").splitlines()) + "\n"
    if doctest.OutputChecker().check_output(want, got, doctest.ELLIPSIS):
        return None
    return f"prints\n{got}but the page shows\n{want}"


def links(page: Path) -> Iterator[str]:
    """Every link and picture of a page, HTML included."""
    for token in _tokens(page):
        for part in (token, *(token.children or ())):
            target = part.attrGet("href") if part.type == "link_open" else part.attrGet("src") if part.type == "image" else None
            if target:
                yield str(target)
            if part.type in {"html_block", "html_inline"}:
                yield from re.findall(r"""(?:href|src|srcset)\s*=\s*["']([^"']+)["']""", part.content)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and the usual generators make them."""
    found: set[str] = set()
    tokens = _tokens(page)
    for token, inline in pairwise(tokens):
        if token.type == "heading_open":
            text = "".join(child.content for child in inline.children or () if child.type in {"text", "code_inline"})
            slug = base = re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
            n = 0
            while slug in found:
                n += 1
                slug = f"{base}-{n}"
            found.add(slug)
    return found


def link_fault(page: Path, link: str) -> str | None:
    """The reason why a link is broken; None if it resolves or leads out of the repository."""
    parts = urlsplit(link)
    if parts.scheme in {"http", "https", "mailto"}:
        return None
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not target.is_relative_to(ROOT) and not target.is_relative_to(page.parent):
        return "leads out of the repository"
    if not target.exists():
        return "there is no such file"
    if parts.fragment and target.suffix == ".md" and parts.fragment not in anchors(target):
        return f"{target.name} has no such heading: it has {', '.join(sorted(anchors(target)))}"
    return None
