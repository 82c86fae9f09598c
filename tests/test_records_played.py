"""Games that were played here: recorded, written in every format and read back the same; starts, ends and odd cases."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from random_games import SETTINGS, legal_actions, new, pick, throw, walk

from bg_env import rules as engine
from bg_env.actions import Event
from bg_env.errors import NotationError
from bg_env.game import Game
from bg_env.notation import read_position
from bg_env.records import (
    Entry,
    read_jsonl,
    read_mat,
    read_records,
    read_sgf,
    record_of,
    replay,
    retrace,
    session,
    write_jsonl,
    write_mat,
    write_records,
    write_sgf,
)
from bg_env.rules import STATE, Phase, Settings


def episode(settings, seed, stop=10**9):
    """An episode that throws its own dice: where it began, the actions, and the state it came to."""
    rng = random.Random(f"{settings} {seed}")
    rules = settings.record()
    states = new(settings, seed)
    start, actions = states.copy(), []
    engine.settle(states, 0, rules)
    while states[0]["phase"] != Phase.OVER and len(actions) < stop:
        actions.append(pick(rng, legal_actions(states, rules)))
        engine.apply(states, 0, rules, actions[-1])
        engine.settle(states, 0, rules)
    return start, actions, states


def follow(settings, start, events):
    """The state that these events lead to."""
    states, rules = start.copy(), settings.record()
    for event in events:
        if event.roll:
            engine.apply_roll(states, 0, rules, *event.roll)
        elif event.level:
            engine.resign(states, 0, rules, event.player, event.level)
        else:
            engine.apply(states, 0, rules, event.action)
    return states


def told(record, *, values=True):
    """The contents of each game as plain values, less those that `.mat` omits and, unless `values`, those that `.sgf` omits."""
    games = []
    for game in record.games:
        entries = [entry for entry in game.entries if entry.kind not in ("resign", "throw", "tie")]
        cube = game.cube << sum(entry.kind == "tie" for entry in game.entries)
        said = []
        for entry in entries:
            kind = "double" if entry.kind == "beaver" and not values else entry.kind
            text = entry.text if values else entry.text.replace("*", "")
            said.append((kind, entry.player, entry.dice, text, entry.value if values or kind == "win" else 0))
        games.append((game.score, cube, tuple(said)))
    return games


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_episodes_are_recorded_and_read_back(settings, tmp_path):
    for seed in range(6):
        start, actions, end = episode(settings, seed)
        events = retrace(start, settings, actions)
        after = follow(settings, start, events)
        after["rolls"] = end["rolls"]  # counted where dice are drawn from the stream
        assert (after == end).all()
        record = record_of(start, settings, events, ("Ann", "Bob"))
        again = replay(record)
        assert again.faults == ()
        last = again.states[[game.moments[-1].index for game in again.games][-1]]
        if not settings.max_turns:
            assert last["points"].tolist() == end[0]["points"].tolist()
            assert last["score"].tolist() == end[0]["score"].tolist()
        for k, game in enumerate(again.games, 1):
            states = again.states[[moment.index for moment in game.moments]]
            assert set(states["games"].tolist()) == {k}
            if game.winner is not None:  # the board stays as it was at the end, also where the match goes on
                assert states[-1]["phase"] == Phase.OVER
                assert (states[-1]["winner"], states[-1]["won"]) == (game.winner, game.points)
                off = int(states[-1]["points"][game.winner, 0])
                assert off == settings.variant.checkers or record.games[k - 1].entries[-2].kind in ("drop", "resign")
        assert sum(game.points for game in again.games if game.winner == 0) == (
            end[0]["score"][0] if settings.match_length else end[0]["won"] * (end[0]["winner"] == 0)
        )
        (lines,) = read_jsonl(write_jsonl([record]))
        assert lines == record
        for read, write, values in ((read_mat, write_mat, True), (read_sgf, write_sgf, False)):
            text = write(record)
            back = read(text)
            assert replay(back).faults == ()
            assert told(back, values=values) == told(record, values=values)
            assert (back.players, back.length, back.variant) == (record.players, record.length, record.variant)
            assert write(back) == text
        for ending in ("mat", "sgf", "jsonl"):
            write_records(tmp_path / f"game.{ending}", [record])
            (found,) = read_records(tmp_path / f"game.{ending}")
            assert told(found, values=ending != "sgf") == told(record, values=ending != "sgf")


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_unfinished_games(settings):
    """Broken off at any moment: the roll that waits is written, and the record is clean."""
    for seed in range(30):
        start, actions, _ = episode(settings, seed, stop=seed)
        record = record_of(start, settings, retrace(start, settings, actions))
        for back in (read_mat(write_mat(record)), read_sgf(write_sgf(record)), *read_jsonl(write_jsonl([record]))):
            assert replay(back).faults == ()


@pytest.mark.parametrize("settings", [Settings(), Settings(match_length=5), Settings("acey_deucey", cube=True)], ids=str)
def test_games_of_the_game_object(settings):
    for seed in range(5):
        rng = random.Random(seed)
        game = Game.from_states(new(settings, seed), settings, seeded=True)
        while game.phase != Phase.OVER:
            if rng.random() < 0.01:
                game.resign(1, rng.randrange(2))
            else:
                game.apply(pick(rng, game.legal_actions()))
        record = record_of(new(settings, seed), settings, game.history)
        assert replay(record).faults == ()
        assert read_jsonl(write_jsonl([record])) == [record]
        assert replay(read_mat(write_mat(record))).faults == ()
        assert sum(1 for g in record.games if any(e.kind == "resign" for e in g.entries)) == sum(
            e.level > 0 for e in game.history
        )


def test_games_from_positions():
    """From any state that a game comes to; `.sgf` holds those that an id can say, `.mat` none."""
    ids = states_only = 0
    for settings in SETTINGS:
        for k, states in enumerate(walk(settings, 3)):
            if k % 37 != 5 or states[0]["phase"] == Phase.OVER:
                continue
            rng, rules = random.Random(k), settings.record()
            now, events = states.copy(), []
            while now[0]["phase"] != Phase.OVER and len(events) < 40:
                if now[0]["phase"] in (Phase.OPENING, Phase.ROLL):
                    dice = throw(rng, now, rules)
                    opening = now[0]["phase"] == Phase.OPENING
                    player = (None if dice[0] == dice[1] else int(dice[1] > dice[0])) if opening else int(now[0]["turn"])
                    events.append(Event(player, roll=dice))
                    engine.apply_roll(now, 0, rules, *dice)
                else:
                    action = pick(rng, legal_actions(now, rules))
                    events.append(Event(int(now[0]["decider"]), action=action))
                    engine.apply(now, 0, rules, action)
            while now[0]["phase"] == Phase.CHECKER and now[0]["left"].sum() not in (2, 4):  # not in the middle of a roll
                action = pick(rng, legal_actions(now, rules))
                events.append(Event(int(now[0]["decider"]), action=action))
                engine.apply(now, 0, rules, action)
            record = record_of(states, settings, events)
            first = record.games[0]
            assert replay(record).faults == (), (settings, k)
            assert read_jsonl(write_jsonl([record])) == [record]
            if first.start or first.state:
                with pytest.raises(NotationError, match="starts from a position"):
                    write_mat(record)
            if first.state:
                states_only += 1
                with pytest.raises(NotationError, match="JSON lines"):
                    write_sgf(record)
            elif first.start:
                ids += 1
                back = read_sgf(write_sgf(record))
                assert replay(back).faults == ()
                assert told(back, values=False) == told(record, values=False)
                read = read_position(back.games[0].start, settings.variant, settings)[0]
                assert read["points"].tolist() == states["points"].tolist()
    assert ids > 20
    assert states_only > 20


def test_an_illegal_action_ends_the_episode():
    settings = Settings(match_length=5)
    start, actions, _ = episode(settings, 1, stop=20)
    record = record_of(start, settings, retrace(start, settings, [*actions, 149 if 149 not in actions else 148]))
    assert record.games[-1].entries[-2].kind == "illegal"
    assert record.games[-1].award.value >= 3
    assert replay(record).faults == ()
    assert read_jsonl(write_jsonl([record])) == [record]
    for write in (write_mat, write_sgf):
        with pytest.raises(NotationError, match="illegal action"):
            write(record)
    legal = replace(record.games[-1].entries[-2], value=actions[0])
    lied = replace(record, games=(*record.games[:-1], replace(record.games[-1], entries=(legal,))))
    assert "it is legal here" in replay(lied).faults[0].what or "cannot" in replay(lied).faults[0].what


def test_dice_and_starter_given_in_advance():
    settings = Settings()
    start, rules = new(settings, 9), settings.record()
    given = [(3, 1), (6, 5)]
    states = start.copy()
    engine.apply_roll(states, 0, rules, 3, 1)
    actions = []
    for die_text in range(2):
        actions.append(legal_actions(states, rules)[die_text])
        engine.apply(states, 0, rules, actions[-1])
    events = retrace(start, settings, actions, given)
    assert [event.roll for event in events if event.roll] == [(3, 1)]
    more = retrace(start, settings, [*actions, 150], given)
    assert [event.roll for event in more if event.roll] == given
    for starter in range(2):
        (first, *_) = retrace(start, settings, [], starter=starter)
        assert first.player == starter
    # opening ties among them are thrown again, in later games as well (R2.1)
    match = Settings(match_length=3)
    start, actions, _ = episode(match, 3)
    events, states, ties = retrace(start, match, actions), start.copy(), []
    for event in events:
        if event.roll:
            ties += [(4, 4)] * bool(states[0]["phase"] == Phase.OPENING) + [event.roll]
        states = follow(match, states, [event])
    assert ties.count((4, 4)) > 1
    assert retrace(start, match, actions, ties) == events
    # afterwards the stream goes on as if none had been given
    (drawn,) = retrace(start, settings, [])
    assert drawn.roll == tuple(map(int, engine.draw(start[0]["key"], np.uint32(0), True)))


def test_a_session_of_money_games():
    settings = Settings(jacoby=True)
    records = []
    for seed in range(4):
        start, actions, _ = episode(settings, seed)
        records.append(record_of(start, settings, retrace(start, settings, actions)))
    whole = session(records)
    assert [game.number for game in whole.games] == [1, 2, 3, 4]
    for back in (read_mat(write_mat(whole)), read_sgf(write_sgf(whole)), *read_jsonl(write_jsonl([whole]))):
        assert replay(back).faults == ()
        assert [game.score for game in back.games] == [game.score for game in whole.games]
    won = [sum(game.award.value for game in whole.games[:3] if game.award.player == player) for player in (0, 1)]
    assert list(whole.games[3].score) == won
    start, actions, _ = episode(settings, 9, stop=3)
    part = record_of(start, settings, retrace(start, settings, actions))
    assert len(session([*records, part]).games) == 5
    with pytest.raises(NotationError, match="unfinished"):
        session([part, *records])
    with pytest.raises(NotationError, match="same settings"):
        session([records[0], replace(records[1], players=("x", "y"))])
    with pytest.raises(NotationError, match="at least one"):
        session([])


def test_writing_files(tmp_path):
    settings = Settings()
    start, actions, _ = episode(settings, 2)
    record = record_of(start, settings, retrace(start, settings, actions), headers={"Event": "a test"})
    write_records(tmp_path / "two.jsonl", [record, replace(record, players=("A", "B"))])
    assert [r.players for r in read_records(tmp_path / "two.jsonl")] == [("player_0", "player_1"), ("A", "B")]
    for name, records, says in (("two.mat", [record] * 2, "holds one record"), ("one.txt", [record], "not as '.txt'")):
        with pytest.raises(NotationError, match=says):
            write_records(tmp_path / name, records)
        assert not (tmp_path / name).exists()
    odd = replace(record, games=(replace(record.games[0], entries=(Entry("unreadable", 0, text="what"),)),))
    for write in (write_mat, write_sgf, lambda r: write_jsonl([r])):
        with pytest.raises(NotationError, match="game 1 move 0 cannot be written: 'what' was not understood"):
            write(odd)


def test_states_that_a_line_makes_up_are_refused():
    states = np.zeros(1, STATE)
    settings = Settings()
    start = next(state for k, state in enumerate(walk(settings, 1)) if state[0]["left"].sum() == 1)
    record = record_of(start, settings, [])
    good = dict(record.games[0].state)
    assert replay(record).faults == ()
    wrong = [
        {},
        {**good, "key": 1},
        {**good, "turn": 2},
        {**good, "turn": None},
        {**good, "turn": -1},
        {**good, "dice": [7, 1]},
        {**good, "dice": [6]},
        {**good, "left": [4, 4]},
        {**good, "points": [[1] * 26, [0] * 26]},
        {**good, "points": "all"},
        {**good, "phase": 6},
        {**good, "phase": 1},
        {**good, "phase": 3, "chain": 1},
        {**good, "stage": 2},
        {**good, "score": [10**12, 0]},
        {**good, "cube": 1.5},
    ]
    for state in wrong:
        made_up = replace(record, games=(replace(record.games[0], state=state),))
        (fault,) = replay(made_up).faults
        assert fault.move == 0
    assert states[0]["phase"] == 0
