"""README and docs are true: their Python runs, their commands exist, their output is printed, their links resolve."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from docs_blocks import (
    PYTHON,
    ROOT,
    SHELL,
    SHOWN,
    Command,
    blocks,
    command_fault,
    commands,
    is_run,
    link_fault,
    links,
    marks,
    pages,
    run_command,
    run_python,
    script,
    simple_commands,
)

each_page = pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())


def page_of(folder: Path, text: str) -> Path:
    page = folder / "page.md"
    page.write_text(textwrap.dedent(text), encoding="utf-8")
    return page


def test_the_readme_has_code_to_run():
    languages = [block.language for block in blocks(ROOT / "README.md") if block.reason is None]
    assert languages.count(PYTHON) >= 2
    assert SHELL & set(languages)


@each_page
def test_blocks_have_a_known_language_and_every_mark_stands_before_a_block(page):
    unknown = [(block.line, block.language) for block in blocks(page) if block.language not in {PYTHON, *SHELL, *SHOWN}]
    assert not unknown, f"lines and languages of blocks that nothing checks: {unknown}"
    reasons = [block.reason for block in blocks(page) if block.reason is not None]
    assert len(reasons) == marks(page), "a 'not run' comment must stand just before its block"
    assert all(len(reason) > 10 for reason in reasons), f"say in words why a block is not run: {reasons}"


@pytest.mark.parametrize("page", [page for page in pages() if script(page)], ids=lambda page: page.relative_to(ROOT).as_posix())
def test_python_blocks_run(page, tmp_path):
    assert run_python(page, tmp_path) is None


@each_page
def test_shell_commands_exist_and_print_what_is_shown(page, tmp_path):
    faults = []
    for block in blocks(page):
        if block.language not in SHELL or block.reason is not None:
            continue
        for command in commands(block):
            found = [command_fault(words) for words in simple_commands(command.text)]
            if not any(found) and is_run(command):
                found.append(run_command(command, tmp_path))
            faults += [f"line {command.line}: {command.text}: {fault}" for fault in found if fault]
    assert not faults, "\n".join(faults)


@each_page
def test_links_lead_somewhere(page):
    faults = [f"{link}: {fault}" for link in links(page) if (fault := link_fault(page, link))]
    assert not faults, "\n".join(faults)


# The checks themselves: each of them can fail.


def test_a_broken_python_block_is_found_at_its_line(tmp_path):
    page = page_of(
        tmp_path,
        """\
        # Title

        ```python
        one = 1
        ```

        Text.

        ```python
        assert one == 1
        assert one == 2, "broken"
        ```
        """,
    )
    folder = tmp_path / "run"
    folder.mkdir()
    fault = run_python(page, folder)
    assert fault is not None
    assert 'page.md", line 11' in fault
    assert "broken" in fault


def test_a_warning_in_a_python_block_is_a_fault(tmp_path):
    page = page_of(tmp_path, "```python\nimport warnings\nwarnings.warn('old')\n```\n")
    folder = tmp_path / "run"
    folder.mkdir()
    assert "old" in (run_python(page, folder) or "")


def test_a_marked_block_is_left_out_and_needs_its_comment_just_before(tmp_path):
    page = page_of(
        tmp_path,
        """\
        <!-- not run: it needs a cluster of machines -->
        ```python
        raise SystemExit(1)
        ```

        <!-- not run: this comment stands before nothing -->

        Text.
        """,
    )
    assert [block.reason for block in blocks(page)] == ["it needs a cluster of machines"]
    assert script(page) == ""
    assert marks(page) == 2


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("make test", None),
        ("make no-such-target", "No rule"),
        ("cd bg_env && FOO=1 make test > log.txt", None),
        ('pip install -e ".[train]"', None),
        ('pip install "bg-env[nothing]"', "no extra nothing"),
        ("python examples/no_such_file.py", "there is no"),
        ("bash .ci/run", None),
        ("rm -rf everything", "unknown command"),
        ("python -m bg_env no-such-command", "no command"),
        ("bg-env train --no-such-option", "no-such-option"),
        ("bg-env train --help", None),
    ],
)
def test_a_wrong_command_is_found(line, fault):
    found = [command_fault(words) for words in simple_commands(line)]
    if fault is None:
        assert not any(found), found
    else:
        assert any(fault in (text or "") for text in found), found


def test_output_that_is_not_printed_is_found(tmp_path):
    assert run_command(Command("python -c 'print(1 + 1)'", 1, "2"), tmp_path) is None
    assert run_command(Command("python -c 'print(1 + 1)'", 1, "..."), tmp_path) is None
    assert "shows" in (run_command(Command("python -c 'print(1 + 1)'", 1, "3"), tmp_path) or "")
    assert "ended with 1" in (run_command(Command("python -c 'raise SystemExit(1)'", 1, "3"), tmp_path) or "")


def test_console_blocks_pair_commands_with_their_output(tmp_path):
    page = page_of(tmp_path, "```console\n$ first \\\n  --option\nout\nput\n$ second\n```\n")
    (block,) = blocks(page)
    first, second = commands(block)
    assert (first.text.split(), first.shown, first.line) == (["first", "--option"], "out\nput", 2)
    assert (second.text, second.shown, second.line) == ("second", "", 6)


def test_a_dead_link_is_found(tmp_path):
    page = page_of(
        tmp_path,
        "# One `two` three!\n\n[a](other.md) ![b](#one-two-three) [c](#four) [d](https://example.org) <img src='e.png'>\n",
    )
    assert [bool(link_fault(page, link)) for link in links(page)] == [True, False, True, False, True]
