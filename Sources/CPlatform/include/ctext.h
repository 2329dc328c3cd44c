// SPDX-License-Identifier: Apache-2.0
// Text and symbols through cairo and pango.
#pragma once
#include <cairo/cairo.h>
#include <pango/pangocairo.h>
