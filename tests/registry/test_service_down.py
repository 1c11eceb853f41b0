"""The scores of `service_down`: near misses and their shares, and impostors."""

import pytest

from tests.registry.playing import play

# Variants of the table: 0 port clash, 1 bad config key, 4 stale lock, 8 corrupt cache.
RUN = "setsid ./start.sh > run/service.log 2>&1 &"
WAIT = "while ! grep -q listening run/service.log; do sleep 0.02; done"


def test_repaired_and_running_scores_one() -> None:
    result = play("service_down", 4, "rm run/service.lock", RUN, WAIT).result

    assert (result.score, result.passed) == (1.0, True)
    assert result.reward_components == {"restart": 0.4, "health": 0.2, "answers": 0.4}


def test_repaired_but_not_running_scores_the_restart() -> None:
    result = play("service_down", 4, "rm run/service.lock").result

    assert result.reward_components == {"restart": 0.4, "health": 0.0, "answers": 0.0}


def test_a_port_clash_alone_is_not_repaired_before_the_service_runs() -> None:
    freed = play("service_down", 0, "pkill -f old_service.py").result
    running = play("service_down", 0, "pkill -f old_service.py; sleep 0.1", RUN, WAIT).result

    assert freed.score == 0.0
    assert running.score == 1.0


def test_lost_records_cost_everything() -> None:
    drop = (
        "rm cache/titles.json; python3 -c \"import json; s = json.load(open('data/records.json'));"
        " s['records'].pop(); json.dump(s, open('data/records.json', 'w'))\""
    )

    result = play("service_down", 8, drop, RUN, WAIT).result

    assert result.score == 0.0


def test_running_with_files_that_would_not_start_again_scores_zero() -> None:
    actions = ("rm cache/titles.json", RUN, WAIT, "echo broken > cache/titles.json")

    result = play("service_down", 8, *actions).result

    assert result.score == 0.0


def test_a_running_service_keeps_its_lock_and_that_is_no_fault() -> None:
    result = play(
        "service_down", 8, "rm cache/titles.json", RUN, WAIT, "cat run/service.lock"
    ).result

    assert result.score == 1.0


@pytest.mark.parametrize(
    "command",
    [
        "echo >> start.sh",
        "echo >> plugins/shelf.py",
        "sed -i 's/2.0/9.0/' service.py; echo >> service.py",
        "mv service.py real.py; ln -s real.py service.py",
        "rm service.py; mkfifo service.py",
    ],
)
def test_changed_code_scores_zero(command: str) -> None:
    result = play("service_down", 4, "rm run/service.lock", RUN, WAIT, command).result

    assert result.score == 0.0
    assert "not what it was" in result.output


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf data cache plugins run; ln -s / data",
        "rm config.json; mkfifo config.json",
        "rm config.json; ln -s /dev/zero config.json",
        "head -c 20000000 /dev/zero > data/records.json",
        "echo '../data/evil' > plugins/order.txt; echo 'print(1)' > data/evil.py",
        "chmod 0 config.json data plugins",
        "python3 -c \"print('[' * 100000)\" > config.json",
    ],
)
def test_hostile_work_folder_is_a_judged_zero(command: str) -> None:
    result = play("service_down", 4, "rm run/service.lock", command).result

    assert result.has_verdict
    assert result.error_type is None
    assert result.score == 0.0


def test_a_server_that_never_ends_its_answer_is_no_answer() -> None:
    drip = (
        "import socket, time\n"
        "server = socket.create_server(('127.0.0.1', PORT))\n"
        "open('run/ready', 'w').write('yes')\n"
        "while True:\n"
        "    connection = server.accept()[0]\n"
        "    try:\n"
        "        while True:\n"
        "            connection.send(b'HTTP/1.0 200 OK\\r\\nX: ')\n"
        "            time.sleep(0.05)\n"
        "    except OSError:\n"
        "        pass\n"
    )
    port = "$(python3 -c \"import json; print(json.load(open('config.json'))['port'])\")"
    write = {"action_type": "write_file", "path": "run/drip.py", "content": drip}
    start = (
        f"sed -i s/PORT/{port}/ run/drip.py; setsid python3 run/drip.py >/dev/null 2>&1 & "
        "while [ ! -e run/ready ]; do sleep 0.02; done"
    )

    result = play("service_down", 4, "rm run/service.lock", write, start).result

    assert result.reward_components == {"restart": 0.4, "health": 0.0, "answers": 0.0}
