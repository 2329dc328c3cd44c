// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// What `callbox.conf` says; each value is the default where the file is silent or wrong. `Settings` has a row
/// for each key, which tells what it means to the person who writes the file.
public struct Configuration: Equatable, Sendable {
    public static let accountsMax = 4

    public var call = CallSettings()
    public var autoCall = AutoCallSettings()
    public var sip = SIPSettings()
    public var tls = TLSSettings()
    /// `[account]`, `[account.2]` …
    public var accounts = [AccountSettings](repeating: AccountSettings(), count: Configuration.accountsMax)
    public var servers = ServerSettings()
    /// In the order of `ButtonName.all`.
    private var buttonSettings = [ButtonSettings](repeating: ButtonSettings(), count: ButtonName.all.count)
    public var panel = PanelSettings()
    public var display = DisplaySettings()
    public var screen = ScreenSettings()
    public var language = LanguageSettings()
    public var camera = CameraSettings()
    public var audio = AudioSettings()
    public var sound = SoundSettings()
    public var video = VideoSettings()
    public var media = MediaSettings()
    public var rtp = RTPSettings()
    public var ice = ICESettings()
    public var identity = IdentitySettings()
    public var location = LocationSettings()
    public var network = NetworkSettings()
    public var update = UpdateSettings()
    public var log = LogSettings()

    public init() {}

    /// What the file itself has to say to whoever asks for a password.
    public var credentials: [Credential] {
        self.sip.credentials + self.ice.credentials + self.network.link.credentials
    }

    private static func index(_ button: ButtonName) -> Int {
        guard let index = ButtonName.all.firstIndex(of: button) else { preconditionFailure("`all` has every name") }
        return index
    }

    public subscript(button: ButtonName) -> ButtonSettings {
        get { self.buttonSettings[Self.index(button)] }
        set { self.buttonSettings[Self.index(button)] = newValue }
    }
}

/// `[log]`
public struct LogSettings: Equatable, Sendable {
    public var level = LogLevel.info
    public var keepsDigits = false

    public var policy: LogPolicy { LogPolicy(self.level, keepsDigits: self.keepsDigits) }
}

/// `[network]`
public struct NetworkSettings: Equatable, Sendable {
    /// The name servers that are asked; empty for those that the system names.
    public var nameServers: [SocketAddress] = []
    /// Differentiated services code points (RFC 2474) as RFC 4594 section 2.3 has them: CS5, EF, AF41.
    public var signallingCodePoint: UInt8 = 40
    public var soundCodePoint: UInt8 = 46
    public var pictureCodePoint: UInt8 = 34
    public var link = LinkSettings()
}
