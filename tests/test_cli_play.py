"""Playing in the terminal: tolerant input, hints, undo within a roll, the cube, and a story that leaves nothing out."""

from __future__ import annotations

import re
import shutil
import signal
import sys
from pathlib import Path

import pytest
from cli_run import run

import bg_env
from bg_env.cli.play import STRENGTHS
from bg_env.cli.terminal import HELP, Screen, Story, choose, play, watch
from bg_env.players import PLAYERS, player
from bg_env.rules import Phase

pytestmark = pytest.mark.usefixtures("own_folder")

ROLLED = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"  # player 1 has rolled 3-1
DOUBLED = "XGID=-b----E-C---eE---c-e----B-:0:0:1:D:0:0:0:0:10"  # player 1 has doubled


class Talk:
    """A screen with the answers that will be given; what is said is kept."""

    def __init__(self, *answers, names=("White", "Black"), seat=None):
        self.answers = list(answers)
        self.lines = []
        self.screen = Screen(self.lines.append, self.ask, names, seat, unicode=False)

    def ask(self, prompt):
        self.lines.append(prompt)
        if not self.answers:
            raise EOFError
        return self.answers.pop(0)

    @property
    def text(self):
        return "\n".join(self.lines)


def game_of(text, seed=1, variant="backgammon"):
    game = bg_env.Game.from_xgid(text, variant, seed=seed)
    return game, bg_env.Game.from_xgid(text, variant).states


def session(text, *answers, seat=1, adviser=None, seed=1):
    """Play from an id until the answers are used up."""
    game, start = game_of(text, seed)
    talk = Talk(*answers)
    rival = player("pubeval", game.settings)
    over = play(game, start, seat, rival, talk.screen, adviser)
    return game, talk, over


def steps_played(game, seat=1):
    """The steps of the first roll of `seat`."""
    steps = []
    for event in game.history:
        if event.player != seat or event.roll:
            break
        steps.append(event.action)
    return steps


BEST = bg_env.Game.from_xgid(ROLLED)
BEST.play("8/5 6/5")
BEST_STEPS = sorted(event.action for event in BEST.history)


@pytest.mark.parametrize("text", ["8/5 6/5", "6/5 8/5", "8-5 6-5", "8 5 6 5", "8/5, 6/5", " 8/5  6/5 ", "8->5 6->5", "8/5;6/5"])
def test_a_play_may_be_written_in_many_ways(text):
    game, talk, over = session(ROLLED, text)
    assert sorted(steps_played(game)) == BEST_STEPS
    assert "Black 3-1: 8/5 6/5" in talk.text
    assert not over


@pytest.mark.parametrize(
    ("dice", "text", "told"),
    [
        ("31", "24/20", "24/20"),
        ("64", "24-14", "24/14"),
        ("66", "24/18(2) 13/7(2)", "24/18(2) 13/7(2)"),
        ("55", "13/3 13/3", "13/3(2)"),
        ("64", "8/2 6/2", "8/2 6/2"),
    ],
)
def test_moves_of_several_steps_and_of_doubles(dice, text, told):
    _, talk, _ = session(ROLLED.replace(":31:", f":{dice}:"), text)
    assert f"Black {dice[0]}-{dice[1]}: {told}" in talk.text


def test_one_step_at_a_time_is_asked_to_be_confirmed():
    game, talk, _ = session(ROLLED, "8/5", "6/5", "13/12", "")
    assert sorted(steps_played(game)) == BEST_STEPS
    assert "this makes 8/5 6/5" in talk.text
    assert "cannot be played" in talk.text or "the roll is played already" in talk.text or "no roll waits" in talk.text
    assert "1> " in talk.lines


def test_undo_takes_the_steps_of_the_roll_back():
    game, talk, _ = session(ROLLED, "undo", "13/10", "undo", "8/5", "6/5", "u", "24/20")
    assert "nothing to take back" in talk.text
    assert talk.text.count("taken back") == 2
    assert "Black 3-1: 24/20" in talk.text
    assert len(steps_played(game)) == 2


def test_undo_takes_a_whole_play_back_and_the_same_dice_come_again():
    """With what the opponent did after it; without a decision to come the same games are left as if it had not been made."""
    _, once, _ = session(ROLLED, "13/10 6/5", "roll", "pips")
    game, talk, _ = session(ROLLED, "8/5 6/5", "undo", "13/10 6/5", "roll", "undo", "undo", "13/10 6/5", "roll", "pips")
    assert talk.text.count("taken back: your last decision") == 3
    assert talk.lines.count("Black 3-1: 8/5 6/5") == 1
    assert talk.lines.count("Black 3-1: 13/10 6/5") == 2
    roll = next(line for line in reversed(once.lines) if line.endswith("> ") and line[0].isdigit())
    assert talk.lines.count(roll) == 3
    answers = [line for line in talk.lines if line.startswith("White ")]
    assert answers[1] == answers[2]
    assert talk.lines[-3:] == once.lines[-3:]
    assert steps_played(game) == steps_played(session(ROLLED, "13/10 6/5", "roll", "pips")[0])


def test_undo_goes_back_over_the_end_of_a_game_of_a_match():
    game = bg_env.Game.new("backgammon", seed=3, match_length=3)
    start = bg_env.Game.new("backgammon", match_length=3).states
    talk = Talk("resign", "yes", "undo", "pips")
    play(game, start, game.player, player("pubeval", game.settings), talk.screen)
    assert game.score == (0, 0)
    assert "taken back" in talk.text


def test_lines_of_prose_break_between_words_only():
    long = "'24/14' cannot be played: 6-1 cannot be shared among these moves; legal is 24/23 24/18 (or another of 11)"
    lines = []
    screen = Screen(lines.append, input, ("White", "Black"), unicode=False, width=60)
    screen.say(f"  {long}\nshort")
    first, second, third = lines[0].split("\n")
    assert f"{first} {second.strip()}" == f"  {long}"
    assert max(len(first), len(second)) <= 60
    assert (second[:2], third) == ("  ", "short")
    assert max(map(len, HELP.split("\n"))) < 80


def test_it_is_said_how_strong_the_opponent_is():
    table = (Path(__file__).parents[1] / "docs" / "strength.md").read_text("utf-8")
    for name, text in STRENGTHS.items():
        assert name.partition(":")[0] in PLAYERS
        assert len(f"{name} {text}.") <= 80
        for share, other in re.findall(r"([\d.]+) % of its games against (\w+)", text):
            (measured,) = re.findall(rf"^\| {name} \| {other} \| [\d,]+ \| [^|]* \| ([\d.]+)%", table, re.MULTILINE)[:1]
            assert float(measured) == pytest.approx(float(share), abs=0.05)
    for name in ("td", "pubeval"):
        assert f"\n{name} {STRENGTHS[name]}.\n" in run("play", "--opponent", name, input="quit\n").output


@pytest.mark.parametrize("word", ["undo", "u"])
def test_undo_where_no_roll_is_being_played_says_so(word):
    for text, seat in ((ROLLED.replace(":31:", ":00:"), 1), (DOUBLED, 0)):
        game, talk, _ = session(text, word, seat=seat)
        assert "nothing to take back" in talk.text
        assert "is not an action" not in talk.text
        assert not game.history


def test_plays_are_listed_and_chosen_by_number():
    game, talk, _ = session(ROLLED, "list", "#99", "#2")
    listed = [line for line in talk.lines if line.startswith("  #")]
    assert len(listed) == len(bg_env.Position.start().legal_plays(3, 1))
    assert "list numbers them from 1 to 16" in talk.text
    chosen = listed[1].split(maxsplit=1)[1].strip()
    assert f"Black 3-1: {chosen}" in talk.text
    assert steps_played(game)


def test_a_list_of_a_roll_begun_is_of_what_is_left():
    _, talk, _ = session(ROLLED, "8/5", "list", "undo")
    listed = [line for line in talk.lines if line.startswith("  #")]
    assert listed
    assert all(len(re.findall(r"\d+/\w+", line)) == 1 for line in listed)


@pytest.mark.parametrize("text", ["1/2", "nonsense", "8/3", "8/5 6/5 13/12", "25/20", "roll", "double", "99"])
def test_what_cannot_be_played_is_told_and_asked_again(text):
    game, talk, _ = session(ROLLED, text, "8/5 6/5")
    assert "(type help for the commands)" in talk.text
    assert sorted(steps_played(game)) == BEST_STEPS


def test_hints_come_from_the_adviser():
    game, _ = game_of(ROLLED)
    adviser = player("pubeval", game.settings)
    _, talk, _ = session(ROLLED, "hint", adviser=adviser)
    assert "pubeval would play 8/5 6/5" in talk.text
    _, talk, _ = session(DOUBLED, "hint", seat=0, adviser=adviser)
    assert "pubeval would take" in talk.text
    _, talk, _ = session(DOUBLED, "hint", seat=0)
    assert "possible: take, drop" in talk.text


def test_help_board_pips_and_id():
    game, talk, _ = session(ROLLED, "help", "?", "board", "pips", "id")
    assert talk.text.count("whole or one step at a time") == 2
    assert talk.text.count("+13-14-15") >= 2
    assert "pips: 167 for the player on roll, 167 for the other" in talk.text
    assert game.xgid in talk.text


@pytest.mark.parametrize("word", ["quit", "q", "exit"])
def test_the_person_may_leave(word):
    game, _, over = session(ROLLED, word)
    assert not over
    assert game.phase == Phase.CHECKER


@pytest.mark.parametrize(("text", "points"), [("resign", 1), ("resign gammon", 2), ("resign 3", 3), ("resign backgammon", 3)])
def test_the_person_may_resign(text, points):
    game, talk, over = session(ROLLED, "resign twice", text, "no", "pips", text, "yes")
    assert over
    assert talk.text.count(f"resign {('', 'a single game', 'a gammon', 'a backgammon')[points]}? yes or no> ") == 2
    assert talk.text.index("the game goes on") < talk.text.index("pips: 167 for the player on roll")
    assert (game.winner, game.points) == (0, points)
    assert "resign, resign gammon or resign backgammon" in talk.text
    assert f"White wins {('', 'a single game', 'a gammon', 'a backgammon')[points]}, {points} point" in talk.text


def test_a_resignation_in_a_match_begins_the_next_game():
    game = bg_env.Game.new("backgammon", seed=3, match_length=3)
    start = bg_env.Game.new("backgammon", match_length=3).states
    talk = Talk("resign", "y")
    seat = game.player
    play(game, start, seat, player("pubeval", game.settings), talk.screen)
    assert max(game.score) == 1
    assert "begins" in talk.text.split("wins a single game, 1 point; the score is")[1]


@pytest.mark.parametrize("word", ["take", "t", "y", "yes"])
def test_a_double_is_taken(word):
    game, talk, _ = session(DOUBLED, word, seat=0)
    assert (game.cube, game.cube_owner) == (2, 0)
    assert "White takes, the cube stands at 2" in talk.text


@pytest.mark.parametrize("word", ["drop", "n", "no", "pass"])
def test_a_double_is_dropped(word):
    game, talk, over = session(DOUBLED, "maybe", word, seat=0)
    assert over
    assert (game.winner, game.points) == (1, 1)
    assert "'maybe' is not an action" in talk.text
    assert "White drops" in talk.text


def test_enter_rolls_and_double_doubles():
    before = ROLLED.replace(":31:", ":00:")
    game, talk, _ = session(before, "")
    assert game.dice
    assert "roll or double> " in talk.lines
    game, talk, _ = session(before, "double")
    assert game.cube == 2
    assert "Black doubles to 2" in talk.text
    assert "White takes, the cube stands at 2" in talk.text


def test_a_beaver_is_offered_where_it_is_in_force():
    text = DOUBLED.replace(":D:0:0:0:0:10", ":D:0:0:2:0:10")
    game, talk, _ = session(text, "beaver", seat=0)
    assert "take or drop or beaver> " in talk.lines
    assert "White turns the cube again, to 4" in talk.text
    assert game.cube == 4


def test_a_double_is_named_by_a_number():
    game = bg_env.Game.new("acey_deucey", seed=0)
    seed = next(seed for seed in range(200) if bg_env.Game.new("acey_deucey", seed=seed).dice == (2, 1))
    game, start = bg_env.Game.new("acey_deucey", seed=seed), bg_env.Game.new("acey_deucey").states
    seat = game.player
    talk = Talk("bar/24 bar/23", "7", "6", "#1")
    play(game, start, seat, player("pubeval", game.settings), talk.screen)
    assert "name a double> " in talk.lines
    assert "names 6-6" in talk.text
    assert re.search(r"(White|Black) 6-6: bar/19\(4\)", talk.text)


# Whole games


def anything(game, talk):
    """Answers that go on with the game, whatever is asked."""

    def ask(prompt):
        talk.lines.append(prompt)
        return {Phase.CHECKER: "#1", Phase.ROLL_OR_DOUBLE: "double", Phase.TAKE_OR_DROP: "take", Phase.CHOOSE_DOUBLE: "3"}[
            game.phase
        ]

    return ask


@pytest.mark.parametrize(
    "settings", [{}, {"match_length": 3}, {"cube": False}, {"beavers": 2, "jacoby": True, "auto_doubles": 2}]
)
@pytest.mark.parametrize("variant", bg_env.VARIANTS)
def test_a_game_is_played_to_its_end_and_told(variant, settings):
    if variant == "acey_deucey":
        settings = {"cube": True} | settings
    game = bg_env.Game.new(variant, seed=11, **settings)
    start = bg_env.Game.new(variant, **settings).states
    talk = Talk()
    talk.screen.ask = anything(game, talk)
    assert play(game, start, 0, player("random", game.settings), talk.screen)
    assert game.phase == Phase.OVER
    rolls = sum(event.roll is not None and event.player is not None for event in game.history)
    told = sum(bool(re.match(r"(White|Black) \d-\d: ", line)) for line in talk.lines)
    named = sum(event.action is not None and event.action >= 155 for event in game.history)
    throws = sum("begins" in line for line in talk.lines)
    fresh = throws if game.settings.variant.fresh_first_roll else 0
    assert told == rolls + named - fresh
    assert re.search(r"wins (a single game|a gammon|a backgammon), \d+ points?", talk.text)


def test_a_story_tells_each_roll_once_it_is_played():
    game, start = game_of(ROLLED)
    story = Story(start, game.settings, ("White", "Black"))
    assert story.news(game) == []
    game.apply(BEST.history[0].action)
    assert story.news(game) == []
    game.apply(BEST.history[1].action)
    assert story.news(game)[0] == "Black 3-1: 8/5 6/5"
    assert story.news(game) == []


def test_a_dance_is_told():
    """Black is on the bar before a closed board."""
    mover = [0, 0, 0, 0, 0, 0, 13] + [0] * 18 + [2]
    other = [0, 2, 2, 2, 2, 2, 2, 3] + [0] * 18
    shut = bg_env.Position(mover, other)
    game, start = game_of(_xgid(shut))
    story = Story(start, game.settings, ("White", "Black"))
    assert any(re.fullmatch(r"Black \d-\d: cannot move", line) for line in story.news(game))


def _xgid(position):
    """The position as an XGID in which the mover, who owns no cube, has to roll."""
    letters = ["-"] * 26
    for point in range(1, 26):
        if position.mover[point]:
            letters[point] = chr(64 + position.mover[point])
        if position.opponent[point]:
            letters[25 - point] = chr(96 + position.opponent[point])
    return f"XGID={''.join(letters)}:1:-1:1:00:0:0:0:0:10"


def test_opening_ties_that_double_are_told():
    settings = {"auto_doubles": 3}
    seed = next(seed for seed in range(100) if bg_env.Game.new(seed=seed, **settings).cube == 2)
    game, start = bg_env.Game.new(seed=seed, **settings), bg_env.Game.new(**settings).states
    lines = Story(start, game.settings, ("White", "Black")).news(game)
    assert re.fullmatch(r"Both throw \d: the cube is doubled", lines[0])
    assert re.fullmatch(r"White throws \d, Black \d: (White|Black) begins", lines[1])


def test_you_are_spoken_to_in_sentences():
    seen = []
    for seat, names in ((0, ("you", "pubeval")), (1, ("pubeval", "you"))):
        for seed in range(3):
            game = bg_env.Game.new(seed=seed, match_length=2, beavers=0)
            talk = Talk(names=names)
            talk.screen.ask = anything(game, talk)
            play(game, bg_env.Game.new(match_length=2).states, seat, player("pubeval", game.settings), talk.screen)
            seen += [line for line in talk.lines if "\n" not in line and not line.endswith("> ")]
    told = "\n".join(seen)
    assert not re.search(r"\byou (throws|begins|doubles|takes|drops|wins)\b", told, re.IGNORECASE)
    assert re.search(r"^You throw \d, pubeval \d: (you begin|pubeval begins)$", told, re.MULTILINE)
    assert re.search(r"^pubeval throws \d, you \d: (you begin|pubeval begins)$", told, re.MULTILINE)
    assert re.search(r"^You double to 2$", told, re.MULTILINE)
    assert re.search(r"^pubeval takes, the cube stands at 2$", told, re.MULTILINE)
    assert re.search(r"^You (\d)-(\d): ", told, re.MULTILINE)
    assert re.search(r"^(You win|pubeval wins) .*, and the match \d-\d$", told, re.MULTILINE)
    game, talk = game_of(ROLLED)[0], Talk("resign", "yes", names=("pubeval", "you"))
    play(game, game_of(ROLLED)[1], 1, player("pubeval", game.settings), talk.screen)
    assert "You resign a single game" in talk.lines


def test_how_it_ended_is_told_once():
    for arguments, given in (
        (["watch", "pubeval", "random", "--delay", "0"], ""),
        (["play", "--opponent", "pubeval"], "resign\nyes\n" * 3),
    ):
        result = run(*arguments, "--seed", "3", "--no-cube", "--ascii", input=given)
        assert result.exit_code == 0
        assert len(re.findall(r"wins a (?:single game|gammon|backgammon), \d points?", result.output)) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", ["watch", "play"])
def test_ctrl_c_and_sigterm_keep_what_was_played(command, number, tmp_path, monkeypatch):
    file = tmp_path / "game.mat"

    def stop(*_):
        signal.raise_signal(number)

    if command == "watch":
        monkeypatch.setattr("bg_env.cli.play.time.sleep", stop)
        arguments = ["watch", "pubeval", "random", "--delay", "1"]
    else:
        monkeypatch.setattr("builtins.input", stop)
        arguments = ["play", "--opponent", "pubeval", "--seat", "1"]
    result = run(*arguments, "--seed", "3", "--no-cube", "--save", str(file))
    assert result.exit_code == 130
    assert f"written: {file}" in result.output
    assert ("To continue this game: " in result.output) == (command == "play")
    assert run("replay", str(file)).output == f"{file}: 1 game, no fault\n"
    assert re.search(r"1\) +\d\d:", file.read_text())


def test_watching_pauses_after_each_turn():
    game, start = bg_env.Game.new("hypergammon", seed=1), bg_env.Game.new("hypergammon").states
    talk, pauses = Talk(), []
    two = [player("pubeval", game.settings), player("random", game.settings)]
    watch(game, start, two, talk.screen, lambda: pauses.append(1))
    assert game.phase == Phase.OVER
    assert talk.text.count("+13-14-15") == len(pauses) + 1


def test_a_player_chooses_the_same_in_the_same_game():
    game = bg_env.Game.new(seed=5)
    rival = player("random", game.settings)
    first = choose(rival, game)
    assert first == choose(rival, game)
    assert set(first) <= set(game.legal_actions())


def test_play_from_the_command_line():
    def play_with(*arguments, given=""):
        return run("play", *arguments, input=given)

    result = play_with("--opponent", "pubeval", "--seed", "3", "--no-cube", "--ascii", given="help\nquit\n")
    assert result.exit_code == 0
    assert "You are White (O) against pubeval; the dice are those of --seed 3.\n" in result.output
    assert re.search(r"(bg-env|bg_env) play --seat 0 --position XGID=\S+ --variant \S+ --opponent \S+\n", result.output)
    again = re.search(r"--position (XGID=\S+)", result.output).group(1)
    assert play_with("--seat", "0", "--position", again, given="quit\n").exit_code == 0
    result = play_with("--seed", "3", "--seat", "1", "--opponent", "random", given="resign\nyes\n" * 3)
    assert "You are Black (X) against random" in result.output
    assert "random wins a single game, 1 point" in result.output
    assert play_with("--seed", "3", "--match-length", "5").output.count("match to 5") >= 1


@pytest.mark.parametrize("ending", ["mat", "sgf", "jsonl"])
def test_what_was_played_can_be_saved_and_replayed(ending, tmp_path):
    file = tmp_path / f"game.{ending}"
    arguments = ["watch", "pubeval", "random", "--seed", "3", "--delay", "0", "--no-cube", "--save", str(file)]
    result = run(*arguments)
    assert result.output.splitlines()[-1] == f"written: {file}"
    assert run("replay", str(file)).output.endswith(f"{file}: 1 game, no fault\n")
    played = tmp_path / f"left.{ending}"
    result = run("play", "--seed", "3", "--save", str(played), input="#1\nquit\n")
    assert run("replay", str(played)).exit_code == 0, result.output


@pytest.mark.parametrize("option", ["--save", "--gif"])
def test_a_file_that_exists_is_replaced_only_if_asked(option, tmp_path):
    if option == "--gif":
        pytest.importorskip("PIL")
    file = tmp_path / ("game.sgf" if option == "--save" else "game.gif")
    file.write_text("mine")
    command = [
        "watch",
        "random",
        "random",
        "--seed",
        "3",
        "--delay",
        "0",
        "--variant",
        "hypergammon",
        "--no-cube",
        option,
        file,
    ]
    result = run(*command)
    assert (result.exit_code, result.output.count("\n")) == (2, 1)
    assert "replace it with --overwrite" in result.output
    assert file.read_text() == "mine"
    assert run(*command, "--overwrite").exit_code == 0
    assert file.read_bytes() != b"mine"


@pytest.mark.skipif(sys.platform == "win32", reason="links need a permission there")
def test_a_file_that_is_read_or_has_another_ending_is_never_replaced(tmp_path):
    net, link = tmp_path / "net.mat", tmp_path / "link.mat"
    shutil.copy(Path(bg_env.__file__).parent / "data" / "td.npz", net)
    whole = net.read_bytes()
    for white in (f"greedy:{net}", f"greedy:{tmp_path}/../{tmp_path.name}/net.mat"):
        result = run("watch", white, "random", "--delay", "0", "--save", net, "--overwrite")
        assert (result.exit_code, "which is read" in result.output) == (2, True), result.output
    other = tmp_path / "notes.md"
    other.write_text("mine")
    link.symlink_to(other)
    result = run("watch", "random", "random", "--delay", "0", "--save", link, "--overwrite")
    assert (result.exit_code, "leads to" in result.output) == (2, True)
    assert (net.read_bytes(), other.read_text()) == (whole, "mine")


@pytest.mark.parametrize("file", ["game.txt", "no/such/folder/game.mat"])
def test_what_cannot_be_saved_is_refused_before_the_game(file):
    result = run("watch", "random", "random", "--delay", "0", "--save", file)
    assert result.exit_code == 2
    assert "ends with .mat, .sgf or .jsonl" in result.output
    assert "The dice" not in result.output
    result = run("play", "--save", file, input="quit\n")
    assert (result.exit_code, len(result.output.splitlines())) == (2, 1)


@pytest.mark.parametrize("command", [["watch", "random", "bob"], ["play", "--opponent", "bob"], ["play", "--hints-by", "bob"]])
def test_arguments_are_refused_before_the_folder_of_the_record_is_looked_at(command):
    result = run(*command, "--save", "no/such/folder/game.mat")
    assert result.exit_code == 2
    assert "no player is called 'bob'" in result.output
    result = run(*command, "--match-length", "-1", "--save", "no/such/folder/game.mat")
    assert "match_length is a whole number" in result.output
