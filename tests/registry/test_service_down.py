"""The scores of `service_down`: near misses and their shares, and impostors."""

import pytest

from deepgym_gym.registry import find_environment
from tests.registry.playing import play, play_player

# Variants of the table, one fault each.
CLASH, KEY, MIGRATION, PERMISSION, LOCK, PATH, FILES, ORDER, CACHE, TIME_OUT = range(10)
# The last of the table: four faults.
MANY = 13
FULL = {"repairs": 0.2, "restart": 0.3, "health": 0.1, "answers": 0.4}
ENVIRONMENT = find_environment("service_down")
RUN = (
    "setsid ./start.sh > run/service.log 2>&1 &\n"
    "until grep -q listening run/service.log; do sleep 0.02; done"
)
FREE = "pkill -f '[o]ld_service.py'; while pgrep -f '[o]ld_service.py'; do sleep 0.02; done"
# A server that says whatever stands for BODY.
FAKE = """
import http.server
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        status, body = BODY
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
open("run/ready", "w").close()
server.serve_forever()
"""


def parts(**values: float) -> dict[str, float]:
    return dict.fromkeys(FULL, 0.0) | values


def port_of(variant: int) -> int:
    port: int = ENVIRONMENT.variant(variant)["secret"]["port"]
    return port


def background(variant: int, program: str) -> tuple[dict[str, str], str]:
    """The actions that start a program of the agent's and wait until it says that it is ready."""
    content = program.replace("PORT", str(port_of(variant)))
    return (
        {"action_type": "write_file", "path": "run/fake.py", "content": content},
        "setsid python3 run/fake.py > run/fake.log 2>&1 &\n"
        "until [ -e run/ready ]; do sleep 0.02; done; rm run/ready",
    )


def edit(key: str, value: str) -> str:
    """The command that sets a key of config.json to a Python value."""
    return (
        f"python3 -c \"import json; c = json.load(open('config.json')); c['{key}'] = {value}; "
        "json.dump(c, open('config.json', 'w'))\""
    )


def test_table_holds_each_fault_alone_and_mixtures() -> None:
    table = [ENVIRONMENT.variant(number)["secret"]["faults"] for number in range(14)]

    assert ENVIRONMENT.table_size == len(table)
    assert all(len(faults) == 1 for faults in table[:10])
    assert len({faults[0] for faults in table[:10]}) == 10
    assert [ENVIRONMENT.definition(number).difficulty for number in (0, 10, MANY)] == [
        "easy",
        "medium",
        "hard",
    ]


@pytest.mark.parametrize("backend", ["namespace", "local"])
def test_repaired_and_running_scores_one(backend: str) -> None:
    result = play("service_down", LOCK, "rm run/service.lock", RUN, backend=backend).result

    assert (result.score, result.passed) == (1.0, True), result.output
    assert result.reward_components == FULL


@pytest.mark.parametrize("variant", [KEY, PERMISSION, CACHE, MANY])
def test_idle_scores_nothing_where_root_may_do_everything(variant: int) -> None:
    assert play("service_down", variant, backend="local").result.score == 0.0


def test_repaired_but_not_running_scores_repairs_and_restart() -> None:
    result = play("service_down", LOCK, "rm run/service.lock").result

    assert result.reward_components == parts(repairs=0.2, restart=0.3)


def test_each_repaired_fault_counts_its_share() -> None:
    assert ENVIRONMENT.variant(MANY)["secret"]["faults"] == [
        "permission",
        "open files",
        "wrong path",
        "start-up time-out",
    ]
    repairs = [
        "chmod -R go-w config.json data plugins",
        edit("open_files", "256"),
        edit("data_file", "'data/records.json'"),
        edit("startup_timeout_ms", "5000"),
    ]
    for count, wanted in [(1, 0.05), (2, 0.1), (3, 0.15)]:
        result = play("service_down", MANY, *repairs[:count]).result
        assert result.reward_components == parts(repairs=wanted), result.output

    whole = play("service_down", MANY, *repairs).result
    assert whole.reward_components == parts(repairs=0.2, restart=0.3)


def test_a_port_clash_alone_is_not_repaired_before_the_service_runs() -> None:
    assert play("service_down", CLASH, FREE).result.score == 0.0
    assert play("service_down", CLASH, FREE, RUN).result.score == 1.0


def test_the_service_on_another_port_is_no_repair() -> None:
    moved = edit("port", "port_of_nobody").replace("port_of_nobody", "31234")

    assert play("service_down", CLASH, moved, RUN).result.score == 0.0
    by_hand = play("service_down", CLASH, f"export PORT=31234; {RUN}").result
    assert by_hand.score == 0.0
    result = play("service_down", LOCK, "rm run/service.lock", moved, RUN).result
    assert result.reward_components == parts(repairs=0.2)


@pytest.mark.parametrize(
    "drop",
    [
        "s['records'].pop()",
        "s['records'][0]['stock'] += 1",
        "s['records'][0]['title'] += '!'",
        "s['records'].append(s['records'][0])",
        "s['records'].append(dict(s['records'][0], id='a0'))",
        "s.pop('records')",
        "s = [s]",
    ],
)
def test_lost_records_cost_everything(drop: str) -> None:
    command = (
        'rm -f cache/titles.json; python3 -c "import json; '
        f"s = json.load(open('data/records.json')); {drop}; "
        "json.dump(s, open('data/records.json', 'w'))\""
    )

    result = play("service_down", CACHE, command).result

    assert result.score == 0.0
    assert "records are lost" in result.output


def test_running_with_files_that_would_not_start_again_scores_nothing_for_running() -> None:
    broken = "echo broken > cache/titles.json"

    assert play("service_down", CACHE, "rm cache/titles.json", RUN, broken).result.score == 0.0
    result = play("service_down", LOCK, "rm run/service.lock", RUN, broken).result
    assert result.reward_components == parts(repairs=0.2)


def test_cache_and_plugin_may_be_wrong_in_silence() -> None:
    """Worlds in which the service starts and calls itself healthy, with wrong answers."""
    silent = set()
    for variant in range(100_000, 100_400):
        world = ENVIRONMENT.variant(variant)
        (fault, *more) = world["secret"]["faults"]
        cache = world["files"]["cache/titles.json"]
        if not more and fault == "corrupt cache" and cache.endswith("}}"):
            silent.add((fault, variant))
        plugin = '"plugin": "shelf"' in world["files"]["config.json"]
        if not more and fault == "bad config key" and plugin:
            silent.add((fault, variant))

    assert {fault for fault, _ in silent} == {"corrupt cache", "bad config key"}
    for fault in ("corrupt cache", "bad config key"):
        variant = min(number for name, number in silent if name == fault)
        started = play_player("service_down", variant, ENVIRONMENT.reference(variant))
        assert started.result.score == 1.0
        assert play("service_down", variant, RUN).result.score == 0.0


def test_a_running_service_keeps_its_lock_and_that_is_no_fault() -> None:
    result = play("service_down", CACHE, "rm cache/titles.json", RUN, "cat run/service.lock").result

    assert result.score == 1.0


def test_a_killed_service_leaves_a_lock_that_is_one() -> None:
    kill = "kill -9 $(cat run/service.lock); cat run/service.lock"

    result = play("service_down", CACHE, "rm cache/titles.json", RUN, kill).result

    assert result.reward_components == parts(repairs=0.2)


@pytest.mark.parametrize(
    "command",
    [
        "echo >> start.sh",
        "echo >> plugins/shelf.py",
        "sed -i 's/0.01/0.02/' service.py",
        "mv service.py real.py; ln -s real.py service.py",
        "mv plugins real; ln -s real plugins",
        "rm service.py; mkfifo service.py",
        "chmod 0 service.py",
    ],
)
def test_changed_code_scores_zero(command: str) -> None:
    result = play("service_down", LOCK, "rm run/service.lock", RUN, command).result

    assert result.score == 0.0
    assert "not what it was" in result.output


@pytest.mark.parametrize(
    ("command", "score"),
    [
        ("rm -rf data cache plugins run; ln -s / data", 0.0),
        ("rm config.json; mkfifo config.json", 0.2),
        ("rm config.json; ln -s /dev/zero config.json", 0.2),
        ("head -c 20000000 /dev/zero > data/records.json", 0.0),
        ("echo '../data/evil' > plugins/order.txt; echo 'print(1)' > data/evil.py", 0.2),
        ("chmod 0 config.json data plugins", 0.0),
        ("python3 -c \"print('[' * 100000)\" > config.json", 0.2),
        ("python3 -c \"print('[' * 100000)\" > data/records.json", 0.0),
        ("python3 -c \"print('[' * 100000)\" > cache/titles.json", 0.2),
        (edit("lock_file", "'/proc/self/mem'"), 0.2),
        (edit("lock_file", "[1]"), 0.2),
        (edit("open_files", "10 ** 400"), 0.2),
        (edit("startup_timeout_ms", "True"), 0.2),
        (edit("cache_file", "'/etc/passwd'"), 0.2),
        ("mkfifo run/service.lock", 0.2),
    ],
)
def test_hostile_work_folder_is_judged(command: str, score: float) -> None:
    result = play("service_down", LOCK, "rm run/service.lock", command).result

    assert result.has_verdict
    assert result.error_type is None, result.stderr
    assert result.score == pytest.approx(score), result.output


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ('(200, b\'{"status": "ok"}\')', 0.5),
        ('(200 if self.path == "/health" else 404, b\'{"status": "ok"}\')', 0.5),
        ('(200, b"[" * 100000)', 0.5),
        ('(200, b"9" * 3000000)', 0.5),
        ('(200, b"NaN")', 0.5),
    ],
)
def test_a_fake_beside_repaired_files_brings_nothing(body: str, wanted: float) -> None:
    actions = background(LOCK, FAKE.replace("BODY", body))

    result = play("service_down", LOCK, "rm run/service.lock", *actions).result

    assert result.score == wanted, result.output


def test_a_fake_beside_broken_files_brings_nothing() -> None:
    actions = background(LOCK, FAKE.replace("BODY", '(200, b\'{"status": "ok"}\')'))

    assert play("service_down", LOCK, *actions).result.score == 0.0


def test_a_server_that_never_ends_its_answer_is_no_answer() -> None:
    drip = (
        "import socket, time\n"
        "server = socket.create_server(('127.0.0.1', PORT))\n"
        "open('run/ready', 'w').close()\n"
        "while True:\n"
        "    connection = server.accept()[0]\n"
        "    try:\n"
        "        while True:\n"
        "            connection.send(b'HTTP/1.0 200 OK\\r\\nX: ')\n"
        "            time.sleep(0.05)\n"
        "    except OSError:\n"
        "        pass\n"
    )

    result = play("service_down", LOCK, "rm run/service.lock", *background(LOCK, drip)).result

    assert result.reward_components == parts(repairs=0.2, restart=0.3)
