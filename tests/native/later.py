# SPDX-License-Identifier: Apache-2.0
"""Workloads of the suite that use what Fermi, Tesla, our own code for sm_86 ("native") or all of sm_75 to sm_90 ("sm") have not, and which of them: operations of later
hardware, or of none; doubles, for which the table of Tesla's instructions has no row."""

LATER = {"scan": ["fermi", "tesla", "native", "sm"], "search": ["fermi", "tesla", "native", "sm"], "hashjoin": ["fermi", "tesla", "native", "sm"], "fft": ["tesla"]}
