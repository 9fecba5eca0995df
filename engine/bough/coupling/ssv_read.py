"""Reads parameter sets (.ssv) and parameter mappings (.ssm) of an SSP package, and gives values to components."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NoReturn
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from bough.coupling.assembly import Component, Value, Variable
from bough.coupling.settings import hint, unsettable
from bough.coupling.ssd import SSC, SSD, SSM, SSV


class Bindings:
    """Parameter bindings of components and systems."""

    def __init__(self, locate: Callable[[str], Path], refuse: Callable[[str], NoReturn]) -> None:
        """Take how to find a file in the package, and what refuses with a message."""
        self._locate, self._refuse = locate, refuse

    def of_component(self, e: Element, component: Component) -> Component:
        """A component with the values that its own bindings give."""
        for name, text in self._values(e):
            component = self._with_value(component, name, text, name)
        return component

    def of_system(
        self, e: Element, own: Mapping[str, str], inner: Mapping[str, str], components: dict[str, Component]
    ) -> None:
        """Give the values of a system's bindings: `component.variable`, or `system.component.variable` further in.

        Args:
            e: The system.
            own: Full names of its components, by their names in it.
            inner: Full names of the systems in it.
            components: All components by their full names; those that get a value are replaced.
        """
        for name, text in self._values(e):
            first, _, rest = name.partition(".")
            full, variable = own.get(first), rest
            if first in inner:
                head = [k for k in components if rest.startswith(k.removeprefix(f"{inner[first]}_") + ".")]
                full = next((k for k in head if k.startswith(f"{inner[first]}_")), None)
                variable = rest.partition(".")[2]
            if full is None:
                self._refuse(f"a parameter set names {name!r}, which is not a variable{hint(first, [*own, *inner])}")
            components[full] = self._with_value(components[full], variable, text, name)

    def _with_value(self, component: Component, variable: str, text: str, told: str) -> Component:
        known = component.interface.variables
        if variable not in known:
            self._refuse(f"a parameter set names {told!r}, which is not a variable{hint(variable, known)}")
        reason = unsettable(component, variable)
        if reason:
            self._refuse(f"a parameter set sets {component.name}.{variable}: {reason}")
        value = self._value(known[variable], text, told)
        return replace(component, values={**component.values, variable: value})

    def _values(self, e: Element) -> list[tuple[str, str]]:
        """Names and texts of everything that is bound to an element, after mappings."""
        out: list[tuple[str, str]] = []
        for binding in e.findall(f"{{{SSD}}}ParameterBindings/{{{SSD}}}ParameterBinding"):
            if binding.get("sourceBase", "SSD") != "SSD":
                self._refuse("a parameter set inside of a component (sourceBase) is not known here")
            prefix, given = binding.get("prefix", ""), self._parameters(binding)
            mapping = self._document(binding, "ParameterMapping", SSM)
            if mapping is not None:
                given = self._mapped(mapping, dict(given))
            out += [(prefix + name, text) for name, text in given]
        return out

    def _document(self, binding: Element, kind: str, space: str) -> Element | None:
        """A file that a binding names, or what it has inside; None if there is none."""
        holder = binding.find(f"{{{SSD}}}{kind}")
        source = None if holder is None else holder.get("source")
        if source is None:
            return None if holder is None else holder.find(f"{{{space}}}{kind}")
        return self._parse(source)

    def _parse(self, source: str) -> Element:
        try:
            return ElementTree.parse(self._locate(source)).getroot()
        except (ElementTree.ParseError, LookupError, ValueError) as error:  # the latter two: of its encoding
            self._refuse(f"{source} is not XML: {error}")

    def _parameters(self, binding: Element) -> list[tuple[str, str]]:
        source = binding.get("source")
        if source is not None:
            top: Element | None = self._parse(source)
        else:
            top = binding.find(f"{{{SSD}}}ParameterValues/{{{SSV}}}ParameterSet")
        out = []
        for parameter in top.findall(f"{{{SSV}}}Parameters/{{{SSV}}}Parameter") if top is not None else ():
            typed = [child for child in parameter if child.get("value") is not None]
            if typed:
                out.append((parameter.get("name", ""), typed[0].get("value", "")))
        return out

    def _mapped(self, mapping: Element, given: Mapping[str, str]) -> list[tuple[str, str]]:
        """Values under the names of their targets; what is not mapped is left out, as the standard has it."""
        out = []
        for entry in mapping.findall(f"{{{SSM}}}MappingEntry"):
            source, target = entry.get("source", ""), entry.get("target", "")
            if source not in given:
                self._refuse(f"a parameter mapping names {source!r}, which its set does not have{hint(source, given)}")
            text, line = given[source], entry.find(f"{{{SSC}}}LinearTransformation")
            if line is not None:
                try:
                    text = repr(float(line.get("factor", "1")) * float(text) + float(line.get("offset", "0")))
                except ValueError:
                    self._refuse(f"parameter {source} is {text!r}; expected a number, for its linear transformation")
            elif any(child.tag.endswith("Transformation") for child in entry):
                self._refuse(f"the mapping of {source}: only linear transformations are known here")
            out.append((target, text))
        return out

    def _value(self, v: Variable, text: str, name: str) -> Value:
        try:
            if v.kind == "boolean":
                return {"true": True, "1": True, "false": False, "0": False}[text]
            if v.kind in ("string", "binary"):
                return text if v.kind == "string" else bytes.fromhex(text)
            if text in v.items:
                return v.items[text]
            return float(text) if v.kind == "real" else int(text)
        except (KeyError, ValueError):
            self._refuse(f"parameter {name} is {text!r}; expected {v.kind}")
