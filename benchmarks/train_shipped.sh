#!/bin/sh
# The nets in bg_env/data, made anew from nothing by self-play: sh benchmarks/train_shipped.sh FOLDER (two cores, an hour and a
# half; needs the extra train). The figures of each step are in docs/strength.md.
set -eu
runs=${1:?give the folder of the runs}

bg-env train td --seed 1 --out "$runs/td0"
bg-env train td --start "$runs/td0/net.npz" --targets rolls --exact-from 0 \
    --replay 4 --selfplay-games 70000 --lr 0.002 --seed 2 --out "$runs/td"
bg-env train td --start "$runs/td/net.npz" --cube \
    --selfplay-games 200000 --lr 0.001 --seed 3 --out "$runs/td_cube"

# td.npz: the net with a sorter, which makes its look-ahead faster; td_cube.npz: the net as it is
python - "$runs" <<'PYTHON'
import sys
from pathlib import Path

from bg_env.players import ValueNet
from bg_env.train.td.sorter import fit_sorter, with_sorter

runs = Path(sys.argv[1])
net = ValueNet.load(runs / "td" / "net.npz")
with_sorter(net, fit_sorter(net)).save(runs / "td.npz")
ValueNet.load(runs / "td_cube" / "net.npz").save(runs / "td_cube.npz")
PYTHON
