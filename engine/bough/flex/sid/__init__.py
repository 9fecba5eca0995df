"""SID_FEM files: Wallrapp's Standard Input Data of a flexible body, read and written."""

from bough.flex.sid.sid import read_sid, write_sid

__all__ = ["read_sid", "write_sid"]
