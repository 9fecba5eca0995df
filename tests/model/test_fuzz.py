"""Whatever is fed to it, the loader gives a model or a ModelError."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from model.mutations import at, walk
from ruamel.yaml import YAML

from bough.errors import ModelError
from bough.model import load

GOOD = sorted(Path(__file__).parent.joinpath("good").glob("*.yaml"))
MODELS = [YAML(typ="safe", pure=True).load(path) for path in GOOD]
QUICK = settings(
    max_examples=200,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

KEYS = st.sampled_from(
    [
        "bough",
        "name",
        "bodies",
        "gravity",
        "hinge",
        "type",
        "axis",
        "axes",
        "rigid",
        "beam",
        "nodal",
        "mass",
        "modes",
    ]
    + ["parent", "inertia", "nodes", "frame", "initial", "section", "shape", "damping", "stiffness", "inputs"]
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["ground", "origin", "revolute", "free", "tube", "cantilever", 1e300, -1e50, 5e-324, 10**400])
    | st.builds(np.float32, st.floats(width=32))
    | st.builds(lambda n: np.zeros((n, 3)), st.integers(0, 3))
    | st.just(1j)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


def loads_or_refuses(source: Any) -> None:
    """Anything but a ModelError comes through and fails the test."""
    try:
        load(source)
    except ModelError as error:
        assert error.problems
        str(error).encode("utf-8")


@QUICK
@given(st.binary(max_size=300))
def test_random_bytes_give_nothing_but_model_errors(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "m.yaml"
    file.write_bytes(content)
    loads_or_refuses(file)


@QUICK
@given(st.text(alphabet=st.sampled_from("ab:-?[]{},&*!|>%@`'\"#\n\t 01.eE+~<=\\"), max_size=120))
def test_random_yaml_punctuation_gives_nothing_but_model_errors(tmp_path: Path, content: str) -> None:
    file = tmp_path / "m.yaml"
    file.write_text("bough: 1\nname: m\n" + content, encoding="utf-8")
    loads_or_refuses(file)


@QUICK
@given(st.dictionaries(KEYS | st.text(max_size=5), VALUES, max_size=6))
def test_random_dicts_give_nothing_but_model_errors(content: dict[str, Any]) -> None:
    loads_or_refuses(content)


@settings(QUICK, max_examples=600)
@given(st.data())
def test_a_good_model_with_any_value_replaced_gives_nothing_but_model_errors(data: st.DataObject) -> None:
    model = copy.deepcopy(data.draw(st.sampled_from(MODELS)))
    for _ in range(data.draw(st.integers(1, 3))):
        paths = [path for path, _ in walk(model)]
        path = data.draw(st.sampled_from(paths))
        at(model, path[:-1])[path[-1]] = data.draw(VALUES)
    loads_or_refuses(model)


@QUICK
@given(st.text(max_size=60))
def test_random_text_as_a_path_gives_nothing_but_model_errors(text: str) -> None:
    loads_or_refuses(text)
