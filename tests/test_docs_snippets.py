"""The code blocks of the docs that need an RL library: each runs on its own where the library is installed.

`.ci/groups` runs them all, each in the environment of its group.
"""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest
from docs_blocks import PYTHON, blocks, extras, pages, run_alone

LIBRARIES = {
    "agilerl": "agilerl",
    "rllib": "ray",
    "shimmy": "shimmy",
    "skrl": "skrl",
    "supersuit": "supersuit",
    "textarena": "textarena",
    "tianshou": "tianshou",
    "torchrl": "torchrl",
}
"""The module that each extra installs."""
SNIPPETS = [(f"{page.stem}-{block.line}-{block.needs}", block) for page in pages() for block in blocks(page) if block.needs]
GROUP = "BG_ENV_EXAMPLES" in os.environ
"""Whether this is the environment of a group, which skips the blocks of other groups."""
CHOSEN = [pytest.param(b, id=name) for name, b in SNIPPETS if not GROUP or find_spec(LIBRARIES[b.needs])]


def test_blocks_need_what_there_is():
    assert {block.needs for _, block in SNIPPETS} == set(LIBRARIES)
    assert set(LIBRARIES) <= extras()
    assert {block.language for _, block in SNIPPETS} == {PYTHON}
    assert not [name for name, block in SNIPPETS if block.reason]


@pytest.mark.parametrize("block", CHOSEN)
def test_a_block_runs(block, tmp_path):
    if find_spec(LIBRARIES[block.needs]) is None:
        pytest.skip(f"needs the extra bg_env[{block.needs}]")
    assert run_alone(block, tmp_path) is None
