// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem
import KioskEngine

// MARK: - The display itself

extension Display {
    /// Waits for the commit under way, which ends within a frame or two.
    func finish(_ screen: Screen, _ now: Instant) {
        var entry = pollfd(fd: screen.card.descriptor, events: Int16(POLLIN), revents: 0)
        while screen.isBusy {
            let isEvent = poll(&entry, 1, 100) > 0
            _ = screen.handleEvents(now: isEvent ? now : Instant(nanoseconds: .max))
        }
    }

    /// Finds the display, or notices that it is gone.
    func look(_ now: Instant) {
        guard now >= self.nextCheck, self.settings.connector != .none else { return }
        self.nextCheck = now + Self.retryInterval
        let hasNews = self.news.take()
        if let screen = self.screen {
            guard !screen.card.isUnchanged(asking: hasNews) else { return }
            self.lose(.notConnected([screen.card.name]), now)
            // One that is driven in any case goes on at once.
            guard self.settings.forced != nil else { return }
        }
        do throws(DisplayError) {
            var wanted: ByteString?
            if case .named(let name) = self.settings.connector { wanted = name }
            let card = try Card.open(connector: wanted, forced: self.settings.forced)
            self.screen = try Screen(card, quarters: self.settings.rotationDegrees / 90)
            self.fault = nil
            self.needsWords = true
            self.needsChange = true
        } catch {
            self.fault = error
        }
    }

    func lose(_ error: DisplayError, _ now: Instant) {
        self.fault = error
        self.screen = nil
        self.remote.shown = nil
        self.selfView.shown = nil
        self.nextCheck = now + Self.retryInterval
    }

    /// Plans and shows the layers that are wanted and have a picture.
    func change(_ screen: Screen, _ now: Instant) throws(DisplayError) {
        let remote = self.picture(.remote, now)
        let selfView = self.picture(.selfView, now)
        let layout = ScreenLayout(screen.pageSize)
        var request = PlanRequest(screen: screen.size)
        if let remote {
            request.remote = screen.wish(remote, layout.remote(remote.size, remote.aspect, self.settings))
        }
        if let selfView {
            let place = self.selfViewPlace(layout, selfView.size, selfView.aspect)
            request.selfView = screen.wish(selfView, place, isMirrored: true)
        }
        var pictures: [(layer: Layer, picture: HeldPicture)] = []
        for layer in [Layer.remote, .selfView] where self[layer].isWanted {
            if let held = self[layer].held { pictures.append((layer, held.picture)) }
        }
        guard try screen.change(to: request, pictures: pictures, now: now) else { return }
        for (layer, held) in pictures {
            self.count(layer)
            if held.shared != nil { self.noteCopy(layer) }
        }
        self.remote.shown = remote
        self.selfView.shown = selfView
        self.remote.held = nil
        self.selfView.held = nil
        self.needsChange = false
    }

    /// The shape of the picture that a layer is to show; nil where it is not to be shown, or has none yet.
    private func picture(_ layer: Layer, _ now: Instant) -> PictureShape? {
        if let held = self[layer].held, now > held.until { self[layer].held = nil }
        guard self[layer].isWanted else { return nil }
        return self[layer].held?.picture.shape ?? self[layer].shown
    }

    func count(_ layer: Layer) {
        switch layer {
        case .remote: self.remote.counters.shown &+= 1
        case .selfView: self.selfView.counters.shown &+= 1
        case .words: break
        }
    }

    /// The state as far as it can be shown: with the last card while the far end's picture is missing.
    func words(_ now: Instant) -> ScreenState {
        guard self.state.remote == .shown, self.picture(.remote, now) == nil else { return self.state }
        var state = self.state
        state.remote = .hidden
        (state.headline, state.detail, state.symbol) = (self.card.headline, self.card.detail, self.card.symbol)
        return state
    }

    /// The part of the words that stays clear for the own picture.
    func selfViewHole(_ screen: Screen) -> Rectangle? {
        guard self.selfView.isWanted else { return nil }
        guard let shape = self.selfView.held?.picture.shape ?? self.selfView.shown else { return nil }
        return self.selfViewPlace(ScreenLayout(screen.pageSize), shape.size, shape.aspect).destination
    }

    private func selfViewPlace(_ layout: ScreenLayout, _ size: PixelSize, _ aspect: SampleAspect) -> PicturePlace {
        if self.state.page == .mirror { return layout.mirror(size, aspect) }
        if self.settings.layout == .sideBySide, self.remote.isWanted { return layout.beside(size, aspect) }
        return layout.selfView(size, aspect, self.settings)
    }
}
