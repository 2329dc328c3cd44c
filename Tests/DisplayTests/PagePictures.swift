// SPDX-License-Identifier: Apache-2.0

import Bytes
import MediaEngine
import SIPEngine
import SIPWire

@testable import Display
@testable import KioskEngine

/// One page as it is drawn for `docs/screens`.
struct PagePicture {
    var name: String
    var state: ScreenState
    var moment = PageMoment()
    /// The own camera is seen.
    var hasSelfView = false
}

/// Every page in one language, made of states of the kiosk by its own rules.
struct PagePictures {
    let language: Language
    private let now = Instant(nanoseconds: 100_000_000_000)
    private let facts = CallFacts(
        direction: .outgoing, peer: "sip:help@example.org", began: Instant(nanoseconds: 100_000_000_000),
        name: "Anna Weber")
    private let talk = MediaShape(hasAudio: true, sendsAudio: true, receivesAudio: true, receivesVideo: true)

    init(_ language: Language) {
        self.language = language
    }

    var all: [PagePicture] { self.idlePages + self.callPages + self.endPages + self.servicePages }

    private var around: Presentation.Surroundings {
        Presentation.Surroundings(
            hasCamera: true, hasScreen: true, buttons: [.call, .hook, .mute, .video], selfView: .call,
            callEndsCall: false, canCall: true, banner: "", language: self.language)
    }

    private func page(
        _ name: String, _ state: KioskState, hasSelfView: Bool = false, moment: PageMoment = PageMoment(),
        _ edit: (inout Presentation.Surroundings) -> Void = { _ in }
    ) -> PagePicture {
        var around = self.around
        edit(&around)
        return PagePicture(
            name: name, state: Presentation(state, around).screen, moment: moment, hasSelfView: hasSelfView)
    }

    private var idlePages: [PagePicture] {
        let clock = PageMoment(clock: "14:05")
        return [
            self.page("idle", .idle),
            self.page("idle-clock", .idle, moment: clock) { $0.screen.idle = .clock },
            self.page("idle-image", .idle) { $0.screen.idle = .image },
            self.page("idle-self", .idle, hasSelfView: true) { $0.screen.idle = .selfView },
            self.page("idle-fault", .idle) {
                $0.hasCamera = false
                $0.banner =
                    $0.texts.fault(.camera) + ": " + $0.language.apart("/dev/video0 is gone") + " · "
                    + $0.texts.faults.cutOff
            },
            self.page("out-of-order", .idle) { $0.canCall = false },
        ]
    }

    private var callPages: [PagePicture] {
        let targets = Targets(SIPURI(user: "a", host: .name("b")))
        let handle = CallHandle(number: 7)
        let outgoing = KioskState.Outgoing(facts: self.facts, targets: targets, handle: handle, deadline: nil)
        var queued = outgoing
        queued.stage = .queued
        let caller = CallFacts(direction: .incoming, peer: "sip:c@d", began: self.now, name: "Anna Weber")
        var picture = KioskState.Connected(
            facts: self.facts, handle: handle, answered: self.now, shape: self.talk, patience: .seconds(10))
        let connecting = picture
        picture.hasFirstFrame = true
        picture.video = .hearing
        var muted = picture
        muted.facts.wishes = Wishes(isMuted: true, isVideoOff: true)
        var sound = connecting
        sound.shape = MediaShape(hasAudio: true, sendsAudio: true, receivesAudio: true)
        let timer = PageMoment(timerSeconds: 125)
        return [
            self.page("calling", .calling(outgoing), hasSelfView: true),
            self.page("ringing", .ringing(outgoing), hasSelfView: true),
            self.page("queued", .ringing(queued)),
            self.page("alerting", .alerting(KioskState.Alerting(facts: caller, handle: handle, deadline: self.now))),
            self.page("connecting", .connected(connecting), hasSelfView: true, moment: timer),
            self.page("talking", .connected(sound), moment: timer) { $0.buttons += [.keypad, .language] },
            self.page("picture", .connected(picture), hasSelfView: true, moment: timer),
            self.page("picture-muted", .connected(muted), moment: timer),
            self.keypad("keypad", self.page("", .connected(sound), moment: timer), selected: nil),
            self.keypad(
                "keypad-picture", self.page("", .connected(picture), moment: timer), selected: UInt8(ascii: "5")),
        ]
    }

    private func keypad(_ name: String, _ page: PagePicture, selected: UInt8?) -> PagePicture {
        var page = page
        page.name = name
        page.state.keypad = KeypadView(entered: "0305", selected: selected)
        return page
    }

    private var endPages: [PagePicture] {
        func ended(_ outcome: CallOutcome) -> KioskState {
            .outcome(
                KioskState.Outcome(
                    ended: EndedCall(facts: self.facts, outcome: outcome, answered: nil, ended: self.now),
                    deadline: self.now))
        }
        return [
            self.page("busy", ended(.refused(.busyHere, phrase: "", q850: nil))),
            self.page("unknown-host", ended(.unknownHost)),
            self.page("ended", ended(.remoteHungUp)),
        ]
    }

    private var servicePages: [PagePicture] {
        let texts = Texts.of(self.language).pages
        let problems: [ByteString] = [
            "line 3, [call] urii: unknown key; the nearest known key is \"uri\"",
            "line 9, [camera] fps: \"90\" is not a number from 1 to 60; 30 is used",
            "line 14, [button.call] line: no line of that name",
        ]
        let health = [
            HealthLine(texts.version, "0.1.0"), HealthLine(texts.address, "192.0.2.23"),
            HealthLine(texts.account, "sip:gate@example.org: registered"),
            HealthLine(texts.screen, texts.works), HealthLine(texts.camera, "/dev/video0 is gone", isGood: false),
            HealthLine(texts.loudspeaker, texts.works), HealthLine(texts.microphone, texts.works),
            HealthLine(texts.buttons, texts.works), HealthLine(texts.network, texts.works),
            HealthLine(texts.configuration, problems[0], isGood: false),
        ]
        var countdown = self.page("countdown", .idle, moment: PageMoment(countdownSeconds: 3))
        countdown.state.countdown = Countdown(Texts.of(self.language).states.calling.headline, endsAt: self.now)
        return [
            self.page("problems", .idle) { $0.service = .problems(problems + problems + problems) },
            self.page("health", .idle) { $0.service = .health(health) },
            countdown,
        ]
    }
}
