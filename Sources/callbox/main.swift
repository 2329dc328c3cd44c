// SPDX-License-Identifier: Apache-2.0

import Bytes
import CAV
import CALSA
import CDNS
import CDRM
import CGPIO
import CSystem
import CText
import CV4L2

let text: ByteString = "callbox"
print(text.string)
print(Int(avcodec_version()))
print(Int(drmAvailable()))
