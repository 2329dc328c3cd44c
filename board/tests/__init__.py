# SPDX-License-Identifier: Apache-2.0
"""The checks of board/test. checks.txt names them all and holds their bounds; the files here hold what they do."""
