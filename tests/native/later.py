# SPDX-License-Identifier: Apache-2.0
"""Workloads of the suite that use operations of hardware later than Fermi and Tesla, or of none."""

LATER = ["scan", "search", "hashjoin"]
