# SPDX-License-Identifier: Apache-2.0
"""What the checks measure: pictures, tones, figures and what passes on the wire. Each file can test itself."""
