// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// Who asks for a password, and in which fields: RFC 3261 section 22.
enum Asker: CaseIterable {
    /// Who answers the request: 401.
    case server
    /// Somebody on the way: 407.
    case proxy

    var challengeField: HeaderName { self == .server ? .wwwAuthenticate : .proxyAuthenticate }
    var answerField: HeaderName { self == .server ? .authorization : .proxyAuthorization }
}

/// A challenge that we answer, and go on answering before we are asked: whoever gave out a nonce takes it again.
struct ProtectionSpace {
    let asker: Asker
    /// The hop that the challenge came from.
    let hop: SocketAddress
    let credential: Credential
    /// With the newest nonce.
    private(set) var challenge: DigestChallenge
    private var turn: DigestChallenge.Turn

    init(
        _ asker: Asker, _ hop: SocketAddress, _ credential: Credential, _ challenge: DigestChallenge,
        clientNonce: ByteString
    ) {
        self.asker = asker
        self.hop = hop
        self.credential = credential
        self.challenge = challenge
        self.turn = DigestChallenge.Turn(clientNonce: clientNonce, count: 0)
    }

    /// What the protection of this space is known by.
    func isSame(as other: ProtectionSpace) -> Bool {
        self.asker == other.asker && self.hop == other.hop && self.challenge.realm == other.challenge.realm
            && self.credential == other.credential
    }

    /// The next answer; nil where the hash is not to be had.
    mutating func answer(to request: SIPMessage, _ hash: DigestHash) -> ByteString? {
        self.turn.count &+= 1
        return self.challenge.answer(self.credential, to: request, self.turn, hash)
    }

    /// The nonce that the server wants next.
    mutating func renew(nonce: ByteString, clientNonce: ByteString) {
        guard let next = self.challenge.renewed(nonce: nonce) else { return }
        self.challenge = next
        self.turn = DigestChallenge.Turn(clientNonce: clientNonce, count: 0)
    }
}

/// What became of the challenges to one request, over all the times that it was sent.
struct Authorization {
    /// How often it was sent again with credentials.
    private(set) var tries = 0
    /// The challenges that were answered, of each space once. Whom we gave credentials before the first challenge is
    /// not among them: those may only be too old.
    private(set) var answered: [ProtectionSpace] = []

    mutating func answer(_ spaces: [ProtectionSpace]) {
        self.tries += 1
        self.answered += spaces.filter { !self.hasAnswered($0) }
    }

    func hasAnswered(_ space: ProtectionSpace) -> Bool { self.answered.contains { $0.isSame(as: space) } }
}

/// Digest authentication as the client: RFC 3261 section 22, RFC 7616, RFC 8760. Every request of ours goes through
/// here: in `sendRequest` it gets the credentials that its next hop is known to want, and where it is challenged it is
/// sent again, with the next number and a branch of its own.
///
/// Answers go to our servers alone (`Input.trust`): a digest lets whoever has it try passwords at leisure, and anybody
/// whom we call, or who calls us, could ask for one.
extension SIPEngine {
    mutating func setCredentials(_ credentials: [Credential]) {
        self.credentials = Array(credentials.prefix(Limits.credentialsMax))
        self.spaces.removeAll { !self.credentials.contains($0.credential) }
    }

    /// Whether there is a password to use.
    public var usesPasswords: Bool { !self.credentials.isEmpty }

    func isServer(_ flow: Flow) -> Bool { self.trusted.contains(flow.remote.address) }

    /// The credential for a realm: rather the account that the request is from, then one that names the realm.
    func credential(for realm: ByteString, from user: ByteString?) -> Credential? {
        let fitting = self.credentials.filter { $0.realm.isEmpty || $0.realm == realm }
        let own = fitting.filter { $0.username == user }
        let candidates = own.isEmpty ? fitting : own
        return candidates.first { !$0.realm.isEmpty } ?? candidates.first
    }

    /// Puts in the credentials that the next hop wants, in place of those that are there.
    mutating func authorize(_ message: inout SIPMessage, on flow: Flow) {
        message.remove(.authorization)
        message.remove(.proxyAuthorization)
        guard self.isServer(flow) else { return }
        let user = message.from?.uri.sip?.decodedUser
        for index in self.spaces.indices where self.spaces[index].hop == flow.remote {
            let space = self.spaces[index]
            guard self.credential(for: space.challenge.plainRealm, from: user) == space.credential,
                let value = self.spaces[index].answer(to: message, self.configuration.hash)
            else { continue }
            message.add(space.asker.answerField, value)
        }
    }

    // MARK: - Answers to our requests

    /// A final answer to a request of ours came.
    /// - Returns: whether the request was sent again with credentials, so that the answer means nothing more.
    mutating func isAuthorizedAgain(
        at index: Int, _ response: SIPMessage, _ status: StatusCode, now: Instant
    ) -> Bool {
        switch status {
        case .unauthorized, .proxyAuthenticationRequired: return self.answerChallenges(at: index, response, now: now)
        // Some say so to a wrong password, others to a right one.
        case .forbidden: return false
        default:
            self.noteNextNonce(response, at: index)
            for space in self.clients[index].authorization.answered { self.put(.credentialsAccepted(space.credential)) }
            self.clients[index].authorization = Authorization()
            return false
        }
    }

    private mutating func answerChallenges(at index: Int, _ response: SIPMessage, now: Instant) -> Bool {
        let entry = self.clients[index]
        guard self.isServer(entry.flow) else { return false }
        let wanted = self.wanted(by: response, of: entry)
        if let refused = wanted.first(where: { entry.authorization.hasAnswered($0) && !$0.challenge.isStale }) {
            self.spaces.removeAll { $0.isSame(as: refused) }
            self.counters.add(.credentialsRefused)
            self.put(.credentialsRefused(refused.credential, realm: refused.challenge.plainRealm))
            return false
        }
        guard !wanted.isEmpty else { return false }
        guard entry.authorization.tries < Limits.challengesAnsweredMax else {
            self.counters.add(.challengedTooOften)
            return false
        }
        for space in wanted { self.keep(space) }
        var authorization = entry.authorization
        authorization.answer(wanted)
        return self.sendAuthorized(index, authorization, now: now)
    }

    /// Of each realm that asks the first challenge that we can answer, in the order of the response.
    private mutating func wanted(by response: SIPMessage, of entry: ClientEntry) -> [ProtectionSpace] {
        let user = entry.request.from?.uri.sip?.decodedUser
        var wanted: [ProtectionSpace] = []
        for asker in Asker.allCases {
            for challenge in response.challenges(asker.challengeField).prefix(SIPLimits.challenges) {
                guard let digest = DigestChallenge(challenge), self.canHash(digest.algorithm),
                    !wanted.contains(where: { $0.asker == asker && $0.challenge.realm == digest.realm }),
                    let credential = self.credential(for: digest.plainRealm, from: user)
                else { continue }
                let clientNonce = self.newTag()
                wanted.append(
                    ProtectionSpace(asker, entry.flow.remote, credential, digest, clientNonce: clientNonce))
            }
        }
        return wanted
    }

    /// A library may have been built without MD5.
    private func canHash(_ algorithm: DigestAlgorithm) -> Bool { !self.configuration.hash(algorithm, []).isEmpty }

    /// The newest at the end; the oldest goes.
    private mutating func keep(_ space: ProtectionSpace) {
        self.spaces.removeAll { $0.isSame(as: space) }
        if self.spaces.count >= Limits.protectionSpacesMax { self.spaces.removeFirst() }
        self.spaces.append(space)
    }

    /// Authentication-Info names the nonce for the next request (RFC 7616 section 3.5). It has no realm: it speaks of
    /// the credentials in the request.
    private mutating func noteNextNonce(_ response: SIPMessage, at index: Int) {
        guard let next = response.nextNonce else { return }
        let hop = self.clients[index].flow.remote
        let used = self.clients[index].request.fields(.authorization).flatMap { Challenge.list($0) }
        for space in self.spaces.indices
        where self.spaces[space].hop == hop
            && used.contains(where: { $0.nonce == self.spaces[space].challenge.nonce })
        {
            let clientNonce = self.newTag()
            self.spaces[space].renew(nonce: next, clientNonce: clientNonce)
        }
    }
}

extension SIPMessage {
    /// What a CANCEL and an ACK repeat of their INVITE (RFC 3261 sections 13.2.2.4 and 22.1).
    var credentials: [Header] {
        self.headers.filter { $0.name == .authorization || $0.name == .proxyAuthorization }
    }
}
