# SPDX-License-Identifier: Apache-2.0
"""Heddle from Python: kernels on a simulated GPU, results as plain dictionaries, tables and pictures.

    import heddle

    with heddle.Device(heddle.Machine("gtx480")) as device:
        module = device.source("double.cl", "kernel void twice(global int *x) { x[get_global_id(0)] *= 2; }")
        x = device.buffer(array.array("i", range(1024)))
        launch = module.launch("twice", grid=4, block=256, args=[x])
        print(launch["cycles"], launch["simd_efficiency"], x.array("i")[:4])

A layer over libheddle.so (heddle.h) with ctypes, and over the program `heddle` for what draws and explains; it needs nothing but Python's own
library. Buffers take and give anything with the buffer protocol: bytes, array.array, NumPy arrays. Tables are what pandas.DataFrame takes.
Notebooks show tables, pictures and pages inline. What fails raises an Error with Heddle's message. A device, and all that was made from it, is used
by one thread at a time; other Python threads go on while a launch runs. docs/api.md says more.
"""
from .library import (Buffer, Device, Error, Local, Machine, Module, Refused, Stopped, WrongResult, load_plugin, machines, mechanisms,
                      version)
from .program import Page, Picture, Survey, Text, Why, plot, report, show, step, survey, sweep, why
from .table import Findings, Runs, Table, check, run

# In the order of docs/api-python.md.
__all__ = ["run", "sweep", "survey", "why", "step", "show", "check", "report", "plot", "machines", "mechanisms", "load_plugin", "version",
           "Table", "Runs", "Why", "Findings", "Picture", "Survey", "Page", "Text",
           "Machine", "Device", "Module", "Buffer", "Local",
           "Error", "WrongResult", "Refused", "Stopped"]

for _name in __all__:  # which file a name is from is nobody's business
    globals()[_name].__module__ = __name__
