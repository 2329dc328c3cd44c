// SPDX-License-Identifier: Apache-2.0
// Names to addresses through c-ares.
#pragma once
#include <ares.h>
