"""Pydantic's findings in the words of the model file: expected, found, cure."""

from __future__ import annotations

import math
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from bough.text.kinds import NAME_LENGTH, TAG
from bough.text.problems import Path, Report, describe, key_path, one_of
from bough.text.scalars import number_of
from bough.text.unit_words import si_number, without_unit

_NUMBER_ERRORS = frozenset({"float_type", "int_type", "int_from_float", "finite_number"})


def check(cls: type[BaseModel], data: Any, path: Path, report: Report, whole: type[BaseModel] | None = None) -> Any:
    """The data as an instance of a class of the file, or None with the problems in the report.

    Args:
        cls: Class of the file.
        data: Plain data.
        path: Of the data in the file.
        report: Takes what is wrong.
        whole: Class with all keys that a user may write there, where `cls` checks only some of them.
    """
    try:
        return cls.model_validate(data)
    except ValidationError as error:
        _translate(error, whole or cls, path, report)
        return None


def _translate(error: ValidationError, cls: type[BaseModel], path: Path, report: Report) -> None:
    details = error.errors(include_url=False)
    renamed: dict[Path, str] = {}
    shapeless: set[Path] = set()
    for detail in details:
        location = _location(detail)
        if detail["type"] == "extra_forbidden":
            suggestion = _suggested(str(location[-1]), _keys_at(detail["loc"], cls), report)
            if suggestion is not None:
                renamed[location] = suggestion
                report.corrected.add((*path, *location[:-1], suggestion))
        elif detail["type"] == "literal_error" and location[-1:] == ("shape",):
            shapeless.add(location[:-1])
    for detail in details:
        location = _location(detail)
        # A misspelt key is one mistake, not an unknown key and a missing one; a section of unknown shape is
        # one mistake too, whatever its other keys.
        if detail["type"] == "missing" and (*path, *location) in report.corrected:
            continue
        if location[:-1] in shapeless and location[-1] != "shape":
            continue
        report.add((*path, *location), *_words(detail, cls, renamed.get(location), report))


def _suggested(key: str, known: list[str], report: Report) -> str | None:
    """The known key that is meant by an unknown one: another name for it, or one that is spelt nearly so."""
    words = report.words
    return words.meant(key, known) or (None if words.moved(key) else report.suggest(key, known))


def _location(detail: Any) -> Path:
    """The key path of an error, without the tags that pydantic puts in for unions."""
    return tuple(part for part in detail["loc"] if not (isinstance(part, str) and part.startswith(TAG)))


def _words(detail: Any, cls: type[BaseModel], suggestion: str | None, report: Report) -> tuple[str, str, str]:
    """Expected, found and cure of one error."""
    kind, value, limits, location = detail["type"], detail["input"], detail.get("ctx", {}), _location(detail)
    if kind == "extra_forbidden":
        keys, key = one_of(_keys_at(detail["loc"], cls)), str(detail["loc"][-1])
        return f"one of the keys {keys}", f"the unknown key {key!r:.80}", _key_cure(key, suggestion, report)
    expected = _expected(location, cls)
    if kind == "missing":
        return expected, "no such key", f"add `{location[-1]}: ...`"
    if kind in _NUMBER_ERRORS:
        return expected, describe(value), _number_cure(value, kind, expected)
    if kind in ("greater_than", "greater_than_equal", "less_than", "less_than_equal"):
        return expected, describe(value), report.words.cures.get(key_path(location)) or _limit_cure(limits)
    if kind in ("too_short", "too_long"):
        return expected, describe(value), report.words.cures.get(key_path(location)) or _length_cure(limits)
    if kind == "literal_error":
        return expected, describe(value), _choice_cure(value, limits, report)
    if kind == "list_type":
        key = next((part for part in reversed(location) if isinstance(part, str)), "")
        axis = key in report.words.directions
        cure = _axis_cure(value) if axis and isinstance(value, str) else _list_cure(value, _field_at(location, cls)[0])
        return expected, describe(value), cure
    if kind == "model_type" and isinstance(value, int | float) and not isinstance(value, bool):
        last = location[-1] if location else None  # none: an entry of a list, which has no key
        cure = _mapping_cure(last, value, expected) if isinstance(last, str) else _CURES[kind]
        return expected, describe(value), cure
    return expected, describe(value), _CURES.get(kind, "write what is expected")


def _mapping_cure(key: str, value: float, expected: str) -> str:
    """A number where a mapping is wanted: as its first key it is most often meant."""
    first = expected.partition("{")[2].partition(",")[0].strip("} ")
    return f"write a mapping, such as `{key}: {{{first}: {value:g}}}`" if first else _CURES["model_type"]


_CURES = {
    "model_type": "write a mapping of `key: value` lines",
    "model_attributes_type": "write a mapping of `key: value` lines",
    "dict_type": "write a mapping of `key: value` lines",
    "bool_type": "write true or false, without quotes",
    "string_type": "write a name; put it in quotes if it looks like a number",
    "string_pattern_mismatch": "use letters, digits and underscores only, and begin with a letter",
    "string_too_long": f"use at most {NAME_LENGTH} characters",
    "string_unicode": "use plain letters",
}


def _key_cure(key: str, suggestion: str | None, report: Report) -> str:
    if suggestion is not None:
        si = without_unit(key) != key.lower() and without_unit(key) == suggestion.lower()
        return f"did you mean '{suggestion}'?{' Numbers are in SI units: m, kg, s, N, Pa, rad' if si else ''}"
    return report.words.moved(key) or "remove it"


def _list_cure(value: object, field: FieldInfo | None) -> str:
    """Brackets around what is there, where a list of names or mappings is wanted."""
    wanted = None if field is None else field.annotation
    if isinstance(value, str) and _lists_text(wanted):
        return f"write a list, in brackets: [{value:.200}]"
    if isinstance(value, dict) and wanted is not None and _models_in(wanted):
        return "write a list: put `- ` before the first key and indent the others as far, or use brackets: [{...}]"
    return "write a list, in brackets, such as [1, 2, 3]"


def _axis_cure(value: str) -> str:
    """The direction that a letter such as `x` or `-z` stands for."""
    sign, letter = ("-" if value.strip().startswith("-") else ""), value.strip().lstrip("+-").lower()
    if letter not in ("x", "y", "z"):
        return "write a direction of three numbers, such as [0, 0, 1] for z"
    return f"write [{', '.join(sign + '1' if each == letter else '0' for each in 'xyz')}]"


def _number_cure(value: object, kind: str, expected: str) -> str:
    converted = si_number(value, expected) if isinstance(value, str) else None
    if converted is not None:
        return f"write the number alone, in {converted.unit or 'parts of one'}: {converted.text}"
    if kind == "int_from_float":
        return "write a whole number"
    if isinstance(value, float) and not math.isfinite(value):
        return "write a finite number"
    if isinstance(value, str) and number_of(value.strip()) is not None:
        return "write the number without quotes"
    if isinstance(value, bool):
        return "write a number instead of true or false"
    return "write a plain number, such as 0.5 or 1e-4"


def _limit_cure(limits: dict[str, Any]) -> str:
    words = {"gt": "above", "ge": "of at least", "lt": "below", "le": "of at most"}
    bounds = [f"{words[name]} {limit:g}" for name, limit in limits.items() if name in words]
    return f"use a value {' and '.join(bounds)}"


def _length_cure(limits: dict[str, Any]) -> str:
    count = limits.get("min_length", limits.get("max_length"))
    return f"give {count} value{'' if count == 1 else 's'}"


def _choice_cure(value: object, limits: dict[str, Any], report: Report) -> str:
    choices = [word.strip("' ") for word in str(limits.get("expected", "")).replace(" or ", ",").split(",")]
    close = report.suggest(value, choices) if isinstance(value, str) else None
    return f"write one of {', '.join(choices)}" if close is None else f"did you mean '{close}'?"


def _expected(location: Path, cls: type[BaseModel]) -> str:
    """What the description of the nearest field says, and which part of it is meant."""
    field, rest = _field_at(location, cls)
    if field is None or field.description is None:
        return "a mapping of `key: value` lines"
    if not rest:
        return field.description
    name = next(part for part in reversed(location) if isinstance(part, str))
    return f"an item that fits '{name}', which is {field.description}"


def _field_at(location: Path, cls: type[BaseModel]) -> tuple[FieldInfo | None, Path]:
    """The innermost field on the way to a location, and what of the way lies inside of it."""
    field: FieldInfo | None = None
    rest: Path = ()
    inner: list[type[BaseModel]] = [cls]
    for part in location:
        fields = [c.model_fields[part] for c in inner if isinstance(part, str) and part in c.model_fields]
        found = fields[0] if fields else None
        if found is None:
            rest = (*rest, part)
        else:
            field, rest, inner = found, (), _models_in(found.annotation)
    return field, rest


def _keys_at(loc: Path, cls: type[BaseModel]) -> list[str]:
    """The keys of the mapping in which pydantic met an unknown one; `loc` still has its union tags."""
    inner = [cls]
    for part in loc[:-1]:
        for c in inner:
            if isinstance(part, str) and part in c.model_fields:
                inner = _models_in(c.model_fields[part].annotation)
                break
        else:
            if isinstance(part, str) and part.startswith(TAG):
                inner = [c for c in inner if part[1:] in _tags_of(c)] or inner
    return [name for c in inner[:1] for name in c.model_fields]


def _tags_of(cls: type[BaseModel]) -> set[str]:
    """The union tags that a class of the file goes by: the shape of a section, or 'numbers' without one."""
    shape = cls.model_fields.get("shape")
    return {"numbers"} if shape is None else set(get_args(shape.annotation))


def _lists_text(annotation: Any) -> bool:
    """Whether a field of this type is a list of names, alone or among others."""
    return annotation == list[str] or any(_lists_text(argument) for argument in get_args(annotation))


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    """The mappings that a field of this type may hold, in its lists and unions too."""
    # Python 3.10 takes list[str] for a class, and then refuses to say of which it is a subclass.
    if get_origin(annotation) is None and isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in get_args(annotation) for model in _models_in(argument)]
