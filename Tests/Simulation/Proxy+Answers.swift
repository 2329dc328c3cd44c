// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// Answers on their way back.
extension Proxy {
    // MARK: - Answers

    func answered(_ context: Context, _ branch: Branch, _ response: SIPMessage?) {
        guard self.contexts.contains(where: { $0 === context }) || response?.status?.isSuccess ?? false else { return }
        guard let response, let status = response.status else {
            return self.finished(context, branch, SIPMessage(respondingTo: context.request, .requestTimeout))
        }
        if status.isProvisional {
            if branch.wantsCancel { self.cancelBranch(branch) }
            if status != .trying, !context.isAnswered { self.pass(response, of: context) }
        } else if status.isSuccess {
            branch.isOver = true
            context.isAnswered = true
            self.pass(response, of: context)
            for other in context.branches where !other.isOver { self.cancelBranch(other) }
        } else {
            self.finished(context, branch, response)
        }
    }

    /// A branch failed: the best answer goes back when it was the last (RFC 3261 section 16.7).
    private func finished(_ context: Context, _ branch: Branch, _ response: SIPMessage) {
        branch.isOver = true
        let value = response.status?.value ?? 999
        if context.best == nil || value < context.best?.status?.value ?? 0 || value >= 600 { context.best = response }
        if value >= 600 { for other in context.branches where !other.isOver { self.cancelBranch(other) } }
        guard !context.isAnswered, context.branches.allSatisfy({ $0.isOver }), var best = context.best else { return }
        context.isAnswered = true
        if best.to?.tag == nil {
            best = SIPMessage(respondingTo: context.request, .requestTimeout, toTag: self.newToken())
        } else {
            best = self.popped(best)
        }
        self.answer(context.request, with: best, on: context.flow)
        self.repeatFailure(context, afterMs: Element.t1Ms, since: self.world.now)
    }

    private func repeatFailure(_ context: Context, afterMs: Int, since: Instant) {
        guard context.flow.transport == .udp else { return }
        self.world.after(ms: afterMs) { [weak self] world in
            guard let self, !context.isAcknowledged, world.now < since + .milliseconds(Element.transactionMs),
                let answer = self.servers.first(where: { $0.key == context.key })?.answer
            else { return }
            world.send(answer, from: self, on: Element.reply(to: context.request, on: context.flow))
            self.repeatFailure(context, afterMs: min(afterMs * 2, Element.t2Ms), since: since)
        }
    }

    func popped(_ response: SIPMessage) -> SIPMessage {
        var response = response
        if let index = response.headers.firstIndex(where: { $0.name == .via }) { response.headers.remove(at: index) }
        return response
    }

    private func pass(_ response: SIPMessage, of context: Context) {
        self.answer(context.request, with: self.popped(response), on: context.flow)
    }
}
