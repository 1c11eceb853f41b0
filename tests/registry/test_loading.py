"""Reading environments' folders: what is right loads, what is wrong is said."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from deepgym_gym.actions import ActionType, Observation
from deepgym_gym.errors import DefinitionError
from deepgym_gym.registry import (
    environment_info,
    find_environment,
    list_environments,
    load_environment,
)
from deepgym_gym.registry.loading import RegistryEnvironment

TOML = '[environment]\ntitle = "T"\nsummary = "S"\ndifficulty = "easy"\n'
VARIANTS = """
VARIANTS = [{"task": {"word": "zero"}}, {"task": {"word": "one"}}]

def make_variant(variant):
    return {"task": {"word": str(variant)}, "setup": {"n": variant}, "secret": ["é", variant],
            "files": {"b/c.txt": "own"}, "max_steps": variant + 1}
"""
Folder = Callable[..., Path]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Write an environment's folder; a text of None leaves the file out."""

    def write(**texts: str | None) -> Path:
        root = tmp_path / "small" / "v3"
        files: dict[str, str | None] = {
            "env.toml": TOML,
            "task.md": "Say $word for $$1.\n",
            "variants.py": VARIANTS,
            "setup.py": "print(PARAMS)\n",
            "setup.sh": "echo first\n",
            "step_verifier.py": "print(0.5)\n",
            "final_verifier.py": "print(PARAMS)\n",
            "files/a.txt": "static a",
            "files/b/c.txt": "static c",
            **{name.replace("__", "/").replace("_dot_", "."): text for name, text in texts.items()},
        }
        for name, text in files.items():
            if text is not None:
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
        return root

    return write


def test_folder_with_every_file_becomes_the_definition_it_describes(folder: Folder) -> None:
    definition = RegistryEnvironment(folder()).definition(5)

    assert definition.name == "small"
    assert definition.task == "Say 5 for $1."
    assert definition.files == {"a.txt": "static a", "b/c.txt": "own"}
    assert definition.setup_script == "echo first\n"
    assert definition.setup_code == "PARAMS = {'n': 5}\nprint(PARAMS)\n"
    assert definition.step_verifier_code == "PARAMS = ['\\xe9', 5]\nprint(0.5)\n"
    assert definition.final_verifier_code == "PARAMS = ['\\xe9', 5]\nprint(PARAMS)\n"
    assert (definition.max_steps, definition.difficulty) == (6, "easy")


def test_folder_with_only_a_task_loads_with_one_variant(folder: Folder) -> None:
    only = dict.fromkeys(
        ("variants_dot_py", "setup_dot_py", "setup_dot_sh", "final_verifier_dot_py"), None
    )
    environment = RegistryEnvironment(
        folder(**only, step_verifier_dot_py=None, task_dot_md="Say done.")
    )

    definition = environment.definition(10**12)

    assert environment.table_size == 1
    assert definition.task == "Say done."
    assert definition.setup_code is None
    assert definition.final_verifier_code is None


def test_variants_json_repeats_its_table(folder: Folder) -> None:
    table = [{"task": {"word": "a"}}, {"task": {"word": "b"}, "secret": 1}]
    environment = RegistryEnvironment(
        folder(variants_dot_py=None, variants_dot_json=json.dumps(table))
    )

    assert environment.table_size == 2
    assert [environment.definition(n).task[:5] for n in range(4)] == ["Say a", "Say b"] * 2


def test_env_toml_static_fields_and_gym_options_are_taken(folder: Folder) -> None:
    extra = 'max_steps = 3\npersistent_shell = true\nallowed_actions = ["bash", "done"]\n'
    toml = TOML + extra + 'tags = ["x"]\ndomain = "tests"\n\n[gym]\nreward = "step"\n'

    environment = RegistryEnvironment(
        folder(env_dot_toml=toml, variants_dot_py=None, task_dot_md="-")
    )

    definition = environment.definition(0)
    assert definition.max_steps == 3
    assert definition.persistent_shell
    assert definition.allowed_actions == {ActionType.BASH, ActionType.DONE}
    assert environment.reward == "step"
    assert (environment.info.id, environment.info.tags) == ("deepgym/small-v3", ("x",))


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("[environment", "env.toml is not TOML"),
        (
            TOML.replace("title", "titel"),
            "unknown key 'titel' in [environment]; did you mean 'title'?",
        ),
        (TOML + "max_step = 3", "did you mean 'max_steps'?"),
        (TOML + 'task = "x"', "'task' does not belong here: it is task.md"),
        (TOML + "[gim]", "unknown entry 'gim'; did you mean 'gym'?"),
        (TOML + '[gym]\nreward = "all"', "Expected one of episode, final, step"),
        (TOML + "max_steps = 0", "(env.toml): Bad environment definition. max_steps"),
        (TOML.replace("easy", "trivial"), "difficulty"),
        (TOML.replace('"S"', '""'), "[environment] needs summary as text"),
    ],
)
def test_wrong_env_toml_is_named(folder: Folder, toml: str, words: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        RegistryEnvironment(folder(env_dot_toml=toml))

    assert words in str(caught.value)
    assert "small/v3" in str(caught.value)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("def make_variant(variant):\n    return {}", "expected a dict with the key 'task'"),
        (
            "def make_variant(variant):\n    return {'task': {}, 'secrets': 1}",
            "did you mean 'secret'?",
        ),
        ("def make_variant(variant):\n    return {'task': {'word': 1}}", "from text to text"),
        (
            "def make_variant(variant):\n    return {'task': {}, 'files': {'a': b''}}",
            "from text to text",
        ),
        (
            "def make_variant(variant):\n    return {'task': {}, 'secret': (1,)}",
            "must be a JSON value",
        ),
        (
            "def make_variant(variant):\n    return {'task': {}, 'setup': {1: 2}}",
            "must be a JSON value",
        ),
        (
            "def make_variant(variant):\n    return {'task': {}, 'setup': float('nan')}",
            "must be a JSON",
        ),
        (
            "def make_variant(variant):\n    return {'task': {}}",
            "bad or unknown placeholder 'word'",
        ),
        (
            "def make_variant(variant):\n    return {'task': {'word': ''}, 'files': {'../x': ''}}",
            '".."',
        ),
        (
            "def make_variant(variant):\n    return {'task': {'word': ''}, 'max_steps': 0}",
            "max_steps",
        ),
        (
            "def make_variant(variant):\n    raise KeyError('oops')",
            "make_variant(0,) raised KeyError",
        ),
        ("def make_variants(variant):\n    pass", "must define make_variant()"),
        ("import no_such_module", "could not be imported: ModuleNotFoundError"),
        ("def make_variant(", "could not be imported: SyntaxError"),
    ],
)
def test_wrong_variants_file_is_named(folder: Folder, code: str, words: str) -> None:
    environment = RegistryEnvironment(folder(variants_dot_py=code))

    with pytest.raises(DefinitionError) as caught:
        environment.definition(0)

    assert words in str(caught.value)


@pytest.mark.parametrize("number", [-1, True, 1.0, "0", None])
def test_variant_that_is_no_natural_number_is_refused(folder: Folder, number: object) -> None:
    environment = RegistryEnvironment(folder())

    with pytest.raises(DefinitionError, match="expected an integer from 0, got"):
        environment.definition(number)  # type: ignore[arg-type]  # what callers may pass


def test_binary_file_is_refused_with_the_way_out(folder: Folder) -> None:
    root = folder()
    (root / "files" / "picture.png").write_bytes(b"\x89PNG\xff")

    with pytest.raises(
        DefinitionError, match=r"picture.png is not UTF-8 .*Make binary files in setup"
    ):
        RegistryEnvironment(root).definition(0)


def test_missing_task_is_named(folder: Folder) -> None:
    with pytest.raises(DefinitionError, match=r"task.md is missing"):
        RegistryEnvironment(folder(task_dot_md=None)).definition(0)


def test_folders_files_may_import_their_neighbours(folder: Folder) -> None:
    code = (
        "from .words import WORD\ndef make_variant(variant):\n    return {'task': {'word': WORD}}\n"
    )
    root = folder(variants_dot_py=code, words_dot_py="WORD = 'shared'\n")

    assert RegistryEnvironment(root).definition(0).task == "Say shared for $1."


def test_two_folders_with_files_of_one_name_do_not_meet(folder: Folder, tmp_path: Path) -> None:
    first = RegistryEnvironment(folder())
    first.definition(0)
    other = tmp_path / "other" / "v3"
    other.mkdir(parents=True)
    (other / "env.toml").write_text(TOML)
    (other / "task.md").write_text("$word")
    (other / "variants.py").write_text(
        "def make_variant(n):\n    return {'task': {'word': 'other'}}\n"
    )

    assert RegistryEnvironment(other).definition(0).task == "other"
    assert first.definition(1).task == "Say 1 for $1."


def test_variant_is_a_fresh_copy_at_each_call(folder: Folder) -> None:
    table = [{"task": {"word": "a"}, "secret": {"list": [1]}}]
    environment = RegistryEnvironment(
        folder(variants_dot_py=None, variants_dot_json=json.dumps(table))
    )

    environment.variant(0)["secret"]["list"].append(2)

    assert environment.variant(0)["secret"] == {"list": [1]}


def test_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match="is not an environment's folder"):
        find_environment(tmp_path)


def test_unknown_name_suggests_the_nearest_and_lists_all() -> None:
    with pytest.raises(DefinitionError) as caught:
        load_environment("note")

    assert "No environment named 'note'; did you mean 'notes'? Expected one of: " in str(
        caught.value
    )
    for name in list_environments():
        assert name in str(caught.value)


@pytest.mark.parametrize("name", ["", "deepgym/", "notes-v", "../notes", "notes/v0", 7, None])
def test_name_that_cannot_be_one_is_refused(name: object) -> None:
    with pytest.raises(DefinitionError, match="No environment named"):
        find_environment(name)  # type: ignore[arg-type]  # what callers may pass


def test_unknown_version_lists_the_known() -> None:
    with pytest.raises(DefinitionError, match=r"'notes' has no version 9. Expected: v0\."):
        find_environment("notes-v9")


@pytest.mark.parametrize("name", ["notes", "notes-v0", "deepgym/notes-v0", "deepgym/notes"])
def test_each_spelling_of_a_name_finds_the_same_environment(name: str) -> None:
    assert find_environment(name) is find_environment("notes")
    assert environment_info(name).id == "deepgym/notes-v0"


def test_names_are_sorted_and_each_has_a_complete_info() -> None:
    names = list_environments()

    assert names == sorted(names)
    assert {"notes", "guess_number"} <= set(names)
    for name in names:
        info = environment_info(name)
        assert info.id == f"deepgym/{name}-v0"
        assert info.title
        assert info.summary
        assert (info.path / "task.md").is_file()


def test_reference_actions_file_is_played_in_order(folder: Folder) -> None:
    actions = [{"action_type": "bash", "content": "ls"}, {"content": "print(1)"}]
    root = folder(reference_actions_dot_json=json.dumps(actions))

    player = RegistryEnvironment(root).reference(0)

    said = [player(Observation(content="")) for _ in range(4)]
    assert [(action.action_type.value, action.content) for action in said] == [
        ("bash", "ls"),
        ("code", "print(1)"),
        ("done", ""),
        ("done", ""),
    ]


def test_hacks_are_found_by_name_and_get_the_variant_and_the_observations(folder: Folder) -> None:
    play = (
        "def play(variant, observation):\n"
        "    answer = yield {'content': observation + str(variant['secret'][1])}\n"
        "    yield {'content': answer}\n"
    )
    root = folder(hacks__cheat_dot_py=play, hacks___shared_dot_py="")

    hacks = RegistryEnvironment(root).hacks(4)

    assert list(hacks) == ["cheat"]
    assert hacks["cheat"](Observation(content="first")).content == "first4"
    assert hacks["cheat"](Observation(content="second")).content == "second"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("    yield {'action': 'x'}\n", "yielded a bad action"),
        ("    yield 1\n", "yielded a bad action"),
        ("    yield 1 / 0\n", "raised ZeroDivisionError"),
    ],
)
def test_broken_player_is_an_error_of_its_own_name(folder: Folder, body: str, words: str) -> None:
    root = folder(reference_dot_py=f"def play(variant, observation):\n{body}")

    with pytest.raises(DefinitionError, match=f"small reference {words}"):
        RegistryEnvironment(root).reference(0)(Observation(content=""))
