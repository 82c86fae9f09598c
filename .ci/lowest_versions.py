"""The lowest versions that pyproject.toml declares, of the core and of some extras.

    lowest_versions.py EXTRA...              prints them as constraints for pip
    lowest_versions.py --installed EXTRA...  fails unless just these are installed

torch is left out: `.ci/run` fixes the one version that all tests use.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def lowest(extras: list[str]) -> Iterator[tuple[str, str]]:
    """Names and their lowest versions; every requirement must say one."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    lines = list(project["dependencies"])
    for extra in extras:
        lines += project["optional-dependencies"][extra]
    for wanted in map(Requirement, lines):
        if wanted.name in ("bg_env", "torch"):
            continue
        (bound,) = (part.version for part in wanted.specifier if part.operator == ">=")
        yield wanted.name, bound


def main() -> None:
    """Print or check."""
    extras = [word for word in sys.argv[1:] if word != "--installed"]
    for name, bound in lowest(extras):
        if "--installed" not in sys.argv:
            print(f"{name}=={bound}")
        elif Version(version(name)) != Version(bound):
            sys.exit(f"{name} is installed in version {version(name)}, and pyproject.toml declares >={bound}")


if __name__ == "__main__":
    main()
