"""The package as a user gets it: what it needs, what it brings, what importing it costs in other libraries."""

from __future__ import annotations

import os
import pkgutil
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import bg_env
from bg_env import registration

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path(bg_env.__file__).parent
OPTIONAL = [
    "gnubg_nn",
    "matplotlib",
    "pygame",
    "pyspiel",
    "ray",
    "resvg_py",
    "sb3_contrib",
    "stable_baselines3",
    "tensorboard",
    "torch",
]
EXTRAS = {"agilerl", "all", "dev", "docs", "gnubg", "openspiel", "render", "rllib", "sb3", "shimmy", "skrl", "supersuit"}
EXTRAS |= {"tianshou", "torchrl", "train"}


@pytest.fixture(scope="module")
def project():
    with (ROOT / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)["project"]


def requirements(lines):
    found = [Requirement(line) for line in lines]
    return {canonicalize_name(r.name): r for r in found}


def python(code, **options):
    return subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False, **options)


def test_the_base_needs_exactly_these(project):
    base = requirements(project["dependencies"])
    assert set(base) == {"click", "gymnasium", "numba", "numpy", "pettingzoo", "tqdm"}
    assert str(base["gymnasium"].specifier) == "<2,>=1.1"
    assert str(base["pettingzoo"].specifier) == ">=1.24"
    assert str(base["numpy"].specifier) == "<3,>=1.26"
    assert project["requires-python"] == ">=3.10"


def test_extras_are_declared_and_name_each_other_rightly(project):
    extras = project["optional-dependencies"]
    assert set(extras) >= EXTRAS
    for name, lines in extras.items():
        for requirement in map(Requirement, lines):
            assert canonicalize_name(requirement.name) != "bg-env" or requirement.extras <= set(extras), name


def test_all_is_everything_for_users_but_what_cannot_live_with_the_rest(project):
    (line,) = project["optional-dependencies"]["all"]
    assert Requirement(line).extras == EXTRAS - {"all", "agilerl", "dev", "docs"}


def test_every_requirement_says_its_lowest_version(project):
    """So that it can be tested: `.ci/run` installs just these for the core, SB3 and pictures."""
    lines = [line for lines in project["optional-dependencies"].values() for line in lines] + project["dependencies"]
    for wanted in map(Requirement, lines):
        lowest = [part.version for part in wanted.specifier if part.operator == ">="]
        assert len(lowest) == (canonicalize_name(wanted.name) != "bg-env"), wanted


def pins(path):
    lines = [line.split("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines()]
    return dict(line.split("==") for line in lines if "==" in line)


def test_what_is_fixed_is_what_is_declared(project):
    """The versions that CI installs lie in the declared ranges, and every library of an extra has one that is fixed."""
    files = [ROOT / "constraints.txt", *sorted((ROOT / ".ci").glob("constraints-*.txt"))]
    found = [(canonicalize_name(name), version) for path in files for name, version in pins(path).items()]
    libraries = {"dev", "docs", "all", "render", "train"}
    lines = [line for name, lines in project["optional-dependencies"].items() if name not in libraries for line in lines]
    named = requirements([*project["dependencies"], *lines])
    for name, version in found:
        assert name not in named or named[name].specifier.contains(version, prereleases=True), f"{name}=={version}"
    loose = {"bg-env", "click", "dm-tree", "numba", "numpy", "tqdm"}
    assert set(named) - loose - {name for name, _ in found} == set()


def test_where_ci_installs_it_is_what_is_fixed():
    if "CI" not in os.environ:
        pytest.skip("only CI and make install by constraints.txt")
    for name, version in pins(ROOT / "constraints.txt").items():
        if find_version(name):
            assert find_version(name).split("+")[0] == version, name


def find_version(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def test_every_id_and_module_has_a_version_with_a_history(project):
    names = [
        *registration.IDS,
        *(f"{path.stem.rpartition('_')[0]}-{path.stem.rpartition('_')[2]}" for path in PACKAGE.glob("*_v[0-9].py")),
    ]
    assert {re.fullmatch(r"[\w/]+-(v\d+)", name)[1] for name in names} == set(registration.HISTORY)
    assert list(registration.HISTORY) == [f"v{n}" for n in range(len(registration.HISTORY))]
    for told, release in registration.HISTORY.values():
        assert told
        assert Version(release) <= Version(project["version"])


def test_every_name_of_a_version_is_in_the_badges_and_the_entry():
    """The badges in README, and the lines for PettingZoo's page of third-party environments, name what CI installs."""
    fixed = pins(ROOT / "constraints.txt")
    readme, page = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/integrations.md"))
    for text, name in ((readme, "PettingZoo"), (readme, "Gymnasium"), (page, "PettingZoo")):
        assert f"https://img.shields.io/badge/{name}-v{fixed[name.lower()]}-blue" in text


def test_the_versions_agree(project):
    assert bg_env.__version__ == project["version"]
    heading = re.compile(rf"^## \[(?:Unreleased|{re.escape(project['version'])})\]", re.MULTILINE)
    assert heading.search((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))


def test_the_package_says_that_it_is_typed():
    assert (PACKAGE / "py.typed").is_file()


def test_the_script_is_the_program(project):
    assert project["scripts"] == {"bg-env": "bg_env.cli:main"}
    done = subprocess.run(
        [sys.executable, "-m", "bg_env", "--version"], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert project["version"] in done.stdout


def test_every_public_name_is_there():
    missing = [name for name in bg_env.__all__ if not hasattr(bg_env, name)]
    assert not missing


def test_importing_bg_env_brings_no_optional_library():
    loaded = f"import sys, bg_env; print([name for name in {OPTIONAL} if name in sys.modules])"
    done = python(loaded, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_all_but_adapters_and_learners_import_without_optional_libraries():
    names = [
        m.name
        for m in pkgutil.walk_packages([str(PACKAGE)], "bg_env.")
        if not m.name.startswith(("bg_env.adapters", "bg_env.train", "bg_env.arena.on_ray"))
    ]
    names.remove("bg_env.__main__")
    code = f"""
import importlib, sys
for name in {OPTIONAL}:
    sys.modules[name] = None  # importing it raises ImportError
for name in {names}:
    importlib.import_module(name)
"""
    done = python(code, timeout=120)
    assert done.returncode == 0, done.stderr


def test_no_module_has_a_name_that_says_nothing():
    names = {path.stem for folder in ("bg_env", "examples", "tests") for path in (ROOT / folder).rglob("*.py")}
    assert not names & {"utils", "util", "helpers", "helper", "common", "misc"}


def test_no_module_is_too_long_to_be_read_at_one_sitting():
    long = {
        str(path.relative_to(ROOT)): n
        for path in PACKAGE.rglob("*.py")
        if (n := len(path.read_text("utf-8").splitlines())) > 450
    }
    assert not long


def test_a_temporary_cache_folder_is_removed_at_the_end(tmp_path):
    """Of the process that made it: a forked child leaves it alone."""
    file, temporary = tmp_path / "file", tmp_path / "temporary"
    file.write_text("no folder")
    temporary.mkdir()
    code = """
import os, sys, warnings
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    from bg_env import _jit
assert [one for one in told if "cannot keep compiled kernels" in str(one.message)]
if hasattr(os, "fork"):
    child = os.fork()
    if child == 0:
        sys.exit(0)
    os.waitpid(child, 0)
assert os.path.isdir(_jit.CACHE_DIR)
print(_jit.CACHE_DIR)
"""
    done = python(code, timeout=120, env=os.environ | {"BG_ENV_CACHE_DIR": str(file), "TMPDIR": str(temporary)})
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).parent == temporary
    assert not list(temporary.iterdir())
