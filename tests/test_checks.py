"""Checks of arguments: one predicate each, for Python's and NumPy's numbers."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

import bg_env
from bg_env import checks
from bg_env.errors import IllegalActionError, SettingsError
from bg_env.rules.actions import ACTIONS, STEPS, die_of, source_of, step_number

NOT_WHOLE = [True, np.True_, 1.0, np.float64(1), "1", None, np.array([1])]


@pytest.mark.parametrize("value", [0, 3, np.int8(3), np.uint64(3)])
def test_integers_of_python_and_numpy_are_whole_numbers_and_come_back_as_int(value):
    assert checks.is_whole(value, 0, 3)
    assert type(checks.checked_whole("n", value, 0, 3)) is int
    assert not checks.is_whole(value, 4)
    assert not checks.is_whole(value, -5, -1)


@pytest.mark.parametrize("value", NOT_WHOLE)
def test_what_is_not_an_integer_is_no_number_die_seed_or_player(value):
    assert not checks.is_whole(value)
    assert not checks.is_player(value)
    with pytest.raises(IllegalActionError):
        checks.checked_die(value)
    with pytest.raises(SettingsError):
        checks.checked_seed(value)


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        (1, None, "n is a whole number of at least 1, not -1"),
        (0, 15, "n is a whole number from 0 to 15, not -1"),
        (0, 2**32 - 1, "n is a whole number from 0 to 2**32 - 1, not -1"),
        (0, 32767, "n is a whole number from 0 to 32767, not -1"),
    ],
)
def test_a_message_names_the_argument_its_bounds_and_the_value(low, high, message):
    with pytest.raises(SettingsError, match=f"^{re.escape(message)}$"):
        checks.checked_whole("n", -1, low, high)


def test_bounds_are_included():
    for check in (checks.checked_whole, checks.checked_number):
        assert [check("n", value, 1, 3) for value in (1, 3)] == [1, 3]
        for value in (0, 4):
            with pytest.raises(SettingsError, match=r"n is a (whole )?number from 1 to 3, not"):
                check("n", value, 1, 3)
    assert [checks.checked_die(die) for die in (1, 6)] == [1, 6]
    assert checks.checked_seed(2**64 - 1) == 2**64 - 1
    with pytest.raises(SettingsError, match=r"seed is a whole number from 0 to 2\*\*64 - 1, not 18446744073709551616"):
        checks.checked_seed(2**64)


@pytest.mark.parametrize("value", [0, 1, 0.5, np.float32(0.5), np.int64(1)])
def test_a_share_is_a_number_from_0_to_1(value):
    assert checks.checked_number("share", value) == value
    assert type(checks.checked_number("share", value)) is float


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), float("inf"), True, "0.5", None])
def test_what_is_no_share_is_refused(value):
    with pytest.raises(SettingsError, match="share is a number from 0 to 1, not"):
        checks.checked_number("share", value)


def test_flags_are_bools_of_python_and_numpy():
    assert checks.checked_flag("copy", np.True_) is True
    for value in (1, 0, None, "yes"):
        with pytest.raises(SettingsError, match="copy is True or False, not"):
            checks.checked_flag("copy", value)


def test_a_player_is_0_or_1():
    assert [value for value in (-1, 0, 1, 2, np.int8(1)) if checks.is_player(value)] == [0, 1, 1]


def test_the_layout_of_steps_is_a_numbering_without_gaps():
    numbers = [step_number(source, die) for source in range(1, 26) for die in range(1, 7)]
    assert numbers == list(range(STEPS))
    assert [(source_of(a), die_of(a)) for a in numbers] == [(s, d) for s in range(1, 26) for d in range(1, 7)]


def test_action_numbers_are_written_once():
    package = Path(bg_env.__file__).parent
    found = [
        f"{path.relative_to(package)}:{node.lineno}"
        for path in package.rglob("*.py")
        if path != package / "rules" / "actions.py" and "render" not in path.parts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and type(node.value) is int and STEPS <= node.value <= ACTIONS
    ]
    assert not found
