"""Style that a machine can judge: the first lines of modules and the words of messages."""

import ast

import pytest
from style_marks import functions, is_kernel, modules, nones, parameters, riddles, wide

MODULES = modules()
UNREAD = ("_numba.py", "batch/", "envs/")


@pytest.mark.parametrize("name", [name for name in MODULES if not name.startswith(UNREAD)])
def test_a_module_begins_with_a_noun_phrase_and_no_text_says_is_none(name):
    assert not riddles(MODULES[name])
    assert not nones(MODULES[name])


def test_the_marks_find_what_they_look_for():
    tree = ast.parse(
        '"""What the rules say."""\n'
        'MESSAGE = f"player {3} is none"\n'
        "@kernel\ndef wide(a, b, c, d, e, f, g, h, i): ...\n"
        "def narrow(self, a, *, b): ...\n"
    )
    assert riddles(tree) == ["What the rules say."]
    assert nones(tree) == ["... is none"]
    assert wide(tree) == ["4: kernel wide has 9 parameters"]
    kernel, other = functions(tree)
    assert [is_kernel(kernel), is_kernel(other), len(parameters(other))] == [True, False, 2]
