# SPDX-License-Identifier: Apache-2.0
"""Boards of QEMU's, which start from the image of a card: what board/image-test and the checks of images use."""
