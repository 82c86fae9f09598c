"""Settings and variants as values (R10.7), and those that are refused (R3.5, R9.1, R10.7)."""

from __future__ import annotations

import pytest

from bg_env.errors import SettingsError
from bg_env.rules import VARIANTS, Settings, Variant


@pytest.mark.parametrize(
    "settings",
    [
        {"match_length": 5, "jacoby": True},  # R9.1
        {"match_length": 5, "beavers": 1},
        {"match_length": 5, "auto_doubles": 1},
        {"match_length": 1, "jacoby": True},
        {"cube": False, "beavers": 1},
        {"cube": False, "auto_doubles": 1},
        {"match_length": -1},
        {"match_length": 2.0},
        {"match_length": True},
        {"match_length": 32_768},
        {"cube_cap": 0},
        {"cube_cap": 3},
        {"cube_cap": 65_536},
        {"cube_cap": 64.0},
        {"beavers": -1},
        {"beavers": 16},
        {"beavers": True},
        {"auto_doubles": -1},
        {"auto_doubles": "1"},
        {"max_turns": 0},
        {"max_turns": -3},
        {"max_turns": 1.5},
        {"jacoby": 1},
        {"crawford": None},
        {"allow_dead_cube": "yes"},
        {"cube": "on"},
    ],
    ids=str,
)
def test_settings_that_are_refused(settings):
    with pytest.raises(SettingsError) as error:
        Settings("backgammon", **settings)
    message = str(error.value)
    assert "\n" not in message
    assert any(name in message for name in settings)


def test_acey_deucey_has_no_cube_unless_asked():
    with pytest.raises(SettingsError, match="cube=True"):
        Settings("acey_deucey", beavers=1)
    assert not Settings("acey_deucey").cube
    assert Settings("acey_deucey", cube=True, beavers=1).cube


@pytest.mark.parametrize("name", ["chess", "", "Backgammon", "nack", None, 3, ("backgammon",)])
def test_variants_that_are_refused(name):
    with pytest.raises(SettingsError):
        Settings(name)


@pytest.mark.parametrize("text", [None, 3, b"backgammon", ["backgammon"]])
def test_only_text_is_parsed(text):
    with pytest.raises(SettingsError, match="as text, not as"):
        Settings.parse(text)
    with pytest.raises(SettingsError, match="as text, not as"):
        Variant.parse(text)


@pytest.mark.parametrize(
    ("start", "options"),
    [
        ({1.0: 2}, {}),
        ({True: 2}, {}),
        (5, {}),
        ("24", {}),
        ({13: 5, 12: 5}, {}),  # both players on one point
        ({24: 2, 1: 1}, {}),
        ({6: 16}, {}),
        ({}, {}),
        ({24: 2}, {"checkers": 3}),
        ({0: 1, 24: 2}, {}),
        ({26: 2}, {}),
        ({24: -1, 6: 3}, {}),
        ({24: 1.0}, {}),
        ({25: 3, 1: 2, 2: 2, 3: 2, 4: 2, 5: 2, 6: 2}, {}),  # R3.5
        ([0] * 25, {}),
        ({24: 2}, {"cube": 1}),
    ],
)
def test_starts_that_are_refused(start, options):
    with pytest.raises(SettingsError, match=r"start|variant|point"):
        Variant("own", start, **options)


@pytest.mark.parametrize(
    "settings", [{}, {"match_length": 3, "crawford": False}, {"beavers": 2, "jacoby": True, "cube_cap": None}]
)
@pytest.mark.parametrize("variant", [*VARIANTS.values(), Variant("own", {25: 1, 7: 3}, acey_deucey=True, cube=True)], ids=str)
def test_settings_are_values(variant, settings):
    """Equal, hashable, printable, parsable; the parsed one is the one that was printed."""
    options = settings if variant.cube or "beavers" not in settings else settings | {"cube": True}
    one, two = Settings(variant, **options), Settings(variant, **options)
    assert one == two
    assert hash(one) == hash(two)
    assert Settings.parse(str(one)) == one
    assert Variant.parse(str(variant)) == variant
    assert one != one.but(max_turns=77)
    assert one.but(max_turns=77).but(max_turns=None) == one


@pytest.mark.parametrize(
    ("settings", "actions"),
    [
        (Settings("backgammon", cube=False), 150),
        (Settings("backgammon"), 154),
        (Settings("backgammon", match_length=5), 154),
        (Settings("backgammon", beavers=1), 155),
        (Settings("acey_deucey"), 161),
        (Settings("acey_deucey", cube=True), 161),
    ],
    ids=str,
)
def test_the_shortest_action_space_that_the_rules_need(settings, actions):
    assert settings.actions == actions
    assert int(settings.record()[0]["actions"]) == actions


def test_what_version_0_1_printed_is_read_without_a_warning():
    assert Settings.parse("nackgammon, match_length=5, dead_cube=False") == Settings(
        "nackgammon", match_length=5, allow_dead_cube=True
    )
    assert Settings.parse("backgammon, dead_cube=True") == Settings()
    assert "dead_cube=True" not in str(Settings(match_length=3)).replace("allow_dead_cube", "")
    for text in ("backgammon, dead_cube=3", "backgammon, dead_cube=True, allow_dead_cube=True", "backgammon, live_cube=True"):
        with pytest.raises(SettingsError):
            Settings.parse(text)
