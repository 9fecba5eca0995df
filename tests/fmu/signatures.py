"""Functions of FMI 2 and FMI 3 by their names without prefix, and what they take."""

from __future__ import annotations

# Arguments after the instance: p pointer, d double, i int, b bool (FMI 3), z size_t, u value reference.
_BOTH = {
    "ExitInitializationMode": "",
    "Terminate": "",
    "Reset": "",
    "EnterEventMode": "",
    "EnterContinuousTimeMode": "",
    "SetTime": "d",
    "SetContinuousStates": "pz",
    "GetEventIndicators": "pz",
    "GetContinuousStates": "pz",
    "GetNominalsOfContinuousStates": "pz",
}
_STATE = {"Get{}": "p", "Set{}": "p", "Free{}": "p", "Serialized{}Size": "pp", "Serialize{}": "ppz"}
SIGNATURES: dict[str, dict[str, str]] = {
    "2.0": {
        **_BOTH,
        "SetDebugLogging": "izp",
        "SetupExperiment": "iddid",
        "EnterInitializationMode": "",
        **{f"{way}{kind}": "pzp" for way in ("Get", "Set") for kind in ("Real", "Integer", "Boolean", "String")},
        **{name.format("FMUstate"): kinds for name, kinds in _STATE.items()},
        "DeSerializeFMUstate": "pzp",
        "GetDirectionalDerivative": "pzpzpp",
        "NewDiscreteStates": "p",
        "CompletedIntegratorStep": "ipp",
        "GetDerivatives": "pz",
        "SetRealInputDerivatives": "pzpp",
        "GetRealOutputDerivatives": "pzpp",
        "DoStep": "ddi",
        "CancelStep": "",
        **{f"Get{kind}Status": "ip" for kind in ("", "Real", "Integer", "Boolean", "String")},
    },
    "3.0": {
        **_BOTH,
        "SetDebugLogging": "bzp",
        "EnterInitializationMode": "bddbd",
        **{
            f"{way}{kind}": "pzpz"
            for way in ("Get", "Set")
            for kind in ("Float32 Float64 Int8 UInt8 Int16 UInt16 Int32 UInt32 Int64 UInt64 Boolean String".split())
        },
        **{f"{way}Binary": "pzppz" for way in ("Get", "Set")},
        **{f"{way}Clock": "pzp" for way in ("Get", "Set")},
        "GetIntervalDecimal": "pzpp",
        "GetIntervalFraction": "pzppp",
        "GetShiftDecimal": "pzp",
        "GetShiftFraction": "pzpp",
        "SetIntervalDecimal": "pzp",
        "SetIntervalFraction": "pzpp",
        "SetShiftDecimal": "pzp",
        "SetShiftFraction": "pzpp",
        "ActivateModelPartition": "ud",
        "GetNumberOfVariableDependencies": "up",
        "GetVariableDependencies": "uppppz",
        **{name.format("FMUState"): kinds for name, kinds in _STATE.items()},
        "DeserializeFMUState": "pzp",
        "GetDirectionalDerivative": "pzpzpzpz",
        "GetAdjointDerivative": "pzpzpzpz",
        "EnterConfigurationMode": "",
        "ExitConfigurationMode": "",
        "EvaluateDiscreteStates": "",
        "UpdateDiscreteStates": "pppppp",
        "CompletedIntegratorStep": "bpp",
        "GetContinuousStateDerivatives": "pz",
        "GetNumberOfEventIndicators": "p",
        "GetNumberOfContinuousStates": "p",
        "EnterStepMode": "",
        "GetOutputDerivatives": "pzppz",
        "DoStep": "ddbpppp",
    },
}
