"""The namespace backend for ordinary users: with subordinate uids, and with their own alone."""

import functools
import json
import os
import pwd
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sandbox.behaviours import BEHAVIOURS

ROOT = Path(__file__).parents[2]


def user_with_subordinate_ids() -> pwd.struct_passwd | None:
    path = Path("/etc/subuid")
    if not path.exists() or not shutil.which("newuidmap"):
        return None
    names = [line.split(":")[0] for line in path.read_text().splitlines()]
    return next((user for user in pwd.getpwall() if user.pw_name in names and user.pw_uid), None)


@functools.cache
def results(uid: int, gid: int, mode: str) -> dict[str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.sandbox.as_user", str(uid), str(gid), mode],
        cwd=ROOT,
        capture_output=True,
        timeout=170,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    answer: dict[str, str] = json.loads(done.stdout)
    return answer


# One worker runs all of a mode, since they share one process.
@pytest.mark.xdist_group("user-single")
@pytest.mark.parametrize("name", BEHAVIOURS)
def test_behaviour_holds_for_a_user_with_one_uid(name: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root, to drop from")

    assert results(65534, 65534, "single")[name] == "ok"


@pytest.mark.xdist_group("user-subuid")
@pytest.mark.parametrize("name", BEHAVIOURS)
def test_behaviour_holds_for_a_user_with_subordinate_ids(name: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root, to drop from")
    user = user_with_subordinate_ids()
    if user is None:
        pytest.skip("no user in /etc/subuid or no newuidmap: apt-get install uidmap; useradd -m x")

    assert results(user.pw_uid, user.pw_gid, "subuid")[name] == "ok"
