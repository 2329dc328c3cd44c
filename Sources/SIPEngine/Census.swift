// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// What the engine holds at one moment: nothing of it may be left when every call is over.
public struct SIPCensus: Equatable, Sendable {
    /// Calls that are not over, the ones that are ending on the wire included.
    public var calls: Int
    public var clientTransactions: Int
    public var serverTransactions: Int
    /// The confirmed dialogs in which we have not said BYE.
    public var dialogs: [DialogName]

    public init(calls: Int = 0, clientTransactions: Int = 0, serverTransactions: Int = 0, dialogs: [DialogName] = []) {
        self.calls = calls
        self.clientTransactions = clientTransactions
        self.serverTransactions = serverTransactions
        self.dialogs = dialogs
    }
}

/// What names a dialog (RFC 3261 section 12).
public struct DialogName: Hashable, Sendable {
    public var callID: ByteString
    public var localTag: ByteString
    /// Nil for a peer of RFC 2543.
    public var remoteTag: ByteString?

    public init(callID: ByteString, localTag: ByteString, remoteTag: ByteString?) {
        self.callID = callID
        self.localTag = localTag
        self.remoteTag = remoteTag
    }

    /// The same dialog as the other end names it.
    public var mirrored: DialogName? {
        self.remoteTag.map { DialogName(callID: self.callID, localTag: $0, remoteTag: self.localTag) }
    }
}

extension SIPEngine {
    public var census: SIPCensus {
        SIPCensus(
            calls: self.calls.count, clientTransactions: self.clients.count, serverTransactions: self.servers.count,
            dialogs: self.calls.compactMap { call in
                if case .ending = call.machine.state { return nil }
                return call.dialog.map {
                    DialogName(callID: $0.callID.text, localTag: $0.localTag, remoteTag: $0.remoteTag)
                }
            })
    }
}
