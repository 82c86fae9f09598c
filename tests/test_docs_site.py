"""The documentation site: checks beyond those of Sphinx (`make site`), and the programs and notebooks it shows."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from docs_blocks import PYTHON, ROOT, blocks

import bg_env
from bg_env import players

DOCS = ROOT / "docs"
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def pages() -> str:
    return "\n".join(page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md"))


def reference() -> dict[str, list[str]]:
    """The objects that Sphinx documents, by directive, and the members of modules that are named there one by one."""
    found: dict[str, list[str]] = {}
    for kind, path, members in re.findall(r"^\.\. auto(\w+):: (bg_env[\w.]*)\n(?:   :members: (.+)\n)?", pages(), re.MULTILINE):
        found.setdefault(kind, []).append(path)
        if kind == "module" and members:
            found.setdefault("member", []).extend(f"{path}.{name}" for name in members.split(", "))
    return found


def value_of(path: str) -> object:
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def test_the_reference_has_every_public_name_and_no_other():
    found = reference()
    modules = {path.removeprefix("bg_env.") for path in found.pop("module")}
    public = set(bg_env.__all__)
    values = [value_of(path) for paths in found.values() for path in paths if path.rpartition(".")[2] in public]
    missing = [
        name for name in bg_env.__all__ if name not in modules and not any(value is getattr(bg_env, name) for value in values)
    ]
    assert not missing, f"in bg_env.__all__, but not in the reference: {missing}"
    top = {path.removeprefix("bg_env.") for paths in found.values() for path in paths if path.count(".") == 1}
    assert not top - set(bg_env.__all__), f"in the reference, but not in bg_env.__all__: {top - set(bg_env.__all__)}"
    assert len(top) > 10


def test_every_public_name_has_a_home():
    """The names, the modules that they come from, and what type checkers are shown, are the same."""
    modules = {name for name in bg_env.__all__ if inspect.ismodule(getattr(bg_env, name))}
    assert set(bg_env._HOMES) == set(bg_env.__all__) - modules
    assert set(bg_env.__all__) <= set(dir(bg_env))
    source = Path(bg_env.__file__).read_text(encoding="utf-8")
    checked = next(node for node in ast.parse(source).body if isinstance(node, ast.If))
    homes = {
        name.name: (part.module or "").removeprefix("bg_env").lstrip(".")
        for part in checked.body
        if isinstance(part, ast.ImportFrom)
        for name in part.names
    }
    assert homes == {**bg_env._HOMES, **dict.fromkeys(modules, "")}
    for name, home in bg_env._HOMES.items():
        assert name in importlib.import_module(f"bg_env.{home}").__all__, f"{name} is not public in bg_env.{home}"
    with pytest.raises(AttributeError, match="has no attribute 'colour'"):
        bg_env.colour  # noqa: B018 - it is looked up


def test_the_places_to_make_a_change_are_there():
    """Every file and folder of that section exists, and the names beside them are in one of the row's files."""
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    section = text.partition("## Where to make a change\n")[2].partition("\n## ")[0]
    rows = [row.split("|")[2] for row in section.splitlines() if row.startswith("| ") and "---" not in row][1:]
    assert len(rows) >= 15
    for row in rows:
        words = re.findall(r"`([\w/.]+)`", row)
        paths = [next((base / word for base in (ROOT / "bg_env", ROOT) if (base / word).exists()), None) for word in words]
        missing = [word for word, path in zip(words, paths, strict=True) if path is None and re.search(r"/|\.(py|toml)$", word)]
        assert not missing, f"there is no {missing}"
        source = "".join(path.read_text(encoding="utf-8") for path in paths if path is not None and path.is_file())
        names = [word.rpartition(".")[2] for word, path in zip(words, paths, strict=True) if path is None]
        absent = [name for name in names if source and not re.search(rf"\b{name}\b", source)]
        assert not absent, f"no {absent} in the files of: {row}"


def test_every_player_is_in_the_reference():
    told = {path.rpartition(".")[2] for paths in reference().values() for path in paths}
    assert set(players.__all__) - {"Named"} <= told


def test_what_is_asked_of_a_user_who_extends_is_short():
    code = {block.line: [line for line in block.text.splitlines() if line.strip()] for block in blocks(DOCS / "extending.md")}
    long = {line: len(lines) for line, lines in code.items() if len(lines) >= 20}
    assert [block.language for block in blocks(DOCS / "extending.md")].count(PYTHON) >= 3
    assert not long, f"blocks of 20 lines or more in extending.md: {long}"


def test_the_two_nackgammons_are_told_apart():
    text = (DOCS / "variants.md").read_text(encoding="utf-8")
    sentence = re.search(r"[^.]*two Nackgammons differ[^.]*\.", text)
    assert sentence
    assert {"`nackgammon`", "`nackgammon_ballard`"} <= set(re.findall(r"`\w+`", sentence[0]))


def test_the_citation_names_this_version():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.+)$", text, re.MULTILINE)[1] == bg_env.__version__
    assert re.search(r"^cff-version: 1\.2\.0$", text, re.MULTILINE)


def test_the_rollouts_of_the_cube_page_run():
    """On a few positions; the page shows the result of many."""
    command = [sys.executable, "-W", "error", "docs/cube_advice.py", "--positions", "300", "--seed", "1"]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n|") >= 8
    assert "the opponent then wins" in done.stdout


def test_there_is_a_notebook():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks_run(path, tmp_path, monkeypatch):
    nbclient = pytest.importorskip("nbclient", reason="running notebooks needs the extra bg_env[docs]")
    pytest.importorskip("ipykernel", reason="running notebooks needs the extra bg_env[docs]")
    nbformat = pytest.importorskip("nbformat", reason="running notebooks needs the extra bg_env[docs]")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert not any(cell.outputs for cell in notebook.cells if cell.cell_type == "code"), f"{path.name}: clear its outputs"
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/svg+xml" in output.get("data", {}) for output in shown)
    assert not [output for output in shown if output.output_type == "error"]
