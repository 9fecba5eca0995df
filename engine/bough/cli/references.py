"""`bough record` and `bough verify`: keep a run as a reference, and see later whether it moved."""

from __future__ import annotations

import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bough.cli.console import FAILED, answer, guarded, problems, progress_bar, say
from bough.cli.containing import CallTimeout, Contained, InProcess
from bough.cli.options import Fmi, Json
from bough.errors import BoughError, SimulationError
from bough.model.named_files import check_target

if TYPE_CHECKING:
    from bough.regression import Comparison, Reference, Tolerance


@guarded
def record(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL|X.fmu|X.ssp", help="Model file, FMU, system file or SSP package.", show_default=False
        ),
    ],
    stop: Annotated[
        float | None,
        typer.Option("--stop", metavar="T", help="End of the run, s.", show_default="10, or as the system says"),
    ] = None,
    step: Annotated[
        float | None,
        typer.Option(
            "--step",
            metavar="H",
            help="Communication step, s.",
            show_default="a thousandth of the run, or as the system says",
        ),
    ] = None,
    input_: Annotated[
        Path | None, typer.Option("--input", metavar="CSV", help="Inputs over time; kept by its path.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Input, parameter or start value; may be repeated."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="PATTERN", help="Variables to keep, * for anything; may be repeated."),
    ] = None,
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="MODEL.NAME.reference.csv: several references of a model.")
    ] = "",
    fmi: Annotated[Fmi, typer.Option("--fmi", help="Of the FMU that is built from a model.")] = Fmi.two,
    rtol: Annotated[float, typer.Option("--rtol", metavar="R", help="Relative tolerance of the solver.")] = 1e-6,
    tol: Annotated[
        float | None,
        typer.Option("--tol", metavar="R", help="How far a variable may move, of its amplitude.", show_default="1e-4"),
    ] = None,
    tol_for: Annotated[
        list[str] | None,
        typer.Option("--tol-for", metavar="PATTERN=R", help="The same for some variables; may be repeated."),
    ] = None,
    atol: Annotated[
        float | None,
        typer.Option(
            "--atol", metavar="A", help="How far a value that is exactly zero may move.", show_default="1e-12"
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a reference that is there.")] = False,
    embed: Annotated[
        bool, typer.Option("--embed/--no-embed", help="Put the run of an FMU into the FMU too (fmi-ls-ref).")
    ] = True,
    in_process: InProcess = False,
    call_timeout: CallTimeout = None,
    as_json: Json = False,
) -> None:
    """Run a model through its FMU, or a system, and keep the run beside it as a reference."""
    from bough.regression import Tolerance, record, reference_path
    from bough.regression.reference import about_path
    from bough.regression.rerun import STOP, is_system

    _check_times(stop if stop is not None or is_system(source) else STOP, step)
    contained = Contained.of(in_process, call_timeout)
    standard = Tolerance()
    tolerance = Tolerance(
        _fraction(standard.relative if tol is None else tol, "--tol"),
        _fraction(standard.absolute if atol is None else atol, "--atol"),
        dict(_pair(text, "--tol-for") for text in tol_for or []),
    )
    settings = dict(_pair(text, "--set", negative=True) for text in set_ or [])
    path = reference_path(source, name)
    for each in (path, about_path(path)):
        check_target(each, source, input_)
    if path.exists() and not force:
        _refuse_others(path, source)
        raise SimulationError(
            f"{path} is there already: `bough verify {source} --update` keeps its recipe and takes the present run; "
            "`bough record --force` makes it anew"
        )
    try:
        with progress_bar(source.stem) as progress:
            kept = record(
                source, stop, step, path=path, input_file=input_, settings=settings, only=tuple(only or ()),
                fmi=fmi.value, rtol=_fraction(rtol, "--rtol"), tolerance=tolerance,
                command=_command(source, stop, step, input_, set_), progress=progress,
                isolate=contained.isolate, call_timeout=contained.call_timeout, embed=embed,
            )  # fmt: skip
    except BoughError as error:
        if as_json:
            answer(problems(error))
        raise
    result = kept.result()
    if as_json:
        about = {"ok": True, "reference": str(path), "rows": len(result), "variables": len(result.names)}
        answer({**about, "tolerance": tolerance.relative})
    inside = "; the FMU has it inside" if embed and source.suffix.lower() == ".fmu" else ""
    say(f"{path}: {len(result.names)} variables, {len(result)} rows to t = {result.t[-1]:.6g} s{inside}")


@guarded
def verify(
    source: Annotated[
        Path,
        typer.Argument(metavar="MODEL|X.fmu|X.ssp|X.reference.csv", help="What was recorded.", show_default=False),
    ],
    reference: Annotated[
        list[Path] | None,
        typer.Option(
            "--reference",
            metavar="CSV",
            help="Reference to compare with; may be repeated.",
            show_default="all beside the model that are its",
        ),
    ] = None,
    tol: Annotated[
        float | None,
        typer.Option("--tol", metavar="R", help="Instead of the recorded tolerances.", show_default="as recorded"),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="PNG",
            help="Picture of the worst variables.",
            show_default="MODEL.verify.png here, if something moved",
        ),
    ] = None,
    update: Annotated[bool, typer.Option("--update", help="Accept the run as the new reference.")] = False,
    in_process: InProcess = False,
    call_timeout: CallTimeout = None,
    as_json: Json = False,
) -> None:
    """Run a reference again through the FMU, and report where and by how much it moved."""
    from bough.regression import account, read_reference, verify
    from bough.regression import as_json as told_to_programs

    contained = Contained.of(in_process, call_timeout)
    try:
        rows, ok = [], True
        paths = _references(source, reference)
        for path in paths:
            _check_outputs(source, path, _place(output, path, paths), update)
        for path in paths:
            known = read_reference(path)
            with progress_bar(path.name) as progress:
                comparison = verify(
                    known,
                    source=None if source == path else source,
                    tolerance=_override(known, tol),
                    progress=progress,
                    isolate=contained.isolate,
                    call_timeout=contained.call_timeout,
                )
            accepted = update and _accept(known, comparison)
            ok &= comparison.ok or accepted
            picture = _draw(known, comparison, _place(output, path, paths), as_json or accepted)
            rows.append({**told_to_programs(known, comparison, picture), "updated": accepted})
            if not as_json:
                typer.echo(account(known, comparison, picture) if not accepted else _accepted(known, comparison))
    except BoughError as error:
        if as_json:
            answer(problems(error))
        raise
    if as_json:
        answer({"ok": ok, "references": rows})
    if not ok:
        raise typer.Exit(FAILED)


def _references(source: Path, given: list[Path] | None) -> list[Path]:
    from bough.regression import ENDING, reference_path, references_of

    if source.name.endswith(ENDING):
        return [source]
    if not source.is_file():
        raise SimulationError(f"cannot read {source}: there is no such file")
    found = given or references_of(source)
    if not found:
        _refuse_others(reference_path(source), source)
        raise SimulationError(f"there is no {reference_path(source)}; `bough record {source}` makes it")
    return found


def _refuse_others(path: Path, source: Path) -> None:
    """Refuse a reference of another file of the same name, such as `drive.yaml` and `drive.ssp`."""
    from bough.regression.reference import about_path, read_reference

    if path.exists() and about_path(path).is_file():
        owner = read_reference(path).source_path
        if owner.resolve() != source.resolve():
            raise SimulationError(
                f"{path} is the reference of {owner.name}, not of {source.name}: `bough record {source} --name NAME` "
                f"makes one beside it, `bough verify {owner}` looks at that one"
            )


def _check_outputs(source: Path, path: Path, picture: Path | None, update: bool) -> None:
    """Refuse, before the first run, what cannot be written, or a picture that is one of the files."""
    from bough.regression.reference import about_path

    if picture is not None:
        check_target(picture, source, path, about_path(path))
    if update:
        check_target(path)
        check_target(about_path(path))


def _override(known: Reference, tol: float | None) -> Tolerance:
    from bough.regression import Tolerance

    return known.tolerance if tol is None else Tolerance(_fraction(tol, "--tol"), known.tolerance.absolute)


def _accept(known: Reference, comparison: Comparison) -> bool:
    """Keep the run if anything but nothing has changed; whether it was kept."""
    from bough.regression import accept

    same = comparison.ok and not comparison.new and all(d.size == 0.0 for d in comparison.deviations)
    if not same or known.changed_files():
        accept(known, comparison.result)
        return True
    return False


def _accepted(known: Reference, comparison: Comparison) -> str:
    from bough.regression import headline, table

    lines = [f"{known.path}: updated; {headline(comparison)}"]
    return "\n".join(lines + ([table(comparison.moved)] if comparison.moved else []))


def _place(output: Path | None, path: Path, paths: list[Path]) -> Path | None:
    """Where the picture goes: with several references each gets its own."""
    if output is None or len(paths) == 1:
        return output
    from bough.regression import ENDING

    return output.with_name(f"{output.stem}.{path.name.removesuffix(ENDING)}{output.suffix}")


def _draw(known: Reference, comparison: Comparison, output: Path | None, quiet: bool) -> str:
    """Draw if it was asked for, or if something moved; the file's name, or nothing."""
    from bough.regression import ENDING, draw_comparison

    if not comparison.deviations or (output is None and (comparison.ok or quiet)):
        return ""
    target = Path(known.path.name.removesuffix(ENDING) + ".verify.png") if output is None else output
    draw_comparison(comparison, target)
    return str(target)


def _check_times(stop: float | None, step: float | None) -> None:
    if stop is not None and not 0.0 < stop < math.inf:
        raise typer.BadParameter(f"expected more than zero seconds, found {stop}", param_hint="--stop")
    if step is not None and not 0.0 < step <= (math.inf if stop is None else stop):
        raise typer.BadParameter(f"expected a time between zero and --stop, found {step}", param_hint="--step")


def _fraction(value: float, option: str) -> float:
    if not 0.0 <= value < math.inf:
        raise typer.BadParameter(f"expected a number, zero or more, found {value}", param_hint=option)
    return value


def _pair(text: str, option: str, negative: bool = False) -> tuple[str, float]:
    name, _, number = text.rpartition("=")
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not name.strip() or not math.isfinite(value) or (value < 0.0 and not negative):
        raise typer.BadParameter(f"expected NAME=NUMBER, found {text!r}", param_hint=option)
    return name.strip(), value


def _command(
    source: Path, stop: float | None, step: float | None, file: Path | None, settings: list[str] | None
) -> str:
    """What made the reference, without the folders of this machine."""
    words = ["bough", "record", source.name, *([] if stop is None else ["--stop", f"{stop:g}"])]
    words += [] if step is None else ["--step", f"{step:g}"]
    words += [] if file is None else ["--input", file.name]
    for setting in settings or []:
        words += ["--set", setting]
    return shlex.join(words)
