"""The built wheel holds every tracked file of the package, and works where it is installed."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("deepgym_gym", "registry", "wrappers", "server")
LINKS = {f"deepgym_gym/{name}" for name in FOLDERS[1:]}

pytestmark = [
    pytest.mark.xdist_group("wheel"),
    pytest.mark.skipif(
        not (ROOT / ".git").exists() or shutil.which("git") is None,
        reason="needs git and a checkout to know the tracked files",
    ),
]


@dataclass(frozen=True)
class Built:
    """What a build of the tracked files gave. `tracked` holds paths relative to the checkout."""

    tracked: frozenset[str]
    sdist: Path
    wheel: Path


def run(*command: str | Path, cwd: Path, **env: str) -> str:
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, check=False, env={**os.environ, **env}
    )
    assert done.returncode == 0, f"{command} failed:\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Build in a copy, so that nothing that lies about in the checkout can help."""
    source = tmp_path_factory.mktemp("source")
    # New files that nobody has added yet count: the next commit will hold them.
    listed = run("git", "ls-files", "-z", "-co", "--exclude-standard", cwd=ROOT).split("\0")
    tracked = frozenset(name for name in listed if name and os.path.lexists(ROOT / name))
    for name in tracked:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, source / name, follow_symlinks=False)
    notes = source / "registry" / "notes" / "v0"
    planted = ("extra/.planted", "extra/.folder/planted", ".planted")
    for name in planted:
        (notes / name).parent.mkdir(parents=True, exist_ok=True)
        (notes / name).write_text("data of any name ships", encoding="utf-8")
    (notes / "__pycache__").mkdir()
    (notes / "__pycache__" / "planted.cpython-311.pyc").write_bytes(b"what Python left does not")
    tracked |= {f"registry/notes/v0/{name}" for name in planted}
    out = tmp_path_factory.mktemp("dist")
    # The wheel is built from the sdist.
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, source, cwd=source)
    [sdist] = out.glob("*.tar.gz")
    [wheel] = out.glob("*.whl")
    return Built(tracked, sdist, wheel)


@pytest.fixture(scope="module")
def installed(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel; its dependencies are this environment's own."""
    venv = tmp_path_factory.mktemp("venv")
    run(sys.executable, "-m", "venv", "--without-pip", venv, cwd=venv)
    [site] = venv.glob("lib/python3*/site-packages")
    # A plain path in a .pth file: the .pth files in there, an editable install's too, stay unread.
    (site / "below.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    python = venv / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "install")
    run(*pip, "--quiet", "--no-deps", "--no-index", "--ignore-installed", built.wheel, cwd=venv)
    return venv


def test_wheel_holds_exactly_the_tracked_files(built: Built) -> None:
    expected = {
        name if name.startswith("deepgym_gym/") else f"deepgym_gym/{name}"
        for name in built.tracked
        if name.split("/")[0] in FOLDERS and name not in LINKS
    }

    with zipfile.ZipFile(built.wheel) as archive:
        names = set(archive.namelist())

    assert {name for name in names if ".dist-info/" not in name} == expected


def test_sdist_holds_what_the_wheel_needs_and_the_licence(built: Built) -> None:
    with tarfile.open(built.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    needed = {"LICENSE", "README.md", "pyproject.toml", "deepgym_gym/py.typed"}
    assert needed - names == set()


def test_installed_wheel_loads_every_environment_from_its_own_files(
    installed: Path, tmp_path: Path
) -> None:
    code = (
        "import deepgym_gym, gymnasium\n"
        "print(deepgym_gym.__file__)\n"
        "for name in deepgym_gym.list_environments():\n"
        "    print(name, len(deepgym_gym.load_environment(name, 1).task) > 0)\n"
    )

    lines = run(installed / "bin" / "python", "-I", "-c", code, cwd=tmp_path).splitlines()

    shipped = {
        path.parents[1].name
        for path in (ROOT / "registry").glob("*/v*/env.toml")
        if path.parents[1].name != "__pycache__"
    }
    assert Path(lines[0]).is_relative_to(installed)
    assert set(lines[1:]) == {f"{name} True" for name in shipped}


def test_installed_command_plays_an_episode_from_any_folder(
    installed: Path, tmp_path: Path
) -> None:
    command = installed / "bin" / "deepgym-gym"

    output = run(command, "run", "notes", "--agent", "reference", cwd=tmp_path, LC_ALL="C")

    assert "passed, score 1" in output
