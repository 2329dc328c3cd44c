// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine

/// What goes into a stream of TLS, and what comes out.
extension TLSStream {
    public enum Input {
        /// Ours to begin, as a client. A server waits for the other side.
        case start
        /// From the wire.
        case received([UInt8])
        /// To be sent, at once or when the handshake is done.
        case send([UInt8])
        /// To an `ask`.
        case answered(CertificateAnswer)
        /// Ends the connection in order; nothing comes after what this gives.
        case close
        case timeout
    }

    public enum Output: Equatable {
        /// To the wire.
        case transmit([UInt8])
        /// Plain bytes of the other side.
        case deliver([UInt8])
        case opened
        /// For the log: a certificate was taken, and somebody should know.
        case certificate(CertificateRecord, CertificateVerdict)
        /// Ask the program of `[tls] ask`, and answer with `answered`.
        case ask(CertificateRecord)
        /// The other side closed in order. The last that comes.
        case closed
        /// The last that comes; outputs before it go to the wire still.
        case failed(TLSFault)
        case wait(until: Instant?)
    }
}
