"""A thousand malformed files: each refused, each with the place and the reason."""

from __future__ import annotations

import copy
from pathlib import Path as FilePath
from random import Random
from typing import Any

import pytest
from model.mutations import STRUCTURAL, TEXTUAL
from model.writer import Path, key_path, numbers, write_yaml
from ruamel.yaml import YAML

from bough.errors import ModelError
from bough.model import load

GOOD = sorted(FilePath(__file__).parent.joinpath("good").glob("*.yaml"))
FILES = 1000


def first_bodies(model: dict[str, Any], rng: Random) -> dict[str, Any]:
    """A copy with the first few bodies only: a smaller model, and as good, since parents come first."""
    data = copy.deepcopy(model)
    del data["bodies"][rng.randint(1, len(data["bodies"])) :]
    names = {body["name"] for body in data["bodies"]}
    for key in ("inputs", "outputs"):
        data[key] = [port for port in data.get(key, []) if port.split(".")[0] in names]
    return data


def refusal(file: FilePath, what: str) -> ModelError:
    """The ModelError of a file; anything else is a failure that names the mutation."""
    try:
        load(file)
    except ModelError as error:
        return error
    except BaseException as error:
        pytest.fail(f"{what}: {type(error).__name__}: {error}\n{file.read_bytes()!r}")
    pytest.fail(f"{what}: accepted\n{file.read_bytes()!r}")


def check_located(error: ModelError, file: FilePath, what: str) -> None:
    """Each problem names the file, a line of it, and all that a user needs to know."""
    lines = file.read_bytes().count(b"\n") + 1
    assert error.problems, what
    for problem in error.problems:
        assert problem.file == str(file), what
        assert problem.line is not None and 1 <= problem.line <= lines, (what, problem)
        assert problem.expected and problem.found and problem.cure, (what, problem)
    assert f"{file}:{error.problems[0].line}" in str(error)


def line_of(target: Path, where: dict[Path, int]) -> int:
    """The line of a key path, or, for a key that is not there, of the mapping that lacks it."""
    found = (where[target[:n]] for n in range(len(target), 0, -1) if target[:n] in where)
    return next(found, 1)


def test_a_thousand_mutated_files_are_each_refused_with_a_located_message(tmp_path: FilePath) -> None:
    models = [numbers(YAML(typ="safe", pure=True).load(path)) for path in GOOD]
    rng = Random(20240607)
    file = tmp_path / "mutated.yaml"
    done = 0
    while done < FILES:
        data = first_bodies(models[done % len(models)], rng)
        index = rng.randrange(len(STRUCTURAL) + len(TEXTUAL))
        if index < len(STRUCTURAL):
            target = STRUCTURAL[index](data, rng)
            if target is None:
                continue
            what = f"{STRUCTURAL[index].__name__} at {key_path(target)} (file {done})"
            text, where = write_yaml(data)
            file.write_text(text, encoding="utf-8")
            error = refusal(file, what)
            line = line_of(target, where)
            places = {(problem.key, problem.line) for problem in error.problems}
            hit = any(key.startswith(key_path(target)) and at == line for key, at in places)
            assert hit, f"{what}, due on line {line}\n{error}"
        else:
            mutation = TEXTUAL[index - len(STRUCTURAL)]
            what = f"{mutation.__name__} (file {done})"
            file.write_bytes(mutation(write_yaml(data)[0].encode(), rng))
            error = refusal(file, what)
        check_located(error, file, what)
        done += 1


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_the_files_that_are_mutated_are_good_to_begin_with(path: FilePath, tmp_path: FilePath) -> None:
    text, _ = write_yaml(numbers(YAML(typ="safe", pure=True).load(path)))
    rewritten = tmp_path / "rewritten.yaml"
    rewritten.write_text(text, encoding="utf-8")
    assert load(rewritten) == load(path)
