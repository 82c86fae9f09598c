"""The small net of `luck="fast"`: fitted to the net of "td" on the plays that it chooses between.

    python benchmarks/luck_net.py --out bg_env/data/luck.npz

Games of "td" against itself, with a tenth of the plays at random, give decisions; the plays of each that are within .25 points
of the best (and a few of the others) are fitted to the probabilities that "td" gives them, and to the equity that follows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np
import torch
from tqdm import tqdm

from bg_env import Settings
from bg_env.observations import encoder
from bg_env.players import ValueNet, ValuePlayer
from bg_env.players.names import shipped
from bg_env.players.valuenet.net import OUTCOMES
from bg_env.rules import STATE, Phase, new_episode, plays, settle

POINTS = np.array([1, 2, 3, -1, -2, -3])
_NEAR, _OTHERS, _AT_RANDOM = 0.25, 0.05, 0.1


def positions(number: int, games: int, rng: np.random.Generator) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Inputs float16 (number, 198) and probabilities by "td" float32 (number, 6), as the player on roll sees them."""
    settings = Settings(cube=False)
    rules, td, encode = settings.record(), ValuePlayer(shipped("td"), settings=settings), encoder("tesauro198").kernel
    inputs, labels = np.empty((number, 198), np.float16), np.empty((number, OUTCOMES), np.float32)
    states, n = np.zeros(games, STATE), 0
    states["phase"] = Phase.OVER
    with tqdm(total=number, unit="position") as bar:
        while n < number:
            for i in range(games):
                if states[i]["phase"] == Phase.OVER:
                    new_episode(states, i, rules, np.uint64(rng.integers(2**63)))
                settle(states, i, rules)
            moving = np.flatnonzero(states["phase"] == Phase.CHECKER)
            offsets, _, after = plays(states[moving], rules)
            found = td.probabilities(after)
            owner = np.repeat(np.arange(len(moving)), np.diff(offsets))
            same = after["turn"] == states["turn"][moving][owner]
            values = (found @ POINTS) * np.where(same, 1, -1)
            top = np.maximum.reduceat(values, offsets[:-1])
            wanted = (after["phase"] == Phase.ROLL) & ((values > top[owner] - _NEAR) | (rng.random(len(after)) < _OTHERS))
            chosen = np.flatnonzero(wanted)[: number - n]
            rows = np.zeros((len(chosen), 198), np.float32)
            encode(after[chosen], rules, after["turn"][chosen].astype(np.int8), rows)
            inputs[n : n + len(chosen)], labels[n : n + len(chosen)] = rows, found[chosen]
            n += len(chosen)
            bar.update(len(chosen))
            for k, i in enumerate(moving.tolist()):
                lo, hi = offsets[k], offsets[k + 1]
                best = lo + int(np.argmax(values[lo:hi])) if rng.random() >= _AT_RANDOM else int(rng.integers(lo, hi))
                states[i] = after[best]
    return inputs, labels


@click.command(help=__doc__)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="File of the net.")
@click.option("--hidden", type=int, nargs=2, default=(64, 16), show_default=True, help="Units of the hidden layers.")
@click.option("--positions", "number", type=int, default=1_500_000, show_default=True, help="Positions to fit.")
@click.option("--epochs", type=int, default=6, show_default=True, help="Passes over them.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of games, weights and order.")
def main(out: Path, hidden: tuple[int, int], number: int, epochs: int, seed: int) -> None:
    """Play, fit and write."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    inputs, labels = positions(number, 1000, rng)
    layers = [torch.nn.Linear(198, hidden[0]), torch.nn.Linear(hidden[0], hidden[1]), torch.nn.Linear(hidden[1], OUTCOMES)]
    net = torch.nn.Sequential(layers[0], torch.nn.ReLU(), layers[1], torch.nn.ReLU(), layers[2])
    steps, size = epochs * (number // 1024), 1024
    optimizer = torch.optim.Adam(net.parameters(), lr=4e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=steps)
    points = torch.tensor(POINTS, dtype=torch.float32)
    bar = tqdm(total=steps, unit="update")
    for _ in range(epochs):
        order = rng.permutation(number)
        for lo in range(0, number - size + 1, size):
            which = order[lo : lo + size]
            x, y = torch.from_numpy(inputs[which].astype(np.float32)), torch.from_numpy(labels[which])
            found = net(x)
            away = (torch.softmax(found, 1) - y) @ points
            loss = torch.nn.functional.cross_entropy(found, y) + 4 * (away**2).mean()
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
            bar.update()
            if bar.n % 200 == 0:
                bar.set_postfix_str(f"rms of equity {float((away.detach() ** 2).mean()) ** 0.5:.4f}")
    arrays = {}
    for k, layer in enumerate(layers, 1):
        arrays[f"w{k}"], arrays[f"b{k}"] = layer.weight.detach().numpy().T, layer.bias.detach().numpy()
    about = {"made": "benchmarks/luck_net.py", "positions": number, "epochs": epochs, "seed": seed, "fitted_to": "td"}
    ValueNet(about=about, **arrays).save(out)
    bar.close()


if __name__ == "__main__":
    main()
