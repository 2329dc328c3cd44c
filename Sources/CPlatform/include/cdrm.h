// SPDX-License-Identifier: Apache-2.0
// Kernel mode setting through libdrm.
#pragma once
#include <xf86drm.h>
#include <xf86drmMode.h>
#include <drm_fourcc.h>
