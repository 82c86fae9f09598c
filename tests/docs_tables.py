"""The parts of README and docs that are made from code: between `<!-- made: NAME -->` and `<!-- end -->`.

`make golden` rewrites them.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

from docs_pictures import traps
from packaging.requirements import Requirement

from bg_env import ENCODERS, REWARDS, VARIANTS, Position, Settings, actions, observations, rewards
from bg_env import players as opponents
from bg_env._renamed import MODULES
from bg_env.batch.info import INFO_KEYS
from bg_env.envs.aec import BackgammonEnv
from bg_env.envs.single import SingleEnv
from bg_env.players import PLAYERS
from bg_env.registration import AEC_IDS, HISTORY, IDS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "bg_env"

_PART = re.compile(r"(<!-- made: ([\w -]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def table(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A Markdown table."""
    lines = [list(head)]
    lines.append(["---"] * len(lines[0]))
    lines += [[str(cell).replace("|", r"\|") for cell in row] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def code(text: Any) -> str:
    return f"`{text}`"


def arguments(owner: Any) -> dict[str, str]:
    """The docstring of a class on each argument, as one line."""
    text = inspect.cleandoc(owner.__doc__ or "")
    part = re.search(r"^Args:\n(.*?)(?=^\S)", text + "\nEnd", re.DOTALL | re.MULTILINE)
    found = re.findall(r"^    ([\w, ]+): (.*?)(?=^    \w|\Z)", part[1] if part else "", re.DOTALL | re.MULTILINE)
    return {name: " ".join(said.split()) for names, said in found for name in names.split(", ")}


def options_of(owner: Any, skip: Iterable[str] = ()) -> str:
    said = arguments(owner)
    rows = [
        (code(name), code(repr(parameter.default)), said[name])
        for name, parameter in inspect.signature(owner).parameters.items()
        if name not in skip
    ]
    return table(("option", "default", "meaning"), rows)


def single_options() -> str:
    shared = [name for name in inspect.signature(SingleEnv).parameters if name not in ("opponent", "seat")]
    return options_of(SingleEnv, shared)


def ids() -> str:
    rows = []
    for name, preset in IDS.items():
        settings = Settings(**preset)
        stakes = f"match to {settings.match_length}" if settings.match_length else "money"
        rows.append((code(name), settings.variant.name, stakes, "yes" if settings.cube else "no", settings.actions))
    return table(("Gymnasium id", "variant", "stakes", "cube", "actions"), rows)


def modules() -> str:
    assert {module for module, _ in AEC_IDS.values()} == {path.stem for path in PACKAGE.glob("*_v0.py")}
    rows = [
        (code(f"bg_env.{module}"), code(name), given.get("variant", module.removesuffix("_v0")))
        for name, (module, given) in AEC_IDS.items()
    ]
    return table(("PettingZoo module", "id", "variant"), sorted(rows, key=lambda row: list(VARIANTS).index(row[2])))


def layout(variant: Any) -> str:
    return ", ".join(f"{n} on {'the bar' if p == 25 else p}" for p, n in reversed(list(enumerate(variant.start))) if n)


def variants() -> str:
    rows = []
    for name, variant in VARIANTS.items():
        start = Position.start(variant)
        rows.append((code(name), layout(variant), start.pips[0], code(start.id), "on" if variant.cube else "off"))
    return table(("variant", "start of each side, on its own numbering", "pips", "gnubg position id", "cube by default"), rows)


def action_numbers() -> str:
    lines = [line for line in (actions.__doc__ or "").splitlines() if line.startswith("|")]
    return "\n".join(lines) + "\n"


def documented(module: Any, names: Iterable[str]) -> list[list[str]]:
    """The cells of the table in a module's docstring, whose first column is `names`."""
    lines = [line for line in (module.__doc__ or "").splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert [row[0] for row in rows[2:]] == list(names), f"the table of {module.__name__} has other names"
    return [rows[0], *([code(row[0]), *row[1:]] for row in rows[2:])]


def observation_names() -> str:
    head, *rows = documented(observations, ENCODERS)
    assert [row[1] for row in rows] == [" x ".join(map(str, encoder.shape)) for encoder in ENCODERS.values()]
    return table(head, rows)


def order_of(labels: Iterable[str]) -> str:
    """The order in which a run of features names the points."""
    points = [int(re.search(r" point (\d+)", label)[1]) for label in labels]
    steps = {after - before for before, after in pairwise(dict.fromkeys(points))}
    assert steps in ({1}, {-1})
    return f"p from {points[0]} {'down ' if steps == {-1} else ''}to {points[-1]}"


def features(name: str) -> Callable[[], str]:
    """Every feature of a flat encoder; those that differ only in the point share a row."""

    def made() -> str:
        encoder = ENCODERS[name]
        rows: list[list[Any]] = []
        for i, label in enumerate(encoder.labels):
            kind = re.sub(r" point \d+", " point p", label)
            bounds = f"{encoder.low.flat[i]:g} to {encoder.high.flat[i]:.4g}"
            side = kind.split(":")[0] if " point p" in kind else kind
            if rows and rows[-1][3] == side and " point p" in kind:
                rows[-1][1] = i
                if kind not in rows[-1][2]:
                    rows[-1][2].append(kind)
                    rows[-1][4].append(bounds)
                continue
            rows.append([i, i, [kind], side, [bounds]])
        lines = []
        for first, last, kinds, side, bounds in rows:
            text = kinds[0]
            if first < last:
                text = f"{side}, {order_of(encoder.labels[first : last + 1])}"
            if len(kinds) > 1:
                text += ", for each: " + ", ".join(f"{kind.split(': ')[1]}" for kind in kinds)
            lines.append((first if first == last else f"{first}-{last}", text, ", ".join(dict.fromkeys(bounds))))
        return table(("index", "feature", "bounds"), lines)

    return made


def pubeval_features() -> str:
    """The features of `pubeval`: five for each point, from 24 down to 1, then two more."""
    encoder = ENCODERS["pubeval"]
    every, rest = encoder.labels[:120], encoder.labels[120:]
    kinds = [label.split(": ")[1] for label in every[:5]]
    assert list(every) == [f"point {point}: {kind}" for point in range(24, 0, -1) for kind in kinds]
    bounds = ", ".join(dict.fromkeys(f"{encoder.low[i]:g} to {encoder.high[i]:g}" for i in range(120)))
    rows = [("0-119", f"point p, p from 24 down to 1, for each: {', '.join(kinds)}", bounds)]
    rows += [(str(120 + i), label, f"{encoder.low[120 + i]:g} to {encoder.high[120 + i]:g}") for i, label in enumerate(rest)]
    return table(("index", "feature", "bounds"), rows)


def channels() -> str:
    """The channels of `planes`; a value that belongs to no point is the same over all points."""
    encoder = ENCODERS["planes"]
    names = [label.removesuffix(", point 1") for label in encoder.labels[::24]]
    assert list(encoder.labels) == [f"{name}, point {point}" for name in names for point in range(1, 25)]
    rows = [(i, name, f"{encoder.low[i].min():g} to {encoder.high[i].max():.4g}") for i, name in enumerate(names)]
    return table(("channel", "contents", "bounds"), rows)


def reward_names() -> str:
    head, *rows = documented(rewards, REWARDS)
    return table(head, rows)


def players() -> str:
    lines = [line.split("|")[1].strip() for line in (opponents.__doc__ or "").splitlines() if line.startswith("|")][2:]
    assert {name.split(":")[0] for name in lines} == set(PLAYERS)
    head, *rows = documented(opponents, lines)
    return table(head, rows)


def history() -> str:
    """The versions of ids and modules, from the registration."""
    rows = []
    for version, (told, release) in HISTORY.items():
        names = [name for name in IDS if name.endswith(f"-{version}")]
        names += [f"bg_env.{path.stem}" for path in sorted(PACKAGE.glob(f"*_{version}.py"))]
        rows.append((version, release, told, ", ".join(map(code, names))))
    return table(("version", "since bg_env", "change", "ids and modules"), rows)


def project() -> dict[str, Any]:
    """The contents of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def layers() -> list[list[str]]:
    """The packages and modules in dependency order, the lowest first, as import-linter checks them."""
    contracts = project()["tool"]["importlinter"]["contracts"]
    rows = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [re.findall(r"\w+", row) for row in reversed(rows)]


def layer_table() -> str:
    """The layers, the lowest first, and whether the names of one may import each other."""
    contracts = project()["tool"]["importlinter"]["contracts"]
    rows = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    cells = []
    for number, row in enumerate(reversed(rows), 1):
        names = ", ".join(map(code, re.findall(r"\w+", row)))
        within = "independent of each other" if "|" in row else "may import each other" if ":" in row else ""
        cells.append((number, names, within))
    return table(("layer", "modules and packages", "within the layer"), cells)


def first_line(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    paragraph = " ".join(text.split("\n\n")[0].split())
    return re.split(r"(?<=\.) (?=[A-Z])", paragraph)[0].rstrip(".:")


def rooms(folder: Path) -> list[tuple[str, str]]:
    """The rows of a package's modules, followed by those of its subpackages."""
    files = [file for file in sorted(folder.glob("*.py")) if file.stem != "__init__"]
    rows = [(code(file.relative_to(PACKAGE).as_posix()), first_line(file)) for file in files]
    for inner in sorted(path.parent for path in folder.glob("*/__init__.py")):
        rows += [(f"**`{inner.relative_to(PACKAGE).as_posix()}/`**", first_line(inner / "__init__.py")), *rooms(inner)]
    return rows


def module_list() -> str:
    rows = []
    for names in layers():
        for name in names:
            path = PACKAGE / name
            if path.is_dir():
                rows.append((f"**`{name}/`**", first_line(path / "__init__.py")))
                rows += rooms(path)
            elif path.with_suffix(".py").is_file():
                rows.append((code(f"{name}.py"), first_line(path.with_suffix(".py"))))
    return table(("module", "contents"), rows)


def renamed_modules() -> str:
    """The modules that have moved since version 0.1, by the package that they are in now."""
    moved: dict[str, list[str]] = {}
    for old, new in MODULES.items():
        package, _, module = f"bg_env.{new}".rpartition(".")
        moved.setdefault(package, []).append(f"`{module}` (was `{old}`)")
    return table(("now in", "modules"), [(code(package), ", ".join(moved[package])) for package in sorted(moved)])


def pins(path: Path) -> dict[str, str]:
    """The versions that a constraints file fixes, by package."""
    lines = [line.split("#")[0].strip() for line in path.read_text("utf-8").splitlines()]
    return dict(line.lower().split("==") for line in lines if "==" in line)


def environments() -> dict[str, tuple[set[str], dict[str, str]]]:
    """The environments of CI: the extras of each (without those that others install) and the versions fixed there."""
    own, *_ = (Requirement(line).extras for line in project()["project"]["optional-dependencies"]["dev"])
    listed = subprocess.run([str(ROOT / ".ci" / "groups"), "--list"], capture_output=True, text=True, check=True).stdout
    groups = {"development": own | {"sb3"}}  # `train` brings it
    groups |= {name: set(brought.split(",")) for name, brought, *_ in map(str.split, listed.splitlines())}
    files = {name: ROOT / ".ci" / f"constraints-{name}.txt" for name in groups}
    return {name: (groups[name], pins(path if path.is_file() else ROOT / "constraints.txt")) for name, path in files.items()}


LIBRARIES = {
    "Stable-Baselines3": ("stable-baselines3", "sb3"),
    "sb3-contrib": ("sb3-contrib", "sb3"),
    "RLlib": ("ray", "rllib"),
    "TorchRL": ("torchrl", "torchrl"),
    "Tianshou": ("tianshou", "tianshou"),
    "AgileRL": ("agilerl", "agilerl"),
    "skrl": ("skrl", "skrl"),
    "SuperSuit": ("supersuit", "supersuit"),
    "Shimmy": ("shimmy", "shimmy"),
    "OpenSpiel": ("open-spiel", "openspiel"),
    "TextArena": ("textarena", "textarena"),
    "verifiers": ("verifiers", "verifiers"),
    "GNU Backgammon's nets": ("gnubg-nn", "gnubg"),
}
"""Libraries: (package, extra)."""


def declared(lines: Iterable[str], package: str) -> str:
    """The version range of a package in a list of requirements."""
    (found,) = (r.specifier for r in map(Requirement, lines) if r.name.lower() == package)
    return str(found)


def versions() -> str:
    """Tested versions: the ranges that pyproject.toml declares, beside the versions that the constraint files fix."""
    base, extra_lines = project()["project"]["dependencies"], project()["project"]["optional-dependencies"]
    places, rows = environments(), []
    for name, package, lines in (
        ("PettingZoo", "pettingzoo", base),
        ("Gymnasium", "gymnasium", base),
        ("PyTorch", "torch", extra_lines["train"]),
    ):
        bounds = declared(lines, package)
        lowest = [part[2:] for part in bounds.split(",") if part.startswith(">=") and lines is base]
        used = {fixed[package] for _, fixed in places.values()}
        used = sorted(used, key=lambda text: [int(part) for part in text.split(".")])
        rows.append((name, "", bounds, ", ".join([*lowest, *used]), "all", "", ""))
    for name, (package, extra) in LIBRARIES.items():
        there = [place for place, (brought, _) in places.items() if extra in brought]
        (fixed,) = {tuple(places[place][1][of] for of in (package, "gymnasium", "pettingzoo")) for place in there}
        rows.append((name, code(extra), declared(extra_lines[extra], package), fixed[0], ", ".join(there), *fixed[1:]))
    head = ("library", "extra", "declared", "tested", "environments", "with Gymnasium", "with PettingZoo")
    return table(head, rows)


def extras() -> str:
    """Every extra for users, with its requirements."""
    rows = []
    for name, lines in project()["project"]["optional-dependencies"].items():
        if name in ("dev", "docs"):
            continue
        brings = []
        for wanted in map(Requirement, lines):
            if wanted.name.replace("_", "-") == "bg-env":
                brings += [code(extra) for extra in sorted(wanted.extras)]
                continue
            name_of = str(wanted).split(str(wanted.specifier))[0].strip()  # with extras of its own, such as ray[rllib]
            brings.append(f"{name_of} {wanted.specifier}")
        rows.append((code(name), ", ".join(brings)))
    return table(("extra", "installs"), rows)


def examples() -> str:
    """Every example, with the first line of its docstring."""
    rows = []
    for path in sorted((ROOT / "examples").iterdir()):
        if path.suffix == ".py":
            rows.append((f"[{path.name}](../examples/{path.name})", first_line(path)))
        elif path.suffix == ".ipynb":
            title = json.loads(path.read_text("utf-8"))["cells"][0]["source"][0].lstrip("# ").strip()
            rows.append((f"[{path.name}](../examples/{path.name})", f"Notebook: {title}"))
    return table(("example", "contents"), rows)


PARTS: dict[str, Callable[[], str]] = {
    "ids": ids,
    "modules": modules,
    "infos": lambda: table(("key", "meaning"), ((code(name), said) for name, said in INFO_KEYS.items())),
    "options": lambda: options_of(BackgammonEnv, ("checks", "name")),
    "single options": single_options,
    "variants": variants,
    "actions": action_numbers,
    "observations": observation_names,
    **{name: features(name) for name in ("tesauro", "tesauro198", "counts", "openspiel", "pgx")},
    "planes": channels,
    "pubeval": pubeval_features,
    "rewards": reward_names,
    "players": players,
    "layers": layer_table,
    "module list": module_list,
    "renamed modules": renamed_modules,
    "extras": extras,
    "history": history,
    "versions": versions,
    "examples": examples,
    "traps": traps,
}


def parts_of(page: Path) -> list[tuple[str, str]]:
    """The made parts of a page: (name, text)."""
    return [(name, text) for _, name, text, _ in _PART.findall(page.read_text(encoding="utf-8"))]


def rewrite(page: Path) -> None:
    """Make every made part of a page anew."""
    text = page.read_text(encoding="utf-8")
    page.write_text(_PART.sub(lambda m: m[1] + PARTS[m[2]]() + m[4], text), encoding="utf-8", newline="\n")


__all__ = ["PARTS", "first_line", "layers", "parts_of", "rewrite", "table"]
