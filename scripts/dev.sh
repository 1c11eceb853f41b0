#!/usr/bin/env bash
# Everything that the Makefile does, for machines with and without make:
#
#   scripts/dev.sh demo [OPTIONS]   real episodes of several environments in real sandboxes
#   scripts/dev.sh test [PYTEST ARGUMENTS]
#   scripts/dev.sh check            ruff, mypy and pyright
#   scripts/dev.sh venv             only make .venv, with all that development needs
#
# Each makes its own virtual environment first, and only does again what pyproject.toml's change asks
# for. PYTHON=... chooses the interpreter, JOBS=... the number of test processes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The oldest supported Gymnasium, which is also the one that RLlib pins.
OLD_GYMNASIUM=1.2.2
VENV=.venv
OLD_VENV=.venv-gym12

say() { printf '%s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }
is_root() { [ "$(id -u)" = 0 ]; }

# apt PACKAGE...: install Debian packages where that needs nobody's leave.
apt() {
    is_root && command -v apt-get >/dev/null || return 1
    say "installing $* with apt-get"
    apt-get -qq update </dev/null >&2 || true
    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@" </dev/null >&2
}

# usable PYTHON: whether it runs and is new enough. A pyenv shim may exist and yet not run.
usable() {
    "$1" -c 'import sys; raise SystemExit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

find_pythons() {
    local candidate
    for candidate in ${PYTHON:-python3.13 python3.12 python3.11 python3}; do
        ! usable "$candidate" || printf '%s\n' "$candidate"
    done
}

# make_venv FOLDER: with pip in it, from the newest Python that can.
make_venv() {
    local pythons python version
    pythons=$(find_pythons)
    if [ -z "$pythons" ] && [ -z "${PYTHON:-}" ]; then
        apt python3 python3-venv || true
        pythons=$(find_pythons)
    fi
    [ -n "$pythons" ] || die "no Python 3.11 or newer found (looked for ${PYTHON:-python3.13 python3.12 python3.11 python3}). \
Install one, for example: sudo apt-get install python3.11 python3.11-venv"
    for python in $pythons; do
        # Debian splits ensurepip off into python3.X-venv.
        if "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
            "$python" -m venv --clear "$1"
            return
        fi
    done
    for python in $pythons; do
        if "$python" -m pip --version >/dev/null 2>&1 && "$python" -m venv --clear --without-pip "$1"; then
            ! "$python" -m pip --python "$1/bin/python" install --quiet pip || return 0
        fi
    done
    python=${pythons%%$'\n'*}
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    if apt "python$version-venv" && "$python" -m venv --clear "$1"; then
        return
    fi
    rm -rf "$1"
    die "$python cannot make virtual environments: its venv module is not installed. \
Run: sudo apt-get install python$version-venv"
}

# stamp WHAT: what an up-to-date stamp file says. A moved checkout or a changed pyproject.toml changes it.
stamp() { printf '%s %s %s\n' "$1" "$PWD" "$(cksum <pyproject.toml)"; }

fresh() { [ -x "$1/bin/python" ] && [ "$(cat "$1/.stamp-$2" 2>/dev/null)" = "$(stamp "$2")" ] && "$1/bin/python" -c ''; }

# ensure_venv run|dev: the package in .venv, editable; dev adds the extras and tools.
ensure_venv() {
    fresh $VENV dev && return
    [ "$1" = dev ] || ! fresh $VENV run || return 0
    local what=.
    [ "$1" = run ] || what='.[dev]'
    if ! usable $VENV/bin/python || ! $VENV/bin/python -m pip --version >/dev/null 2>&1; then
        say "making $VENV"
        make_venv $VENV
    fi
    say "installing the package into $VENV"
    $VENV/bin/python -m pip install --quiet --disable-pip-version-check --editable "$what"
    stamp "$1" >"$VENV/.stamp-$1"
}

# The second environment is a thin one on top of the first: only Gymnasium is another.
ensure_old_gymnasium() {
    ensure_venv dev
    if fresh $OLD_VENV dev && [ $OLD_VENV/.stamp-dev -nt $VENV/.stamp-dev ]; then return; fi
    say "making $OLD_VENV with gymnasium $OLD_GYMNASIUM"
    $VENV/bin/python -m venv --clear --without-pip $OLD_VENV
    $VENV/bin/python - $OLD_VENV <<'PYTHON'
import pathlib, sys, sysconfig

below = sysconfig.get_path("purelib")
[site] = pathlib.Path(sys.argv[1]).glob("lib/python3*/site-packages")
# addsitedir also reads the .pth files there: the editable package's own among them.
(site / "below.pth").write_text(f"import site; site.addsitedir({below!r})\n")
PYTHON
    $VENV/bin/python -m pip --python $OLD_VENV/bin/python install --quiet --disable-pip-version-check \
        --no-deps --ignore-installed "gymnasium==$OLD_GYMNASIUM"
    stamp dev >$OLD_VENV/.stamp-dev
}

# need PACKAGE:COMMAND...: install what is missing, or say what it is for.
need() {
    local pair missing=()
    for pair in "$@"; do
        command -v "${pair#*:}" >/dev/null || missing+=("${pair%:*}")
    done
    [ ${#missing[@]} -eq 0 ] || apt "${missing[@]}" ||
        say "note: what needs ${missing[*]} is left out or fails (sudo apt-get install ${missing[*]})"
}

run_tests() {
    # The tests look into sandboxes with ps, and try the modes of ordinary users.
    need git:git procps:ps uidmap:newuidmap
    ensure_old_gymnasium
    # Tests that share a costly fixture name a group, which stays in one process.
    local failed=0 parallel=(-n "${JOBS:-auto}" --dist loadgroup)
    say "the Gymnasium layer on gymnasium $OLD_GYMNASIUM"
    $OLD_VENV/bin/python -m pytest -q "${parallel[@]}" tests/gym || failed=1
    say "everything on the newest gymnasium"
    $VENV/bin/python -m pytest "${parallel[@]}" "$@" || failed=1
    return $failed
}

run_checks() {
    ensure_venv dev
    local failed=0
    $VENV/bin/ruff check . || failed=1
    $VENV/bin/ruff format --check . || failed=1
    $VENV/bin/mypy || failed=1
    $VENV/bin/pyright --pythonpath $VENV/bin/python || failed=1
    return $failed
}

main() {
    local command=${1:-help}
    shift || true
    case "$command" in
        demo) need git:git; ensure_venv run; exec $VENV/bin/deepgym-gym demo "$@" ;;
        test) run_tests "$@" ;;
        check) run_checks ;;
        venv) ensure_venv dev; say "ready: source $VENV/bin/activate" ;;
        *) sed -n '2,10s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2 ;;
    esac
}

main "$@"
