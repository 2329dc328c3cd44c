// SPDX-License-Identifier: Apache-2.0
import SIPWire

/// What a final answer of 300–699 means to the person at the panel (RFC 3261 section 21), and what the telephone
/// network behind it said (ITU-T Q.850) where the answer alone says less.
enum RefusalMeaning: Equatable {
    case busy
    case declined
    case noAnswer
    case notAllowed
    /// We have no password, or a wrong one.
    case wrongPassword
    case unknownAddress
    case doesNotFit
    case overloaded
    case moved
    /// Another 4xx, 5xx, 6xx.
    case notAccepted
    case faulty
    case impossible

    init(_ status: StatusCode, q850: Int?) {
        switch status.value {
        case 401, 407: self = .wrongPassword
        case 402, 403, 494: self = .notAllowed
        case 404, 410, 414, 416, 484, 485, 604: self = .unknownAddress
        case 486, 600: self = .busy
        case 406, 415, 488, 606: self = .doesNotFit
        case 408, 487: self = .noAnswer
        case 480: self = Self.told(q850) ?? .noAnswer
        case 503: self = Self.told(q850) ?? .overloaded
        case 580: self = Self.told(q850) ?? .doesNotFit
        case 603: self = Self.told(q850) ?? .declined
        default: self = Self.told(q850) ?? Self(class: status.statusClass)
        }
    }

    private init(class statusClass: StatusCode.Class) {
        switch statusClass {
        case .redirection: self = .moved
        case .requestFailure, .provisional, .success: self = .notAccepted
        case .serverFailure: self = .faulty
        case .globalFailure: self = .impossible
        }
    }

    /// Nil for causes that say nothing to a person, 16 (normal clearing) among them.
    private static func told(_ q850: Int?) -> RefusalMeaning? {
        switch q850 {
        case 1, 2, 3, 22, 28: return .unknownAddress
        case 17: return .busy
        case 18, 19, 20: return .noAnswer
        case 21: return .declined
        case 34, 42, 44, 47: return .overloaded
        case 27, 38, 41: return .faulty
        case 50, 55, 57: return .notAllowed
        case 58, 65, 79, 88: return .doesNotFit
        default: return nil
        }
    }

    /// Busy for what passes by itself.
    var tone: Tone {
        switch self {
        case .busy, .declined, .noAnswer: return .busy
        case .notAllowed, .wrongPassword, .unknownAddress, .doesNotFit, .overloaded, .moved, .notAccepted, .faulty,
            .impossible:
            return .error
        }
    }
}
