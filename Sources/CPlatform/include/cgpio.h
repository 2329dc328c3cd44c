// SPDX-License-Identifier: Apache-2.0
// Buttons and lamps through libgpiod 2.
#pragma once
#include <gpiod.h>
