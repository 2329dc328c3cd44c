// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// Whom to call, as a file or a word names them, with what belongs to a call to just them.
public struct CallTarget: Equatable, Sendable {
    /// Where `isPartial`, the host means nothing.
    public var uri: SIPURI
    /// Named without a host (`help`, `100`, `tel:+4930…`): the help point's own domain is meant.
    var isPartial = false
    /// For how long it may ring (`;ring=`); nil for as long as every call.
    var ringTimeoutMs: Int?
    /// Keys that are pressed once it has answered (`;postd=`, RFC 2806 section 2.2): digits, `*`, `#`, `A`–`D`, and
    /// `p` for a pause of a second.
    var postDial = ByteString()

    init(_ uri: SIPURI) {
        self.uri = uri
    }

    /// With the domain where it has none of its own: that of an address that we know.
    func completed(by known: SIPURI) -> CallTarget {
        guard self.isPartial else { return self }
        var target = self
        target.isPartial = false
        target.uri.isSecure = known.isSecure
        target.uri.host = known.host
        target.uri.port = known.port
        if let transport = known.transport { target.uri.parameters.set("transport", transport) }
        return target
    }
}

/// Targets that are called at the same time: the first that answers has the call.
public struct CallStep: Equatable, Sendable {
    public var targets: [CallTarget]

    public static let targetsMax = 4

    init(_ targets: [CallTarget]) {
        self.targets = targets
    }

    init(_ uri: SIPURI) {
        self.targets = [CallTarget(uri)]
    }

    /// How long it may ring: what the most patient of them has, where they have times of their own.
    func ringTimeoutMs(_ standard: Int) -> Int {
        self.targets.map { $0.ringTimeoutMs ?? standard }.max() ?? standard
    }
}

extension Configuration {
    /// An address whose domain is the help point's own: of its first account, else of its first server, else of the
    /// first address that the call button calls.
    var domain: SIPURI? {
        if let account = self.accounts.lazy.compactMap({ $0.uri }).first { return account }
        if let server = self.servers.proxies.first { return server }
        return self.call.steps.lazy.flatMap { $0.targets }.first { !$0.isPartial }?.uri
    }

    /// The targets with their domains; nil where one needs a domain and there is none.
    func completed(_ steps: [CallStep]) -> [CallStep]? {
        let known = self.domain
        var completed: [CallStep] = []
        for step in steps {
            guard known != nil || !step.targets.contains(where: { $0.isPartial }) else { return nil }
            completed.append(CallStep(step.targets.map { target in known.map { target.completed(by: $0) } ?? target }))
        }
        return completed
    }
}
