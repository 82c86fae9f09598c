"""Prompts and replies: whatever a model writes is a legal choice or a reason, and never another choice than it wrote."""

from __future__ import annotations

import random
import re
import time

import pytest

from bg_env import Game, NotationError, Position, Settings, SettingsError
from bg_env.text import instructions, parse_reply, prompt, reply_format

OPENING = Game.from_position(Position.start(), (3, 1))
DOUBLES = Game.from_position(Position.start(), (3, 3))


def position(mover, opponent, dice, **settings):
    """A game from counts by point on each side's own numbering; the rest of its checkers has been borne off."""
    sides = []
    for given in (mover, opponent):
        side = [0] * 26
        for point, n in given.items():
            side[point] = n
        side[0] = 15 - sum(side)
        sides.append(side)
    return Game.from_position(Position(*sides), dice, **settings)


ON_BAR = position({25: 1, 13: 4, 8: 3, 6: 7}, {24: 2, 13: 5, 8: 3, 5: 1, 6: 4}, (5, 2))  # 20 is a blot
TWO_WAYS = position({24: 1, 6: 5, 8: 3, 13: 6}, {7: 1, 13: 5, 3: 9}, (6, 5))  # 24/13 by 18*, or by 19
BEAR_OFF = position({6: 2, 4: 3, 1: 1}, {6: 2, 1: 2}, (6, 4))
TWO_OFF = position({2: 3}, {6: 2, 1: 2}, (6, 4))


def choosing():
    """A game before a roll, and the same game after a double."""
    game = Game(seed=3)
    while game.phase.name != "ROLL_OR_DOUBLE":
        game.play(game.legal_plays()[0])
    doubled = game.copy()
    doubled.play("double")
    return game, doubled


TO_ROLL, DOUBLED = choosing()
FIVE_POINT = [
    "8/5 6/5",
    "6/5, 8/5",
    "I play 8/5, 6/5",
    "8/5* 6/5*",
    "8-5 6-5",
    "8–5 and 6–5",  # noqa: RUF001
    "8−5; 6−5",  # noqa: RUF001
    "8→5, 6→5",
    "8->5 6->5",
    "8 => 5, 6 => 5",
    "８／５　６／５",  # noqa: RUF001
    "8⁄5 6∕5",  # noqa: RUF001
    "8 to 5, 6 to 5",
    "from the 8 point to the 5 point, and from 6 to 5",
    "8 by 3, 6 by 1",
    "the 3 from 8 and the 1 from the 6 point",
    "8/5 with the 3 and then 6/5 with the 1",
    "8/5(3) 6/5(1)",
    "8/5\n6/5",
    "1. 8/5\n2. 6/5",
    "Move 1: 8/5\nMove 2: 6/5",
    "31: 8/5 6/5",
    "3-1: 8-5 6-5",
    "With 3-1 I play 8/5 6/5.",
    "Move: 8/5 6/5",
    "**Move:** `8/5 6/5`",
    "MOVE: 8/5 6/5.",
    "move - \nMove:\n8/5 6/5\n",
    "<answer>8/5 6/5</answer>",
    "<Answer>\n8/5 6/5\n</Answer> because it makes a point",
    r"\boxed{8/5\ 6/5}",
    r"$\boxed{\text{8/5 6/5}}$",
    r"\boxed{8\rightarrow 5, 6\to 5}",
    '{"play": "8/5 6/5"}',
    '{"reasoning": "24/23 13/10 is weak", "move": "8/5 6/5"}',
    '{"moves": ["8/5", "6/5"]}',
    '{"play": [[8, 5], [6, 5]]}',
    '{"move": [{"from": 8, "to": 5}, {"from": 6, "to": 5}]}',
    "{'action': '8/5 6/5'}",
    '```json\n{"play": ["8/5",\n "6/5"]}\n```',
    "```\n8/5 6/5\n```",
    "[8/5 6/5]",
    "<think>24/23 13/10? No: 24/20.</think>\nMove: 8/5 6/5",
    "24/20 is natural.</think>8/5 6/5",
    "I compare 24/23 13/10 with 8/5 6/5 and 13/9.\n\nFinal answer: 8/5 6/5",
    "Play: 24/23 13/10 is passive.\n<answer>8/5 6/5</answer>",
    "Move: 24/23 13/10\nNo, wait.\nMove: 8/5 6/5",
    "I play 8/5 6/5 rather than 24/23 13/10",
    "The score is 0-0 and I lead 167 to 167. I play 8/5 6/5, a 50% gammon chance of 1/4.",
    "The best play is 8/5 6/5: the move 6/5 makes the point with 8/5.",
    "8/5 6/5\n\nMove: <your move>",
    "My move is 8/5 6/5",
]


@pytest.mark.parametrize("text", FIVE_POINT)
def test_one_play_in_many_words(text):
    reply = parse_reply(OPENING, text)
    assert (reply.text, reply.fault, reply.reason) == ("8/5 6/5", None, None)
    assert reply
    game = OPENING.copy()
    for action in reply.actions:
        game.apply(action)
    again = OPENING.copy()
    again.play(reply.text)
    played = OPENING.copy()
    played.play(reply.play)
    assert game == again == played


@pytest.mark.parametrize(
    ("game", "text", "play"),
    [
        (OPENING, "24/20", "24/20"),
        (OPENING, "24/21/20", "24/20"),
        (OPENING, "24/23, 23/20", "24/20"),
        (OPENING, "24 to 23 to 20", "24/20"),
        (ON_BAR, "B/20 13/11", "bar/20* 13/11"),
        (ON_BAR, "bar/20*, 13/11", "bar/20* 13/11"),
        (ON_BAR, "25/20 13/11", "bar/20* 13/11"),
        (ON_BAR, "13-11, bar-20", "bar/20* 13/11"),
        (ON_BAR, "enter on 20 and play 13/11", "bar/20* 13/11"),
        (ON_BAR, "bar to 20, then 13 to 11", "bar/20* 13/11"),
        (ON_BAR, "BAR/20/18", "bar/20*/18"),
        (TWO_WAYS, "24/18/13", "24/18*/13"),
        (TWO_WAYS, "24/19/13", "24/13"),
        (TWO_WAYS, "24/18*, 18/13", "24/18*/13"),
        (TWO_WAYS, "24/13", "24/13"),  # as the notation has it: no star, nothing hit
        (BEAR_OFF, "6/off 4/off", "6/off 4/off"),
        (BEAR_OFF, "6/0, 4/0", "6/off 4/off"),
        (BEAR_OFF, "bear off from 6 and bear off from 4", "6/off 4/off"),
        (BEAR_OFF, "4-off 6-off", "6/off 4/off"),
        (TWO_OFF, "2/off(2)", "2/off(2)"),
        (TWO_OFF, "2/off, 2/off", "2/off(2)"),
        (DOUBLES, "13/10(2) 6/3(2)", "13/10(2) 6/3(2)"),
        (DOUBLES, "13/10x2, 6/3 x2", "13/10(2) 6/3(2)"),
        (DOUBLES, "13/10 13/10 6/3 6/3", "13/10(2) 6/3(2)"),
        (DOUBLES, "13/10 (2)\n6/3 (2)", "13/10(2) 6/3(2)"),
        (DOUBLES, "13/10 twice and 6/3 twice", "13/10(2) 6/3(2)"),
        (DOUBLES, "24/21/18/15, 24/21", "24/21 24/15"),
        (DOUBLES, "2x 8/5, 2x 6/3", "8/5(2) 6/3(2)"),
    ],
)
def test_ways_bars_and_repetitions(game, text, play):
    assert play in game.legal_texts()
    reply = parse_reply(game, text)
    assert (reply.text, reply.reason) == (play, None)


@pytest.mark.parametrize(
    ("game", "text", "fault", "part"),
    [
        (OPENING, "", "unclear", "the reply is empty"),
        (OPENING, None, "unclear", "the reply is empty"),
        (OPENING, "What a lovely position.", "unclear", "names no move"),
        (OPENING, "<think>8/5 6/5", "unclear", "ends within its reasoning"),
        (OPENING, "Move: I do not know", "unclear", "names no move"),
        (OPENING, "Move: 8/5 6/5\nOn reflection:\nMove: the other one", "unclear", "names no move"),
        (OPENING, "8/5", "partial", "8/5 is only a part of the roll: 1 is still to be played"),
        (OPENING, "6/5 pass", "partial", "3 is still to be played"),
        (OPENING, "pass", "illegal", "you cannot pass"),
        (OPENING, "8/5 or 6/5", "several", "8/5 | 6/5"),
        (OPENING, "24/20 or 8/5 6/5", "several", "24/20 | 8/5 6/5"),
        (OPENING, "I consider 24/23 13/10 and 8/5 6/5.", "several", "24/23 13/10 | 8/5 6/5"),
        (OPENING, "24/23 13/10\n8/5 6/5", "several", "differ"),
        (OPENING, "I like 8/5. 6/5 is too slow.", "several", "8/5 | 6/5"),
        (OPENING, "<answer>8/5 6/5</answer>\nMove: 24/20", "several", "differ"),
        (OPENING, '{"moves": ["8/5 6/5", "24/20"]}', "several", "differ"),
        (OPENING, "\\boxed{24/20} <answer>8/5 6/5</answer>", "several", "differ"),
        (OPENING, "I would not play 8/5 6/5.", "unclear", "what not to play"),
        (OPENING, "I never liked 8/5 6/5.", "unclear", '"not"'),
        (OPENING, "rather than 8/5 6/5", "unclear", "what not to play"),
        (OPENING, "17/20 19/20", "illegal", "17/20 goes up: your checkers go down on your own numbering"),
        (OPENING, "Move: 17-20", "illegal", "goes up"),
        (OPENING, "8/3 6/5", "illegal", "8/3 moves 5: your dice are 3 1 (R3.2)"),
        (OPENING, "8/4 6/5", "illegal", "6/5 is one move too many"),
        (OPENING, "13/10 13/10", "illegal", "your dice, after the moves before it, are 1"),
        (OPENING, "13/12 8/5", "illegal", "13/12 is illegal: point 12 is held by 5 opposing checkers (R4.1)"),
        (OPENING, "22/21 6/3", "illegal", "you have no checker there"),
        (OPENING, "Move: 30/27 6/5", "illegal", "points go from 25 (the bar) down to 0 (off)"),
        (OPENING, "6/5 6/off", "illegal", "6/off moves 6"),
        (OPENING, "double", "illegal", "you have rolled 3-1 and must play it (R8.2)"),
        (OPENING, "take", "illegal", "no double waits for an answer (R8.3)"),
        (ON_BAR, "13/8 6/4", "illegal", "the checker on the bar must enter first (R6.1)"),
        (ON_BAR, "bar/23", "illegal", "bar/23 is only a part"),
        (TWO_WAYS, "24/13*", "several", "24/18*/13 or 24/13"),
        (BEAR_OFF, "6/off 6/off", "illegal", "6/off"),
        (TO_ROLL, "8/5 6/5", "illegal", "you must roll or double first (R3.1)"),
        (TO_ROLL, "take", "illegal", "no double waits for an answer"),
        (TO_ROLL, "pass", "unclear", "to pass is no choice here"),
        (TO_ROLL, "I could double or roll", "several", "roll | double"),
        (TO_ROLL, "If I double he drops.", "unclear", "with an if"),
        (DOUBLED, "take or drop?", "several", "take | drop"),
        (DOUBLED, "beaver", "illegal", "beavers are not in force"),
        (DOUBLED, "8/5", "illegal", "you must answer the double first"),
        (DOUBLED, "I won't drop", "unclear", "without naming another"),
        (DOUBLED, "roll", "illegal", "you must answer the double first"),
    ],
)
def test_a_refusal_names_the_rule_and_what_would_be_legal(game, text, fault, part):
    reply = parse_reply(game, text)
    if "only a part" in part and fault == "illegal":
        fault = "partial"
    assert (reply.fault, reply.actions, reply.play, bool(reply)) == (fault, (), None, False)
    assert part in reply.reason
    assert "\n" not in reply.reason
    shown = reply.reason.split("; legal: ")[1].split("; ")
    assert {text for text in shown if not text.startswith("and ")} <= set(game.legal_texts())
    assert len(shown) <= 9
    assert len(reply.reason) < 900


@pytest.mark.parametrize(
    ("game", "text", "choice"),
    [
        (TO_ROLL, "roll", "roll"),
        (TO_ROLL, "No double.", "roll"),
        (TO_ROLL, "I don't double yet; I roll.", "roll"),
        (TO_ROLL, "Move: Roll", "roll"),
        (TO_ROLL, "Double!", "double"),
        (TO_ROLL, "redouble", "double"),
        (TO_ROLL, "I double, he should take", "double"),
        (TO_ROLL, "Maybe he drops if I double.\nMove: double", "double"),
        (TO_ROLL, '{"action": "double"}', "double"),
        (TO_ROLL, r"\boxed{\text{Roll}}", "roll"),
        (DOUBLED, "TAKE", "take"),
        (DOUBLED, "I accept the double.", "take"),
        (DOUBLED, "pass", "drop"),
        (DOUBLED, "I pass.", "drop"),
        (DOUBLED, "no take", "drop"),
        (DOUBLED, "fold", "drop"),
        (DOUBLED, "<think>drop?</think>take", "take"),
    ],
)
def test_cube_words(game, text, choice):
    reply = parse_reply(game, text)
    assert (reply.text, reply.reason) == (choice, None)
    assert reply.play is None
    copy = game.copy()
    copy.play(reply.text)
    assert copy.history[-1].action == reply.actions[0] or copy.history[-2].action == reply.actions[0]


def test_beavers_and_named_doubles():
    game = DOUBLED.copy()
    beavers = Game(Settings(beavers=1), seed=3)
    while beavers.phase.name != "ROLL_OR_DOUBLE":
        beavers.play(beavers.legal_plays()[0])
    beavers.play("double")
    assert parse_reply(beavers, "I beaver!").text == "beaver"
    assert parse_reply(game, "beaver").fault == "illegal"
    named = Game.from_position(Position.start("acey_deucey"), (2, 1))
    while named.phase.name != "CHOOSE_DOUBLE":
        named.play(named.legal_texts()[0])
    for text in ("6-6", "66", "I name double sixes", "double 6", "Move: sixes", "6s", "double six"):
        assert parse_reply(named, text).text == "6-6", text
    assert parse_reply(named, "6-6 or 5-5").fault == "several"
    assert parse_reply(named, "24/18").fault == "illegal"


def test_single_steps():
    assert parse_reply(OPENING, "Move: 8/5", unit="step").actions == (44,)
    assert parse_reply(OPENING, "8 by 3", unit="step").text == "8/5"
    assert parse_reply(BEAR_OFF, "4/off", unit="step").text == "4/off"
    for text, part in (
        ("8/5 6/5", "more than one step"),
        ("24/20", "24/20 moves 4"),
        ("24/21/20", "more than one"),
        ("4/off", "4/off"),
    ):
        reply = parse_reply(OPENING, text, unit="step")
        assert (reply.fault, part in reply.reason) == ("illegal", True)
    rest = OPENING.copy()
    rest.play("8/5")
    assert parse_reply(rest, "6/5").actions == (30,)
    assert "your dice are 1" in parse_reply(rest, "8/5").reason


def test_where_nobody_decides():
    game = Game()
    assert parse_reply(game, "8/5").reason == "nobody may act: the dice are due"
    assert reply_format(game) == ""
    game = Game(seed=1)
    game.resign(1, player=0)
    assert parse_reply(game, "8/5").reason == "nobody may act: the game is over"
    assert prompt(game).endswith("The game is over: you have won 1 point.")
    assert prompt(game, seat=0).endswith("The game is over: you have lost 1 point.")


def test_a_die_that_cannot_be_played_needs_no_pass():
    game = position({25: 1, 6: 14}, {1: 2, 2: 2, 3: 2, 5: 2, 6: 7}, (4, 1))
    assert game.legal_texts() == ("bar/21 6/5",) or len(game.legal_texts()) >= 1
    blocked = position({25: 2, 6: 13}, {1: 2, 2: 2, 3: 2, 5: 2, 6: 7}, (4, 1))
    assert blocked.legal_texts() == ("bar/21",)
    for text in ("bar/21", "bar/21 pass", "bar/21, no move", "Bar/21. The 1 cannot be played."):
        assert parse_reply(blocked, text).text == "bar/21", text


def styles(rng, game, play):
    """A legal play in words of many kinds."""
    steps = [[step.source, step.target] for step in play.steps]
    if rng.random() < 0.5:
        rng.shuffle(steps)
    names = {25: rng.choice(["bar", "25", "Bar", "B"]), 0: rng.choice(["off", "0", "OFF"])}
    between = rng.choice(["/", "/", "-", "–", "→", "->", " to ", " / "])  # noqa: RUF001
    if between == "-" or between == "–":  # noqa: RUF001
        names = {25: "bar", 0: "off"}
    words = [f"{names.get(a, a)}{between}{names.get(b, b)}{rng.choice(['', '', '', '*'])}" for a, b in steps]
    text = rng.choice([" ", ", ", " and ", "; ", "\n", ", then "]).join(words)
    frame = rng.choice(
        [
            "{}",
            "Move: {}",
            "I play {}",
            "<answer>{}</answer>",
            "<think>24/20? 8/5 6/5? 13/7</think>\n{}",
            "I see 24/18 and 13/8 as well.\n\nFinal answer: {}",
            "\\boxed{{{}}}",
            '{{"play": "{}"}}',
            "```\n{}\n```",
        ]
    )
    return frame.format(text.replace("\n", " ") if frame != "{}" else text)


def random_games(seed, number):
    """Games in which a roll waits, from random play, with cube turns left out."""
    rng = random.Random(seed)
    for k in range(number):
        game = Game(rng.choice(["backgammon", "nackgammon", "hypergammon"]), seed=seed * 1000 + k, cube=False)
        for _ in range(rng.randrange(1, 90)):
            if game.over:
                break
            game.play(rng.choice(game.legal_texts()))
        if not game.over:
            yield game


def test_every_legal_play_is_read_from_any_style_and_never_as_another():
    rng = random.Random(5)
    read = number = 0
    for game in random_games(1, 40):
        plays = game.legal_plays()
        for play in rng.sample(plays, min(len(plays), 6)):
            text = styles(rng, game, play)
            number += 1
            reply = parse_reply(game, text)
            if reply.legal:
                assert str(reply.play) == str(play), (text, reply, game.xgid)
                read += 1
            else:
                assert reply.fault == "several", (text, reply, str(play), game.xgid)
    assert read > 0.97 * number > 80


def test_canonical_texts_are_read_as_what_they_are():
    for game in random_games(2, 15):
        for text in game.legal_texts():
            reply = parse_reply(game, f"Move: {text}")
            assert (reply.text, reply.reason) == (text, None), game.xgid


WORDS = re.findall(
    r"\S+",
    "8/5 6/5 24/18 13-11 bar/20 b/20 6/off 6/0 17/20 3-1 1/2 8→5 24/18/13 13/11(2) (3) * , ; . : and or not I play Move: "
    'Answer: Final answer: <answer> </answer> <think> </think> \\boxed{ } { [ ] ``` " \' "play": null double take drop roll '
    "pass beaver point to from by the 25/ /off 99/98 8/5* off bar - – ∕ ０ 💥 \x00 \ud800 \u202e",  # noqa: RUF001
)


@pytest.mark.parametrize("seed", range(4))
def test_any_text_has_a_meaning_or_a_reason(seed):
    rng = random.Random(seed)
    games = [OPENING, ON_BAR, TWO_WAYS, BEAR_OFF, DOUBLES, TO_ROLL, DOUBLED]
    for _ in range(250):
        game = rng.choice(games)
        text = rng.choice(["", " ", "\n"]).join(rng.choices(WORDS, k=rng.randrange(1, 25)))
        if rng.random() < 0.3:
            text = (
                "".join(chr(rng.choice([rng.randrange(32, 127), rng.randrange(0x3000)])) for _ in range(rng.randrange(60)))
                + text
            )
        reply = parse_reply(game, text, unit=rng.choice(["play", "step"]))
        if reply.legal:
            copy = game.copy()
            for action in reply.actions:
                copy.apply(action)
            assert reply.text
            assert reply.reason is None
        else:
            assert reply.actions == ()
            assert reply.reason
            assert len(reply.reason) < 1000


LONG = [
    "8/5 or 6/5 or ",
    "a",
    " ",
    "\n",
    "8/5 ",
    "8",
    "8-",
    "8/",
    "<think>",
    "</think>",
    "<answer>",
    "<answer>8/5",
    "{",
    '{"play": ',
    '{"play": [',
    '{"a":',
    "[",
    "\\boxed{",
    "```",
    "Move: ",
    "Move: 8/5\n",
    "final answer: ",
    "***",
    "to to ",
    "8 to ",
    "from the ",
    "no ",
    "don't ",
    "I play ",
    "double ",
    "-",
    "\u2192",
    "bear off a a a ",
]


@pytest.mark.parametrize("part", LONG)
def test_long_replies_take_bounded_time(part):
    for game in (OPENING, TO_ROLL):
        for size in (10_000, 1_000_000):
            start = time.process_time()
            reply = parse_reply(game, part * (size // len(part)))
            assert reply.legal or reply.reason
            assert time.process_time() - start < 3, size


def test_the_end_of_a_long_reply_counts():
    long = "I wonder about 24/20 and 13/9. " * 30_000
    assert parse_reply(OPENING, f"{long}\nMove: 8/5 6/5").text == "8/5 6/5"
    reply = parse_reply(OPENING, f"{long[:-1]}" + " x" * 60_000)
    assert (reply.fault, "marked answer" in reply.reason) == ("unclear", True)


def test_a_prompt_says_everything_once():
    text = prompt(OPENING, legal=True)
    assert text.isascii()
    assert text == prompt(Game.from_position(Position.start(), (3, 1)), legal=True)
    lines = text.splitlines()
    assert "Your checkers: 24: 2, 13: 5, 8: 3, 6: 5 (167 pips)." in lines
    assert "Opposing checkers: 19: 5, 17: 3, 12: 5, 1: 2 (167 pips)." in lines
    assert "You have rolled 3-1: play both dice if you can." in lines
    assert f"Legal (16): {'; '.join(OPENING.legal_texts())}." in lines
    assert lines[-1] == reply_format(OPENING)
    assert "\n" not in reply_format(OPENING)
    assert "Legal" not in prompt(OPENING)
    assert prompt(OPENING, legal=2).splitlines()[-2] == "Legal (16): 24/23 24/21; 24/20; and 14 more."
    assert "+13-14-15" not in prompt(OPENING, board=False)
    assert len(prompt(OPENING, board=False)) < 700


def test_both_players_are_addressed_on_their_own_numbering():
    """The player who is doubled is not on roll; its points are numbered from its side all the same."""
    text = prompt(DOUBLED)
    own = DOUBLED.position.turned()
    assert f"({own.pips[0]} pips)" in next(line for line in text.splitlines() if line.startswith("Your checkers"))
    assert "Your opponent has turned the cube to 2. Take to play on for 2, or drop and lose 1 point." in text
    assert text.splitlines()[-1] == 'Reply: end with one line "Move: take" or "Move: drop".'
    assert prompt(TO_ROLL).splitlines()[-1] == 'Reply: end with one line "Move: roll" or "Move: double".'
    game = Game(match_length=5, seed=3)
    assert "Score: you 0, opponent 0, match to 5." in prompt(game)
    half = OPENING.copy()
    half.play("8/5")
    assert "You have rolled 3-1: the 1 is still to be played." in prompt(half)
    assert "one step, of one die" in prompt(half, unit="step")
    assert "Legal (6): " in prompt(half, legal=True, unit="step") or "Legal (" in prompt(half, legal=True, unit="step")


@pytest.mark.parametrize(
    "settings", [Settings(), Settings("acey_deucey"), Settings(match_length=5), Settings(jacoby=True, beavers=1)]
)
def test_instructions_name_the_rules_in_force(settings):
    text = instructions(settings)
    assert text.isascii()
    assert ("name a double" in text) == (settings.variant.name == "acey_deucey")
    assert ("match" in text) == (settings.match_length > 0)
    assert ("Jacoby" in text) == settings.jacoby
    assert ("beaver" in text) == (settings.beavers > 0)
    assert ("cube" in text) == settings.cube


@pytest.mark.parametrize(
    ("call", "error", "part"),
    [
        (lambda: parse_reply(OPENING, 5), NotationError, "a reply is text, not int"),
        (lambda: parse_reply(OPENING, "8/5", unit="move"), SettingsError, "unit is 'play'"),
        (lambda: prompt(OPENING, legal="yes"), SettingsError, "legal is True, False or the number"),
        (lambda: prompt(OPENING, legal=-1), SettingsError, "legal is True, False or the number"),
        (lambda: prompt(OPENING, board=1), SettingsError, "board"),
        (lambda: prompt(OPENING, seat=2), SettingsError, "seat is 0, 1 or None"),
        (lambda: reply_format(OPENING, unit=None), SettingsError, "unit is 'play'"),
    ],
)
def test_bad_arguments(call, error, part):
    with pytest.raises(error, match=part):
        call()
