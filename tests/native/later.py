# SPDX-License-Identifier: Apache-2.0
"""Workloads of the suite that use what Fermi, Tesla or all of sm_75 to sm_90 ("sm") have not, and which of them: operations of later
hardware, or of none; doubles, for which the table of Tesla's instructions has no row."""

LATER = {"scan": ["fermi", "tesla", "sm"], "search": ["fermi", "tesla", "sm"], "hashjoin": ["fermi", "tesla", "sm"], "fft": ["tesla"]}
