// SPDX-License-Identifier: Apache-2.0
import Bytes
import SDPWire

/// A link of the way that pictures take, from the camera to the network and from there to the screen.
public enum VideoLink: Int, CaseIterable, Sendable {
    case camera
    case encoder
    case decoder
    case display

    var text: ByteString {
        switch self {
        case .camera: return "camera"
        case .encoder: return "encoder"
        case .decoder: return "decoder"
        case .display: return "display"
        }
    }
}

/// What the threads of the pictures tell beside faults.
public enum VideoReport: Equatable {
    /// What a link does, in words: formats, by whom, and why nothing better.
    case link(VideoLink, ByteString)
    /// What the decoder was found able to do: what is offered from the next call on.
    case ability(DecoderAbility)
    /// The board's decoder or encoder failed in the call, and software goes on: why.
    case fellBack(VideoLink, ByteString)
}

/// How much a decoder of H.264 can take, as it was measured.
public struct DecoderAbility: Equatable, Sendable {
    /// Macroblocks (16 × 16 samples) a second.
    public var macroblocksPerSecond: Int
    /// Samples of the largest picture.
    public var widthMax: Int
    public var heightMax: Int

    public init(macroblocksPerSecond: Int, widthMax: Int, heightMax: Int) {
        self.macroblocksPerSecond = macroblocksPerSecond
        self.widthMax = widthMax
        self.heightMax = heightMax
    }

    /// Real pictures are harder than those of the trial, and the board has more to do: fifths of a level's demand.
    private static let reserveFifths = 7
    /// More than 1080p at 30 pictures a second shows no face any better.
    private static let levels: [UInt8] = [40, 32, 31, 30, 22, 21, 20]
    /// Every board there is can do CIF at 30 pictures a second.
    private static let lowest = H264Level(levelIDC: 13)
    /// The shapes whose frames a level is for, beside its number of macroblocks (ITU-T H.264 table A-6).
    private static func shape(of level: UInt8) -> (width: Int, height: Int) {
        switch level {
        case 40...: return (1920, 1080)
        case 31...: return (1280, 720)
        case 22...: return (720, 576)
        default: return (352, 288)
        }
    }

    /// The highest level of which the decoder has some to spare.
    public var level: H264Level {
        for number in Self.levels {
            let level = H264Level(levelIDC: number)
            let shape = Self.shape(of: number)
            let wanted = level.limits.macroblocksPerSecond / 5 * Self.reserveFifths
            if self.macroblocksPerSecond >= wanted, self.widthMax >= shape.width, self.heightMax >= shape.height {
                return level
            }
        }
        return Self.lowest
    }
}

/// The way of the pictures in words, for `callbox doctor video`.
struct VideoChain {
    private var words = [ByteString](repeating: "nothing is known yet", count: VideoLink.allCases.count)
    /// Why software took over from the board, in the last call in which it did.
    private var fallbacks: [(link: VideoLink, reason: ByteString)] = []

    mutating func set(_ link: VideoLink, _ text: ByteString) { self.words[link.rawValue] = text }

    mutating func fellBack(_ link: VideoLink, _ reason: ByteString) {
        self.fallbacks.removeAll { $0.link == link }
        self.fallbacks.append((link, reason))
    }

    /// A line a link, in the order of the way.
    func lines(level: H264Level) -> [ByteString] {
        var lines = VideoLink.allCases.map { $0.text + ": " + self.words[$0.rawValue] }
        lines.append("offered: H.264 up to " + level.words)
        for (link, reason) in self.fallbacks {
            lines.append("software took over from the " + link.text + " in a call: " + reason)
        }
        return lines
    }
}

extension H264Level {
    /// `level 3.1`.
    fileprivate var words: ByteString {
        "level " + ByteString(decimal: self.levelIDC / 10) + "." + ByteString(decimal: self.levelIDC % 10)
    }
}

extension KioskEngine {
    mutating func video(_ report: VideoReport, now: Instant) {
        switch report {
        case .link(let link, let text): self.chain.set(link, text)
        case .ability(let ability): self.world.decoderLevel = ability.level
        case .fellBack(let link, let reason):
            self.chain.fellBack(link, reason)
            self.emit(link == .encoder ? "encoder" : "decoder", now: now) {
                $0.put("now", "software")
                $0.put("why", reason)
            }
        }
    }
}
