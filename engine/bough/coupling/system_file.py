"""The system file as written: keys, kinds of values, and what each means."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from bough.text.kinds import FileModel, Name, Positive, Whole


class MasterFile(FileModel):
    """How the system is run."""

    step: Positive | None = Field(None, description="communication step, s: a number above 0")
    stop: Positive | None = Field(None, description="end of the run, s: a number above 0")
    order: Literal["jacobi", "gauss-seidel"] = Field("jacobi", description="jacobi or gauss-seidel")
    sequence: list[str] | None = Field(None, description="all components, in the order of Gauss-Seidel")
    extrapolation: Literal["constant", "linear", "energy"] = Field(
        "constant", description="inputs between communication points: constant, linear or energy"
    )
    tolerance: Annotated[float, Field(gt=0.0, lt=1.0)] | None = Field(
        None, description="relative error of a step, between 0 and 1; steps are equal without it"
    )


class HeaderFile(FileModel):
    """The system file without its components and connections."""

    bough_system: Annotated[int, Field(ge=1, le=1)] = Field(description="the format version, 1")
    name: Name = Field(description="the name of the system: letters, digits and underscores")
    set: dict[str, Any] | None = Field(None, description="values of parameters, `component.variable: value`")
    start: dict[str, Any] | None = Field(None, description="start values, `component.variable: value`")
    master: MasterFile | None = Field(None, description="how to run it: step, stop, order, ...")


class ComponentFile(FileModel):
    """A component that is more than a path."""

    fmu: str | None = Field(None, description="the path of an FMU")
    model: str | None = Field(None, description="the path of a model file, to be built, or inside a partner")
    partner: str | None = Field(None, description="a partner to be built: motor, controller, model-controller")
    axes: Annotated[Whole, Field(ge=1)] | None = Field(None, description="number of axes of a partner")
    fmi: Literal["2.0", "3.0"] | None = Field(None, description="FMI version of what is built, '2.0' or '3.0'")
    set: dict[str, Any] | None = Field(None, description="values of its parameters, `variable: value`")


class ConnectionFile(FileModel):
    """A connection that is more than `from -> to`."""

    source: str = Field(alias="from", description="an output, `component.variable`")
    target: str = Field(alias="to", description="an input, `component.variable`")
    factor: Annotated[float, Field(allow_inf_nan=False)] | None = Field(
        None, description="a number: target = factor * source + offset"
    )
    offset: Annotated[float, Field(allow_inf_nan=False)] | None = Field(
        None, description="a number: target = factor * source + offset"
    )
    convert: bool = Field(False, description="true: convert the unit")


class SystemFile(HeaderFile):
    """The whole system file, as editors check it: `gather` reads components and connections one by one."""

    components: Annotated[dict[Name, str | ComponentFile], Field(min_length=1)] = Field(
        description="FMUs, model files and partners by name: `arm: arm.yaml`, `motor: {partner: motor}`",
        json_schema_extra={"additionalProperties": False},  # pydantic lets names pass that do not fit the pattern
    )
    connections: list[str | ConnectionFile] | None = Field(
        None, description="`component.output -> component.input`, or {from: ..., to: ..., factor: ...}"
    )


def system_schema() -> dict[str, Any]:
    """JSON schema of the system file, from the definitions that check it."""
    return SystemFile.model_json_schema()
