"""FMUs as C99 source code: kernel, adapter and the model as an array, for targets without a file system.

Every external name of the sources gets the model's name in front, by a header of macros made here from the sources: any
number of such FMUs link into one program. The FMI functions get the same prefix, as the standards ask. The FMI headers
are the importer's, as both standards say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from bough.errors import BuildError
from bough.fmu.installed import all_files, source_folder
from bough.fmu.markup import document, element

DATA = "model_data.c"
"""File with the model as an array."""
_LEFT_OUT = ("lanes_four.c", "location.c")
"""An FMU steps one state at a time, and needs no file."""
_NAME = re.compile(r"\b(?:bough|fmu)_\w+")
_MACRO = re.compile(r"^\s*#\s*define\s+(\w+)", re.MULTILINE)
_FOLDER = re.compile(r'^(\s*#\s*include\s+")[\w/]+/', re.MULTILINE)


def source_names(fmi: str) -> list[str]:
    """C files to compile, in `sources/`."""
    return sorted(name for name in _sources(fmi) if name.endswith(".c")) + [DATA]


def source_files(files: Mapping[str, bytes], model: str, fmi: str, keep: bool = False) -> dict[str, bytes]:
    """The files of a native FMU, binaries left out, made into one of source code.

    Args:
        files: As `fmu_files` gives them.
        model: The model's name, which is the model identifier.
        fmi: "2.0" or "3.0".
        keep: Whether binaries go along, which read the model from its file.

    Raises:
        BuildError: This installation lacks the sources.
    """
    out = dict(files)
    resource = out["resources/model.bough"] if keep else out.pop("resources/model.bough")
    texts = _sources(fmi)
    header = f"{model}_names.h"
    sources = {name: f'#include "{header}"\n{text}' if name.endswith(".c") else text for name, text in texts.items()}
    sources[header] = _names(model, fmi, texts.values())
    sources[DATA] = _array(model, resource)
    sources["buildDescription.xml"] = _build_description(model, source_names(fmi))
    out |= {f"sources/{name}": text.encode() for name, text in sources.items()}
    return out


def _sources(fmi: str) -> dict[str, str]:
    """Text of every source file, by its name: they all go into one folder."""
    out: dict[str, str] = {}
    for parts in (("kernel", "include"), ("kernel", "src"), ("common",), (f"fmi{fmi[0]}",)):
        for file in all_files(source_folder(*parts)):
            if not file.name.endswith((".c", ".h", ".inl", ".def")) or file.name in _LEFT_OUT:
                continue
            if file.name in out:
                raise BuildError(f"two source files have the name {file.name}: this installation is damaged")
            out[file.name] = _FOLDER.sub(r"\1", file.read_text(encoding="utf-8"))
    return dict(sorted(out.items()))


def _names(model: str, fmi: str, texts: Iterable[str]) -> str:
    """The header that every source file begins with."""
    words: set[str] = set()
    macros: set[str] = set()
    for text in texts:
        words |= set(_NAME.findall(text))
        macros |= set(_MACRO.findall(text))
    prefix = f"FMI{fmi[0]}_FUNCTION_PREFIX"
    override = f"FMI{fmi[0]}_OVERRIDE_FUNCTION_PREFIX"
    lines = [
        f"/* Names of the FMU {model}: its own, so that it links with others into one program. Made by bough. */",
        f"#ifndef {model}_NAMES_H",
        f"#define {model}_NAMES_H",
        "",
        f"/* -D{override}: plain names, for a shared library */",
        f"#if !defined({prefix}) && !defined({override})",
        f"#define {prefix} {model}_",
        "#endif",
        "",
        f"#define BOUGH_FMU_EMBEDDED {model}_ /* the model is {model}_resource in {DATA} */",
        "#define BOUGH_API",
        "#define BOUGH_NO_BATCH",
        "#define BOUGH_NO_V3",
        "#define BOUGH_ISA base",
        "",
        *(f"#define {name} {model}_{name}" for name in sorted(words - macros)),
        "",
        "#endif",
    ]
    return "\n".join(lines) + "\n"


def _array(model: str, data: bytes) -> str:
    """The model as C: bytes in decimal, thirty-two to a line."""
    rows = (",".join(str(x) for x in data[i : i + 32]) for i in range(0, len(data), 32))
    return (
        f"/* {DATA} - the model {model}: the table of its variables and the kernel's block. Made by bough. */\n"
        f"extern const unsigned char {model}_resource[];\n"
        f"extern const unsigned long {model}_resource_size;\n"
        f"const unsigned char {model}_resource[{len(data)}] = {{\n" + ",\n".join(rows) + "};\n"
        f"const unsigned long {model}_resource_size = {len(data)};\n"
    )


def _build_description(model: str, names: Iterable[str]) -> str:
    """buildDescription.xml of FMI 3.0, which FMI 2.0.4 takes over as it is."""
    files = [line for name in names for line in element("SourceFile", {"name": name})]
    inside = element("SourceFileSet", {"language": "C99"}, files)
    inside += element("Library", {"name": "m", "external": True, "description": "Mathematics of the C library"})
    build = element("BuildConfiguration", {"modelIdentifier": model, "description": "Any platform"}, inside)
    return document(element("fmiBuildDescription", {"fmiVersion": "3.0"}, build))
