# SPDX-License-Identifier: Apache-2.0
"""The far end of a call: baresip with a known picture and a known tone, SIPp for odd answers, and the clip."""
