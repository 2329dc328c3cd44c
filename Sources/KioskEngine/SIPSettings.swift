// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// `[sip]`
public struct SIPSettings: Equatable, Sendable {
    /// `[::]` stands for every address of both families.
    public var listen = SocketAddress(.v6(high: 0, low: 0), port: 5060)
    /// For calls whose URI does not name one.
    public var transport = SIPTransport.udp
    /// The user part of our own address.
    public var user: ByteString = "callbox"
    /// How the far end sees us by name; may be empty.
    public var name: ByteString = "Callbox"
    /// Our INVITE has no offer: the far end makes one.
    public var isOfferless = false
    public var acceptFrom = SIPPeers.servers
    /// Whose wish to be answered at once is honoured; they may talk to us too.
    public var autoAnswerFrom: [AddressRange] = []
    public var accounts = AccountOrder.serial
    /// The name that goes with the password; empty: `user`.
    public var authUser = ByteString()
    /// Empty where it was never here, or was moved to a place of its own.
    public var password = ByteString()

    /// The name that goes with a password that comes without one.
    public var passwordUser: ByteString { self.authUser.isEmpty ? self.user : self.authUser }

    /// What the file itself has to say to whoever asks for a password.
    public var credentials: [Credential] {
        self.password.isEmpty ? [] : [Credential(username: self.passwordUser, password: self.password)]
    }
}

/// How many of the accounts are registered.
public enum AccountOrder: Sendable {
    /// The first that can be.
    case serial
    case all
}

/// `[account]`
public struct AccountSettings: Equatable, Sendable {
    /// Who we are there; nil: there is no such account.
    public var uri: SIPURI?
    /// Where REGISTER is sent; nil: where the host of `uri` is.
    public var registrar: SIPURI?
    /// Whether it is registered, or only called from.
    public var registers = true
    public var expiresSeconds = 600
    /// RFC 5626.
    public var isOutbound = true

    /// Whom to ask for the way to the registrar.
    var way: SIPURI? { self.registrar ?? self.uri }
}

/// `[servers]`
public struct ServerSettings: Equatable, Sendable {
    public enum Failback: Sendable {
        /// Once nothing goes on and the first has answered for a while.
        case auto
        /// By the word `failback`.
        case manual
        /// When the one in use fails.
        case never
    }

    /// Where all calls and texts go first, best first; empty: each goes where its own address leads.
    public var proxies: [SIPURI] = []
    public var failback = Failback.auto
}

/// Who may talk to us by SIP outside of our own calls.
public enum SIPPeers: Equatable, Sendable {
    /// The addresses of the servers in `[servers] proxies`, or of that in `[call] uri`.
    case servers
    case anyone
    /// These, and the servers.
    case listed([AddressRange])
}
