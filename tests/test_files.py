"""Writing files: an error, a kill and a planted link lose nothing."""

from __future__ import annotations

import errno
import os
import subprocess
import sys

import pytest

from bg_env import files
from bg_env.errors import SettingsError
from bg_env.files import check_private, read_arrays, read_bytes, read_text, replacing, write_whole

posix = pytest.mark.skipif(os.name != "posix", reason="links and modes of files are POSIX")


def test_a_file_is_written_whole(tmp_path):
    write_whole(tmp_path / "a", "né\n")
    assert (tmp_path / "a").read_bytes() == "né\n".encode()
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_an_error_leaves_the_old_file(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")

    def write():
        with replacing(path) as file:
            file.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert path.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_so_does_a_full_disk_which_is_named(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    with pytest.raises(OSError, match="No space") as caught, replacing(path):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert caught.value.filename == str(path)
    assert path.read_text() == "old"


def test_so_does_a_kill(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    code = f"""
import os, signal
from bg_env.files import replacing
with replacing({str(path)!r}) as file:
    file.write(b"new")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", code], check=False)
    assert path.read_text() == "old"
    write_whole(path, "newer")
    assert path.read_text() == "newer"


@posix
def test_a_planted_part_is_not_followed_and_a_users_own_is_left(tmp_path):
    path, secret = tmp_path / "a", tmp_path / "secret"
    secret.write_text("mine")
    (tmp_path / "a.part").symlink_to(secret)
    write_whole(path, "text")
    assert secret.read_text() == "mine"
    assert (tmp_path / "a.part").is_symlink()
    (tmp_path / "a.part").unlink()
    (tmp_path / "a.part").write_text("a user's own")
    write_whole(path, "text")
    assert (tmp_path / "a.part").read_text() == "a user's own"


@posix
def test_a_guessed_part_is_not_followed(tmp_path, monkeypatch):
    monkeypatch.setattr(files.secrets, "token_hex", lambda _: "guessed")
    secret = tmp_path / "secret"
    secret.write_text("mine")
    (tmp_path / ".bg_env-guessed.part").symlink_to(secret)
    with pytest.raises(FileExistsError):
        write_whole(tmp_path / "a", "text")
    assert secret.read_text() == "mine"
    assert (tmp_path / ".bg_env-guessed.part").is_symlink()


@posix
def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path):
    (tmp_path / "there").mkdir()
    real, link = tmp_path / "there" / "real", tmp_path / "link"
    real.write_text("old")
    link.symlink_to(real)
    write_whole(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    real.unlink()
    write_whole(link, "again")  # a link to nothing
    assert link.is_symlink()
    assert real.read_text() == "again"


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_the_mode_stays(tmp_path, mode):
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(mode)
    write_whole(path, "new")
    assert path.stat().st_mode & 0o777 == mode


@posix
def test_a_new_file_has_the_mode_that_the_user_wants(tmp_path):
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "a", "new")
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


@posix
def test_a_device_is_written_to_as_it_is():
    write_whole("/dev/null", "text")


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        write_whole(tmp_path / "no" / "a", "text")
    assert caught.value.filename == str(tmp_path / "no" / "a")


@posix
@pytest.mark.parametrize(("mode", "folder", "private"), [(0o644, 0o755, True), (0o666, 0o755, False), (0o644, 0o777, False)])
def test_a_file_that_everybody_may_change_is_refused(tmp_path, mode, folder, private):
    path = tmp_path / "a"
    path.write_text("x")
    path.chmod(mode)
    tmp_path.chmod(folder)
    link = tmp_path / "link"
    link.symlink_to(path)
    for one in (path, link):
        if private:
            check_private(one)
        else:
            with pytest.raises(SettingsError, match=f"{one} can be changed by other users.*chmod go-w"):
                check_private(one)
    tmp_path.chmod(0o1777 if folder == 0o777 else 0o755)  # as /tmp: only its owner may replace a file
    if mode == 0o644:
        check_private(path)


@posix
@pytest.mark.parametrize(("members", "group", "private"), [([], 77, True), (["other"], 77, False), (["other"], 0, True)])
def test_a_group_counts_if_others_are_in_it(tmp_path, monkeypatch, members, group, private):
    import grp
    import pwd
    from types import SimpleNamespace

    path = tmp_path / "a"
    path.write_text("x")
    path.chmod(0o664)
    stat = os.stat_result((0o100664, 1, 1, 1, os.getuid(), group, 1, 0, 0, 0))
    there = type(path).stat
    monkeypatch.setattr(type(path), "stat", lambda one, **how: stat if one.name == "a" else there(one, **how))
    monkeypatch.setattr(grp, "getgrgid", lambda _: SimpleNamespace(gr_mem=[]))
    me = pwd.getpwuid(os.getuid()).pw_name
    monkeypatch.setattr(pwd, "getpwall", lambda: [SimpleNamespace(pw_name=name, pw_gid=group) for name in [me, *members]])
    if private:
        check_private(path)
    else:
        with pytest.raises(SettingsError, match="can be changed by other users"):
            check_private(path)


@posix
def test_a_file_whose_code_is_run_must_be_the_users_own(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_text("x")
    check_private(path, owned=True)
    monkeypatch.setattr(os, "getuid", lambda: 4711)
    if path.stat().st_uid != 0:
        with pytest.raises(SettingsError, match="belongs to another user"):
            check_private(path, owned=True)
    os_stat = type(path).stat
    monkeypatch.setattr(
        type(path), "stat", lambda one, **how: os.stat_result([*os_stat(one, **how)[:4], 99, *os_stat(one, **how)[5:10]])
    )
    with pytest.raises(SettingsError, match="belongs to another user"):
        check_private(path, owned=True)
    check_private(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are POSIX")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    pipe = tmp_path / "a.npz"
    os.mkfifo(pipe)
    for read in (read_bytes, lambda path: read_text(path, 10), lambda path: read_arrays(path, "net")):
        with pytest.raises(SettingsError, match="is not a regular file"):
            read(pipe)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/dev/fd names open files there")
def test_a_pipe_without_a_real_path_is_written_to_as_it_is():
    out, into = os.pipe()
    try:
        write_whole(f"/dev/fd/{into}", "a")
        assert os.read(out, 9) == b"a"
    finally:
        os.close(out)
        os.close(into)
