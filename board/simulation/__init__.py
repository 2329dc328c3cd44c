# SPDX-License-Identifier: Apache-2.0
"""The simulation: worlds played by processes, and what they say added up."""
