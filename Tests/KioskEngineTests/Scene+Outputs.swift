// SPDX-License-Identifier: Apache-2.0
import Bytes
import Foundation
import MediaEngine
import SIPEngine

@testable import KioskEngine

/// What the kiosk of a scene has said and ordered so far.
extension Scene {
    var orders: [MediaOrder] {
        self.outputs.compactMap { output in
            guard case .media(let order) = output else { return nil }
            return order
        }
    }

    /// The names of the media orders.
    var orderNames: [String] {
        self.orders.map { order in
            switch order {
            case .start: return "start"
            case .update: return "update"
            case .stop: return "stop"
            case .mute(let on): return "mute \(on)"
            case .deafen(let on): return "deafen \(on)"
            case .sendVideo(let on): return "sendVideo \(on)"
            case .encodeKeyFrame: return "encodeKeyFrame"
            case .findWays(let search): return "findWays \(search.number)"
            case .forgetWays: return "forgetWays"
            case .playDigit(let key, _): return "tone \(Character(UnicodeScalar(key)))"
            case .sendDigit(let key, _): return "digit \(Character(UnicodeScalar(key)))"
            }
        }
    }

    var plan: MediaPlan? {
        for order in self.orders.reversed() {
            if case .start(let plan, _, _) = order { return plan }
            if case .update(let plan, _, _) = order { return plan }
        }
        return nil
    }

    /// The relays that were switched, in order.
    var relays: [String] {
        self.outputs.compactMap { output in
            guard case .relay(let index, let isOn) = output else { return nil }
            return "\(index + 1) \(isOn ? "on" : "off")"
        }
    }

    /// Tones that stand.
    var tones: [Tone] {
        self.outputs.compactMap { output in
            guard case .tone(let tone) = output else { return nil }
            return tone
        }
    }

    private var sounds: [Chime] {
        self.outputs.compactMap { output in
            guard case .chime(let chime) = output else { return nil }
            return chime
        }
    }

    /// What answers a press.
    var clicks: [Chime] { self.sounds.filter(Self.isClick) }

    /// What else sounds once.
    var chimes: [Chime] { self.sounds.filter { !Self.isClick($0) } }

    private static func isClick(_ chime: Chime) -> Bool {
        switch chime {
        case .key, .digit: return true
        case .placed, .answered, .ended, .muted, .unmuted, .warning, .ready, .lost, .back: return false
        }
    }

    /// The names of the prompts that were spoken, "hush" where one was cut off.
    var spoken: [String] {
        self.outputs.compactMap { output in
            if case .say(let prompt, let language) = output {
                return language == .english ? prompt.text.string : (language.code + " " + prompt.text).string
            }
            if case .hush = output { return "hush" }
            return nil
        }
    }

    /// What was said to the far end: language and name, "none" where that ended.
    var announced: [String] {
        self.outputs.compactMap { output in
            guard case .announce(let prompt, let language) = output else { return nil }
            return prompt.map { (language.code + " " + $0.text).string } ?? "none"
        }
    }

    var lampPatterns: [String] { self.events("lamp").compactMap { $0["pattern"] as? String } }

    var replies: [[String: Any]] {
        self.outputs.compactMap { output in
            guard case .reply(Self.client, let line) = output else { return nil }
            return Self.object(line)
        }
    }

    var exits: [Int32] {
        self.outputs.compactMap { output in
            guard case .exit(let code) = output else { return nil }
            return code
        }
    }

    /// The versions in the origins of the descriptions that the kiosk sent (RFC 8866 section 5.2).
    var origins: [String] {
        self.outputs.compactMap { output in
            guard case .send(let bytes, _) = output else { return nil }
            let parts = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\no=")
            return parts.count < 2 ? nil : parts[1].components(separatedBy: " ")[2]
        }
    }

    /// The INVITEs that the kiosk sent, copies left out.
    var offers: [String] {
        self.outputs.reduce(into: []) { offers, output in
            guard case .send(let bytes, _) = output, bytes.starts(with: Array("INVITE ".utf8)) else { return }
            let text = String(decoding: bytes, as: UTF8.self)
            if offers.last != text { offers.append(text) }
        }
    }

    /// The first lines of SIP that the kiosk sent.
    var sent: [String] {
        self.outputs.compactMap { output in
            guard case .send(let bytes, _) = output else { return nil }
            return String(decoding: bytes.prefix { $0 != ASCII.carriageReturn }, as: UTF8.self)
        }
    }
}
