"""The lessons of the two texts that the game is made from: each of their statements, played.

White is player 0 and moves from point 24 down to 1 of its own numbering; the texts' index of a point is White's point - 1,
which is 24 - Black's point (R1.3).
"""

from __future__ import annotations

import pytest

from bg_env import Game, Position
from bg_env.rules import VARIANTS, Settings, set_up

ROLL, DOUBLE, TAKE, DROP = 150, 151, 152, 153
WHITE, BLACK = 0, 1


def step(source, die):
    return (source - 1) * 6 + die - 1


def side(points, checkers=15):
    counts = [0] * 26
    for point, n in points.items():
        counts[point] = n
    counts[0] = checkers - sum(counts)
    return counts


def position(mover, opponent, variant="backgammon"):
    """Both sides by points, each on its own numbering; checkers not named are borne off."""
    checkers = VARIANTS[variant].checkers
    return Position(side(mover, checkers), side(opponent, checkers), variant)


def game(white, black, *, turn=WHITE, roll=(0, 0), cube=0, owner=-1, **settings):
    """A game set up by hand, at the dice if some are given, else before the roll."""
    chosen = Settings("backgammon", **settings)
    states = Game.new("backgammon").states
    states["points"][0, WHITE], states["points"][0, BLACK] = side(white), side(black)
    states["turn"], states["cube"], states["owner"] = turn, cube, owner
    set_up(states, 0, chosen.record(), *roll)
    return Game.from_states(states, chosen)


def index(player, point):
    """The texts' index of a player's point."""
    return point - 1 if player == WHITE else 24 - point


START = {24: 2, 13: 5, 8: 3, 6: 5}


# How to play


def test_the_board_has_24_points_and_15_checkers_a_side_in_a_fixed_pattern():
    start = Position.start()
    assert start.mover == start.opponent == tuple(side(START))
    held = {index(WHITE, p): n for p, n in enumerate(start.mover) if 1 <= p <= 24 and n}
    against = {index(BLACK, p): n for p, n in enumerate(start.opponent) if 1 <= p <= 24 and n}
    assert held == {23: 2, 12: 5, 7: 3, 5: 5}
    assert against == {0: 2, 11: 5, 16: 3, 18: 5}
    assert start.pips == (167, 167)


def test_white_moves_down_and_black_moves_up():
    for player, mover in ((WHITE, -1), (BLACK, 1)):
        match = game(START, START, turn=player, roll=(3, 1))
        match.apply(step(8, 3))
        assert index(player, 8) + 3 * mover == index(player, 5)
        assert match.states[0]["points"][player].tolist()[5] == 1


def test_white_has_rolled_6_and_1():
    """ "perhaps moving one checker 6 points and another 1 point, or a single checker 6 then 1 (total 7 points)"."""
    plays = {str(play): play for play in Position.start().legal_plays(6, 1)}
    ends = {play.result.opponent for play in plays.values()}
    assert len(plays) == len(ends) == 10
    made_points = side({24: 2, 13: 4, 8: 2, 7: 2, 6: 5})
    assert tuple(made_points) in ends  # one checker 6 and another 1
    assert tuple(side({24: 2, 13: 4, 8: 3, 6: 6})) in ends  # a single one 6 then 1
    assert tuple(side({24: 1, 17: 1, 13: 5, 8: 3, 6: 5})) not in ends  # nor 24/17: three of Black's are there
    assert all(len(play.steps) == 2 for play in plays.values())


def test_a_single_checker_may_make_both_steps_either_way_round():
    """ "a single checker 5 points and then 3 more points (or 3 then 5)"."""
    for first, second in ((5, 3), (3, 5)):
        match = game({13: 2, 6: 5}, {13: 2}, roll=(5, 3))
        match.apply(step(13, first))
        match.apply(step(13 - first, second))
        assert match.states[0]["points"][WHITE].tolist() == side({13: 1, 5: 1, 6: 5})
        assert match.player == BLACK


def test_where_one_can_land():
    """Empty, own, or a single opposing checker; never two or more."""
    for there, may in (({}, True), ({WHITE: 1}, True), ({BLACK: 1}, True), ({BLACK: 2}, False), ({BLACK: 5}, False)):
        white, black = {13: 1, 1: 1}, {1: 1}
        if WHITE in there:
            white[8] = there[WHITE]
        if BLACK in there:
            black[25 - 8] = there[BLACK]
        assert (step(13, 5) in game(white, black, roll=(5, 5)).legal_actions()) is may


def test_both_dice_if_possible_and_the_larger_if_only_one():
    assert game({13: 1}, {19: 2}, roll=(5, 2)).legal_actions() == [step(13, 5)]  # 13/6 is shut: not both
    assert game({24: 1}, {7: 2, 12: 2}, roll=(6, 5)).legal_actions() == [step(24, 5)]  # no 6 at all


def test_a_turn_without_a_legal_step_is_forfeit():
    match = game({25: 1, 6: 3}, dict.fromkeys(range(1, 7), 2), roll=(6, 5))
    assert (match.player, str(match.phase)) == (BLACK, "ROLL_OR_DOUBLE")
    (dance,) = position({25: 1, 6: 3}, dict.fromkeys(range(1, 7), 2)).legal_plays(6, 5)
    assert dance.steps == ()


def test_white_has_a_lone_checker_on_13_and_black_hits_it():
    """Index 12 is Black's point 12: from its 13 with a 1, from its 18 with a 6."""
    assert index(WHITE, 13) == index(BLACK, 12)
    match = game({13: 1, 6: 5}, {18: 1, 13: 2, 6: 5}, turn=BLACK, roll=(6, 1))
    assert {step(18, 6), step(13, 1)} <= set(match.legal_actions())
    match.apply(step(18, 6))
    points = match.states[0]["points"]
    assert points[BLACK].tolist()[12] == 1
    assert points[WHITE].tolist()[25] == 1
    assert points[WHITE].tolist()[13] == 0


@pytest.mark.parametrize("player", [WHITE, BLACK])
@pytest.mark.parametrize("die", range(1, 7))
def test_where_one_enters(player, die):
    """White on points 24-19, indices 23-18; Black on points 1-6, indices 0-5."""
    sides = ({25: 1, 6: 4}, {7: 4})
    match = game(*(sides if player == WHITE else sides[::-1]), turn=player, roll=(die, die))
    assert match.legal_actions() == [step(25, die)]
    match.apply(step(25, die))
    assert match.states[0]["points"][player].tolist()[25 - die] == 1
    assert index(player, 25 - die) == (24 - die if player == WHITE else die - 1)


def test_white_is_on_the_bar_and_rolled_4_and_2():
    white = {25: 1, 13: 5, 8: 3, 6: 5}
    free = game(white, {6: 1, 13: 3}, roll=(4, 2))
    assert free.legal_actions() == [step(25, 2), step(25, 4)]
    free.apply(step(25, 4))
    assert step(13, 2) in free.legal_actions()  # the rest of the roll is free
    one = game(white, {4: 2, 6: 1}, roll=(4, 2))
    assert one.legal_actions() == [step(25, 2)]
    shut = game(white, {4: 2, 2: 2}, roll=(4, 2))
    assert shut.player == BLACK  # both points blocked: the turn is lost


def test_white_is_home_and_rolled_5_and_3():
    match = game({6: 2, 5: 2, 3: 2, 1: 1}, {6: 1, 20: 3}, roll=(5, 3))
    assert {step(5, 5), step(3, 3)} <= set(match.legal_actions())
    match.apply(step(5, 5))
    match.apply(step(3, 3))
    assert match.states[0]["points"][WHITE].tolist() == side({6: 2, 5: 1, 3: 1, 1: 1})


def test_bearing_off_where_no_checker_sits_on_the_exact_point():
    """From a higher point one must move; with none higher, the farthest goes off."""
    higher = game({6: 1, 4: 1, 2: 1}, {24: 1}, roll=(5, 5))
    assert higher.legal_actions() == [step(6, 5)]
    none = game({4: 2, 2: 1}, {24: 1}, roll=(5, 6))
    assert none.legal_actions() == [step(4, 5), step(4, 6)]


@pytest.mark.parametrize(("player", "at"), [(WHITE, 3), (BLACK, 20)])
def test_a_roll_of_4_bears_off_from_ones_4_point(player, at):
    """White's index 3; Black's 4-point is the text's point 21, index 20."""
    assert index(player, 4) == at
    sides = ({4: 2}, {13: 2})
    match = game(*(sides if player == WHITE else sides[::-1]), turn=player, roll=(4, 1))
    match.apply(step(4, 4))
    assert match.states[0]["points"][player].tolist()[0] == 14


def test_nobody_bears_off_with_a_checker_outside():
    assert game({7: 1, 4: 3}, {24: 1, 20: 2}, roll=(4, 4)).legal_actions() == [step(7, 4)]
    assert step(4, 4) not in game({25: 1, 4: 3}, {24: 1}, roll=(4, 4)).legal_actions()


def test_white_has_rolled_double_3s():
    """Four moves of three, by one, two, three or four checkers."""
    plays = Position.start().legal_plays(3, 3)
    assert {len(play.steps) for play in plays} == {4}
    assert {step.die for play in plays for step in play.steps} == {3}
    sources = set()
    for play in plays:
        left, chains = list(play.steps), 0
        while left:  # one checker's steps, end to end
            here = left.pop(0)
            chains += 1
            while follow := next((s for s in left if s.source == here.target), None):
                left.remove(follow)
                here = follow
        sources.add(chains)
    assert sources >= {2, 3, 4}
    assert len(position({24: 1, 1: 1}, {2: 2}).legal_plays(3, 3)) == 1  # 24/12 with one checker


def test_double_6s_advance_24_points():
    play = position({24: 1, 18: 3, 1: 1}, {4: 1}).legal_plays(6, 6)[0]
    assert sum(step.die for step in play.steps) == 24


@pytest.mark.parametrize(
    ("black", "points"),
    [({24: 1, 5: 13}, 1), ({25: 1, 5: 13}, 1), ({18: 1, 5: 14}, 2), ({19: 1, 5: 14}, 3), ({25: 1, 5: 14}, 3)],
    ids=["one borne off", "one borne off, one on the bar", "none borne off", "one in White's home board", "one on the bar"],
)
def test_white_bears_off_its_last_checker(black, points):
    match = game({2: 1}, black, roll=(6, 3))
    match.apply(match.legal_actions()[0])
    assert (match.winner, match.points, str(match.phase)) == (WHITE, points, "OVER")
    assert match.position.mover[0] == 15
    assert match.legal_actions() == []


def test_the_last_checker_for_a_gammon():
    match = game({1: 1}, START, roll=(2, 1))
    match.apply(step(1, 2))
    assert (match.winner, match.points) == (WHITE, 3)  # two of Black's are still on its 24: White's ace point
    match = game({1: 1}, {13: 5, 8: 5, 6: 5}, roll=(2, 1))
    match.apply(step(1, 2))
    assert (match.winner, match.points) == (WHITE, 2)


def test_the_cube_at_4_owned_by_white():
    """Only White can propose the next double to 8."""
    white = game(START, START, turn=WHITE, cube=2, owner=WHITE)
    assert (white.cube, white.cube_owner, white.legal_actions()) == (4, WHITE, [ROLL, DOUBLE])
    black = game(START, START, turn=BLACK, cube=2, owner=WHITE)
    assert (str(black.phase), black.legal_actions()) == ("ROLL", [])
    white.apply(DOUBLE)
    dropped = white.copy()
    dropped.apply(DROP)
    assert (dropped.winner, dropped.points) == (WHITE, 4)  # at the stakes before
    white.apply(TAKE)
    assert (white.cube, white.cube_owner) == (8, BLACK)


def test_the_nackgammon_of_the_text():
    start = Position.start("nackgammon")
    assert start.mover == start.opponent == tuple(side({24: 4, 23: 1, 13: 2, 8: 3, 6: 5}))
    assert sum(start.mover) == 15


def test_acey_deucey_enters_all_fifteen_first():
    match = Game.new("acey_deucey")
    match.apply_roll(5, 2)
    assert match.position.mover[25] == match.position.opponent[25] == 15
    match.apply_roll(4, 3)
    assert match.legal_actions() == [step(25, 3), step(25, 4)]


def test_the_best_roll_of_acey_deucey():
    """ "You play the 1 and 2, then choose any doubles you like and play those four moves, then roll again"."""
    match = Game.new("acey_deucey")
    match.apply_roll(5, 2)
    match.apply_roll(1, 2)
    match.apply(step(25, 2))
    match.apply(step(25, 1))
    assert match.legal_actions() == [155, 156, 157, 158, 159, 160]
    match.apply(159)
    for _ in range(4):
        match.apply(step(25, 5))
    assert (match.player, str(match.phase)) == (WHITE, "ROLL")


# Cheery Chimp


@pytest.mark.parametrize(("die", "point"), [(1, 24), (6, 19)])
def test_a_1_enters_on_24_and_a_6_on_19(die, point):
    match = game({25: 1, 6: 2}, {6: 1, 13: 2}, roll=(die, die))
    match.apply(step(25, die))
    assert match.states[0]["points"][WHITE].tolist()[point] == 1


def test_a_6_bears_off_from_the_4_point_if_that_is_the_highest():
    match = game({4: 2, 1: 3}, {13: 2}, roll=(6, 5))
    assert match.legal_actions() == [step(4, 5), step(4, 6)]


def test_a_checker_that_is_hit_while_bearing_off_must_come_round_first():
    hit = game({3: 1, 1: 2}, {25: 1, 6: 2}, turn=BLACK, roll=(3, 3))
    hit.apply(step(25, 3))
    while hit.player == BLACK and str(hit.phase) == "CHECKER":
        hit.apply(hit.legal_actions()[0])
    assert hit.states[0]["points"][WHITE].tolist()[25] == 1
    if str(hit.phase) == "ROLL_OR_DOUBLE":
        hit.apply(ROLL)
    hit.apply_roll(5, 1)
    assert hit.legal_actions() == [step(25, 1), step(25, 5)]


@pytest.mark.parametrize("log2", range(6))
def test_the_cube_has_the_faces_of_the_text(log2):
    """2, 4, 8, 16, 32, 64, and no further."""
    match = game(START, START, cube=log2, owner=WHITE if log2 else -1)
    match.apply(DOUBLE)
    match.apply(TAKE)
    assert match.cube in {2, 4, 8, 16, 32, 64}
    assert game(START, START, cube=6, owner=WHITE).legal_actions() == []


def test_a_gammon_at_4_is_worth_8_points():
    match = game({1: 1}, {6: 15}, roll=(2, 1), cube=2, owner=BLACK)
    match.apply(step(1, 1))
    assert match.points == 8


def test_the_advice_to_take_with_one_chance_in_four():
    """R8.7, as advice: at which share of wins a take costs as much as a drop, out of the points that the game gives."""
    offered = game({1: 1}, {6: 1})
    offered.apply(DOUBLE)
    dropped = offered.copy()
    dropped.apply(DROP)
    offered.apply(TAKE)
    won = lost = offered.cube  # without gammons, and the cube not turned again
    share = (lost - dropped.points) / (won + lost)
    assert share == pytest.approx(0.25)
