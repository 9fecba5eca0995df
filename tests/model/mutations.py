"""Ways to make a good model wrong. Each takes a copy of a good model and a seeded generator, spoils the copy
and returns the key path at which a message is due, or None if the model has no place for that mistake."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from model.writer import Path

Data = dict[str, Any]
Mutation = Callable[[Data, Random], Path | None]

REQUIRED = {
    (): ("bough", "name", "bodies"),
    ("bodies", 0): ("name", "parent", "hinge"),
    ("bodies", 0, "hinge"): ("type",),
    ("bodies", 0, "rigid"): ("mass",),
    ("bodies", 0, "rigid", "wheels", 0): ("axis",),
    ("bodies", 0, "beam"): ("length", "elements", "section", "material", "modes"),
    ("bodies", 0, "beam", "material"): ("E", "rho"),
    ("bodies", 0, "beam", "stations", 0): ("at", "section"),
    ("bodies", 0, "beam", "masses", 0): ("at", "mass"),
    ("bodies", 0, "nodal"): ("attach", "nodes"),
    ("bodies", 0, "nodal", "nodes", 0): ("name", "position"),
}
FIXED_LENGTH = {"gravity", "axis", "position", "quaternion", "com", "inertia", "rayleigh", "up", "Q"}
NOT_NEGATIVE = {"bough", "mass", "damping", "armature", "length", "elements", "E", "G", "rho"} | {
    *("area", "Iy", "Iz", "J", "width", "height", "thickness", "radius", "diameter"),
    *("count", "bending_y", "torsion", "max_frequency", "flange", "web"),
}
FREE_KEYS = "nodes"


def walk(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every key path with its value, top first."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in entries:
        yield (*path, key), item
        yield from walk(item, (*path, key))


def at(data: Any, path: Path) -> Any:
    """The value at a key path."""
    for part in path:
        data = data[part]
    return data


def pattern(path: Path) -> Path:
    """The path with every list index 0."""
    return tuple(0 if isinstance(part, int) else part for part in path)


def is_number(value: Any) -> bool:
    """A number, and not true or false."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def pick(rng: Random, data: Data, wanted: Callable[[Path, Any], bool]) -> Path | None:
    """A random key path among those wanted."""
    paths = [path for path, value in walk(data) if wanted(path, value)]
    return rng.choice(paths) if paths else None


def put(data: Data, path: Path, value: Any) -> Path:
    """Replace the value at a key path."""
    at(data, path[:-1])[path[-1]] = value
    return path


def delete_required_key(data: Data, rng: Random) -> Path | None:
    path = pick(rng, data, lambda p, v: p[-1] in REQUIRED.get(pattern(p[:-1]), ()))
    if path is not None:
        del at(data, path[:-1])[path[-1]]
    return path


def delete_the_kind_of_a_body(data: Data, rng: Random) -> Path | None:
    path = pick(rng, data, lambda p, v: pattern(p) == ("bodies", 0))
    assert path is not None
    for kind in ("rigid", "beam", "nodal"):
        at(data, path).pop(kind, None)
    return path


def add_a_second_kind(data: Data, rng: Random) -> Path | None:
    path = pick(rng, data, lambda p, v: pattern(p) == ("bodies", 0) and "rigid" not in v)
    if path is not None:
        at(data, path)["rigid"] = {"mass": 1}
    return path


def misspell_a_key(data: Data, rng: Random) -> Path | None:
    path = pick(rng, data, lambda p, v: isinstance(p[-1], str) and p[-2:-1] != (FREE_KEYS,))
    assert path is not None
    mapping, key = at(data, path[:-1]), str(path[-1])
    i = rng.randrange(len(key))
    wrong = rng.choice([key[:i] + key[i] + key[i:], key + "x", "x" + key, key[:i] + "_" + key[i:]])
    value = mapping.pop(key)
    mapping[wrong] = value
    return (*path[:-1], wrong)


def add_an_unknown_key(data: Data, rng: Random) -> Path | None:
    path = pick(rng, data, lambda p, v: isinstance(v, dict) and p[-1] != FREE_KEYS)
    assert path is not None
    at(data, path)["colour"] = "red"
    return (*path, "colour")


def text_for_a_number(data: Data, rng: Random) -> Path | None:
    path = pick(rng, data, lambda p, v: is_number(v))
    assert path is not None
    return put(data, path, rng.choice(["abc", '"1.0"', True, None, "1_5", "0.1kg"]))


def wrong_kind_of_value(data: Data, rng: Random) -> Path | None:
    path = pick(rng, data, lambda p, v: isinstance(v, (dict, list, str, bool)))
    assert path is not None
    value = at(data, path)
    choices: list[Any] = [7.5] if not isinstance(value, (list, dict)) else ["abc", False]
    # A number is fine where one value may stand for a list of them.
    return put(data, path, rng.choice(choices))


def null_instead_of_a_value(data: Data, rng: Random) -> Path | None:
    empty_allowed = ("loops", "inputs", "outputs", "rigid", "beam", "nodal")
    path = pick(rng, data, lambda p, v: p[-1] not in empty_allowed)
    assert path is not None
    return put(data, path, None)


def a_number_that_is_not_finite(data: Data, rng: Random) -> Path | None:
    path = pick(rng, data, lambda p, v: is_number(v))
    assert path is not None
    return put(data, path, rng.choice([math.nan, math.inf, -math.inf, "1e999", "9" * 400, "-" + "9" * 5000]))


def a_negative_value(data: Data, rng: Random) -> Path | None:
    path = pick(rng, data, lambda p, v: p[-1] in NOT_NEGATIVE and is_number(v))
    assert path is not None
    return put(data, path, -1)


def a_wrong_vector_length(data: Data, rng: Random) -> Path | None:
    path = pick(rng, data, lambda p, v: p[-1] in FIXED_LENGTH and isinstance(v, list))
    if path is not None:
        value = at(data, path)
        put(data, path, rng.choice([value[:-1], [*value, 0.0], []]))
    return path


def a_mode_shape_of_wrong_size(data: Data, rng: Random) -> Path | None:
    path = pick(rng, data, lambda p, v: p[-1] == "modes" and isinstance(v, list) and bool(v))
    if path is None:
        return None
    mode = rng.randrange(len(at(data, path)))
    shape = at(data, path)[mode]
    if rng.random() < 0.5:
        shape.append([0.0] * 6)
        return (*path, mode)
    row = rng.randrange(len(shape))
    shape[row] = shape[row][:5]
    return (*path, mode, row)


def a_matrix_of_wrong_size(data: Data, rng: Random) -> Path | None:
    names = ("stiffness", "damping", "damping_matrix", "matrix", "eta", "eta_dot")
    path = pick(rng, data, lambda p, v: p[-1] in names and isinstance(v, list))
    if path is not None:
        value = at(data, path)
        put(data, path, [*value, value[-1]] if rng.random() < 0.5 else [])
    return path


def a_parent_that_does_not_exist(data: Data, rng: Random) -> Path | None:
    path = pick(rng, data, lambda p, v: p[-1] == "parent")
    assert path is not None
    return put(data, path, rng.choice(["nobody", "grund", "Ground"]))


def a_cycle(data: Data, rng: Random) -> Path | None:
    i = rng.randrange(len(data["bodies"]))
    later = rng.randrange(i, len(data["bodies"]))
    data["bodies"][later]["parent"] = data["bodies"][max(later - 1, 0)]["name"]
    return put(data, ("bodies", i, "parent"), data["bodies"][later]["name"])


def a_node_that_does_not_exist(data: Data, rng: Random) -> Path | None:
    path = pick(rng, data, lambda p, v: p[-1] in ("at", "attach"))
    return None if path is None else put(data, path, "nowhere")


def a_port_that_does_not_exist(data: Data, rng: Random) -> Path | None:
    path = pick(rng, data, lambda p, v: p[0] in ("inputs", "outputs") and len(p) == 2)
    if path is None:
        return None
    port = at(data, path)
    return put(data, path, rng.choice(["nobody." + port, port.replace(".", "..", 1), port + ".x", "a", "."]))


def a_name_given_twice(data: Data, rng: Random) -> Path | None:
    bodies = data["bodies"]
    if len(bodies) == 1:
        bodies[0]["hinge"]["name"] = bodies[0]["name"]
        return ("bodies", 0, "hinge", "name")
    i, j = sorted(rng.sample(range(len(bodies)), 2))
    bodies[j]["name"] = bodies[i]["name"]
    return ("bodies", j, "name")


def a_bad_name(data: Data, rng: Random) -> Path | None:
    path = pick(rng, data, lambda p, v: p[-1] == "name")
    assert path is not None
    return put(data, path, rng.choice(["two words", "9lives", "a.b", "é", "x" * 200, "a-b", '""']))


def an_impossible_inertia(data: Data, rng: Random) -> Path | None:
    path = pick(rng, data, lambda p, v: p[-1] == "inertia")
    wrong = ([1, 1, 3, 0, 0, 0], [1, -1, 1, 0, 0, 0], [1, 1, 1, 2, 0, 0])
    return None if path is None else put(data, path, rng.choice(wrong))


def a_direction_without_length(data: Data, rng: Random) -> Path | None:
    path = pick(rng, data, lambda p, v: p[-1] in ("axis", "up", "quaternion", "Q"))
    return None if path is None else put(data, path, [0] * len(at(data, path)))


def a_word_that_is_no_choice(data: Data, rng: Random) -> Path | None:
    path = pick(rng, data, lambda p, v: p[-1] in ("type", "drive", "fidelity", "boundary", "shape"))
    return None if path is None else put(data, path, rng.choice(["revolutt", "none", "Fixed", 3, []]))


def another_format_version(data: Data, rng: Random) -> Path | None:
    return put(data, ("bough",), rng.choice([0, 2, 1.5, "one", -1, 10**30]))


def a_loop(data: Data, rng: Random) -> Path | None:
    put(data, ("loops",), [{"name": "closure", "type": "revolute"}])
    return ("loops", 0)


STRUCTURAL: tuple[Mutation, ...] = (
    delete_required_key,
    delete_the_kind_of_a_body,
    add_a_second_kind,
    misspell_a_key,
    add_an_unknown_key,
    text_for_a_number,
    wrong_kind_of_value,
    null_instead_of_a_value,
    a_number_that_is_not_finite,
    a_negative_value,
    a_wrong_vector_length,
    a_mode_shape_of_wrong_size,
    a_matrix_of_wrong_size,
    a_parent_that_does_not_exist,
    a_cycle,
    a_node_that_does_not_exist,
    a_port_that_does_not_exist,
    a_name_given_twice,
    a_bad_name,
    an_impossible_inertia,
    a_direction_without_length,
    a_word_that_is_no_choice,
    another_format_version,
    a_loop,
)


def _line(text: bytes, rng: Random) -> int:
    """Offset of the beginning of a random line."""
    starts = [0] + [i + 1 for i, byte in enumerate(text[:-1]) if byte == 10]
    return rng.choice(starts)


def an_open_quote(text: bytes, rng: Random) -> bytes:
    i = _line(text, rng)
    return text[:i] + b'"' + text[i:]


def an_open_bracket(text: bytes, rng: Random) -> bytes:
    i = text.index(b"[", rng.randrange(text.rindex(b"[")))
    return text[:i] + b"[" + text[i:]


def a_stray_bracket(text: bytes, rng: Random) -> bytes:
    i = _line(text, rng)
    return text[:i] + rng.choice([b"]\n", b"}\n", b"@x: 1\n", b"`\n", b"*nobody\n"]) + text[i:]


def a_cut_inside_a_list(text: bytes, rng: Random) -> bytes:
    i = text.index(b"[", rng.randrange(text.rindex(b"[")))
    return text[: i + 1]


def a_byte_that_is_not_utf8(text: bytes, rng: Random) -> bytes:
    i = rng.randrange(len(text))
    return text[:i] + bytes([rng.choice([0xFF, 0xFE, 0xC0, 0x80])]) + text[i:]


def a_control_character(text: bytes, rng: Random) -> bytes:
    i = rng.randrange(len(text))
    return text[:i] + bytes([rng.choice([0, 1, 7, 27, 127])]) + text[i:]


def random_bytes(text: bytes, rng: Random) -> bytes:
    return rng.randbytes(rng.randrange(1, 400))


def a_second_document(text: bytes, rng: Random) -> bytes:
    return text + b"---\n" + text


def a_key_given_twice(text: bytes, rng: Random) -> bytes:
    lines = text.splitlines(keepends=True)
    scalars = [i for i, line in enumerate(lines) if b": " in line and not line.lstrip().startswith(b"- ")]
    i = rng.choice(scalars)
    return b"".join([*lines[: i + 1], lines[i], *lines[i + 1 :]])


TEXTUAL: tuple[Callable[[bytes, Random], bytes], ...] = (
    an_open_quote,
    an_open_bracket,
    a_stray_bracket,
    a_cut_inside_a_list,
    a_byte_that_is_not_utf8,
    a_control_character,
    random_bytes,
    a_second_document,
    a_key_given_twice,
)
