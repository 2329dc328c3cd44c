// SPDX-License-Identifier: Apache-2.0
// Encrypted RTP by libsrtp2.
#pragma once
#include <srtp2/srtp.h>
