# SPDX-License-Identifier: Apache-2.0
"""Workloads of the suite that use what Fermi or Tesla has not, and which of them: operations of later hardware, or of none;
doubles, for which the table of Tesla's instructions has no row."""

LATER = {"scan": ["fermi", "tesla"], "search": ["fermi", "tesla"], "hashjoin": ["fermi", "tesla"], "fft": ["tesla"]}
