"""Models as FMUs: variable table, modelDescription.xml, resource, package."""

from bough.fmu.package import build_fmu

__all__ = ["build_fmu"]
