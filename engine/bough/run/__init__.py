"""Runs of a mechanism: inputs, simulation, results, studies of many runs."""
