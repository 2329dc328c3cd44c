// SPDX-License-Identifier: Apache-2.0

import Bytes
import CGPIO
import CSystem

/// How a line is wired.
public struct LineSettings {
    public enum Bias {
        case pullUp
        case pullDown
        case none
    }

    /// True where the line is low while the button is pressed or the lamp is on.
    public var isActiveLow: Bool
    public var bias: Bias

    public init(isActiveLow: Bool, bias: Bias) {
        self.isActiveLow = isActiveLow
        self.bias = bias
    }
}

/// Why a line could not be had.
public enum PanelError: Error {
    /// No chip has a line of this name, or no chip of this label has so many lines.
    case noSuchLine
    /// Another program or driver holds the line; its name.
    case inUse(by: ByteString)
    /// The driver refused the settings; errno.
    case refused(Int32)
    /// No keypad has this name.
    case noSuchKeypad
    /// The file's keys do not fit its rows and columns.
    case keysDoNotFit

    public var sentence: ByteString {
        switch self {
        case .noSuchLine: return "no GPIO line of this name was found"
        case .inUse(let holder): return "the GPIO line is in use by " + (holder.isEmpty ? "another program" : holder)
        case .refused(let code): return "the driver refused it, error " + ByteString(decimal: code)
        case .noSuchKeypad: return "no keypad of this name was found"
        case .keysDoNotFit: return "[keypad] keys has to have one key for each place of rows and columns"
        }
    }
}

/// One requested GPIO line (kernel character device, version 2, through libgpiod 2).
final class Line {
    enum Use {
        case input
        /// Inactive from the start.
        case output
        /// The same, but never driven the other way: what else pulls the line does no harm.
        case openDrain
    }

    let request: OpaquePointer
    let offset: UInt32

    /// What the kernel keeps while nobody reads; the most that can be told of a press before the program was ready.
    static let eventsMax = 256
    private static let chipsMax = 32

    /// `name` is a line name, or `chip-label:offset`.
    init(_ name: ByteString, settings: LineSettings, use: Use) throws(PanelError) {
        guard let (chip, offset) = Self.find(name) else { throw .noSuchLine }
        defer { gpiod_chip_close(chip) }
        self.offset = offset
        if let holder = Self.holder(of: offset, on: chip) { throw .inUse(by: holder) }
        guard let request = Self.request(offset, on: chip, settings: settings, use: use) else {
            throw .refused(callbox_errno())
        }
        self.request = request
    }

    deinit {
        gpiod_line_request_release(self.request)
    }

    var descriptor: Int32 { gpiod_line_request_get_fd(self.request) }

    /// Nil where the chip is gone.
    var isActive: Bool? {
        switch gpiod_line_request_get_value(self.request, self.offset) {
        case GPIOD_LINE_VALUE_ACTIVE: return true
        case GPIOD_LINE_VALUE_INACTIVE: return false
        default: return nil
        }
    }

    /// False where the chip is gone.
    func set(_ isActive: Bool) -> Bool {
        gpiod_line_request_set_value(
            self.request, self.offset, isActive ? GPIOD_LINE_VALUE_ACTIVE : GPIOD_LINE_VALUE_INACTIVE) == 0
    }

    /// Reads edges that wait, up to the buffer's size; their number.
    func read(into buffer: OpaquePointer) -> Int {
        guard gpiod_line_request_wait_edge_events(self.request, 0) == 1 else { return 0 }
        return max(0, Int(gpiod_line_request_read_edge_events(self.request, buffer, Self.eventsMax)))
    }

    private static func request(
        _ offset: UInt32, on chip: OpaquePointer, settings: LineSettings, use: Use
    ) -> OpaquePointer? {
        guard let line = gpiod_line_settings_new(), let config = gpiod_line_config_new(),
            let requestConfig = gpiod_request_config_new()
        else { return nil }
        defer {
            gpiod_line_settings_free(line)
            gpiod_line_config_free(config)
            gpiod_request_config_free(requestConfig)
        }
        gpiod_line_settings_set_active_low(line, settings.isActiveLow)
        switch use {
        case .input:
            gpiod_line_settings_set_direction(line, GPIOD_LINE_DIRECTION_INPUT)
            gpiod_line_settings_set_edge_detection(line, GPIOD_LINE_EDGE_BOTH)
            gpiod_line_settings_set_bias(line, self.bias(settings.bias))
        case .output, .openDrain:
            gpiod_line_settings_set_direction(line, GPIOD_LINE_DIRECTION_OUTPUT)
            gpiod_line_settings_set_output_value(line, GPIOD_LINE_VALUE_INACTIVE)
            if use == .openDrain { gpiod_line_settings_set_drive(line, GPIOD_LINE_DRIVE_OPEN_DRAIN) }
        }
        var offset = offset
        guard gpiod_line_config_add_line_settings(config, &offset, 1, line) == 0 else { return nil }
        ByteString("callbox").withCString { gpiod_request_config_set_consumer(requestConfig, $0) }
        gpiod_request_config_set_event_buffer_size(requestConfig, Self.eventsMax)
        return gpiod_chip_request_lines(chip, requestConfig, config)
    }

    private static func bias(_ bias: LineSettings.Bias) -> gpiod_line_bias {
        switch bias {
        case .pullUp: return GPIOD_LINE_BIAS_PULL_UP
        case .pullDown: return GPIOD_LINE_BIAS_PULL_DOWN
        case .none: return GPIOD_LINE_BIAS_DISABLED
        }
    }

    // MARK: - Finding

    private static func find(_ name: ByteString) -> (OpaquePointer, UInt32)? {
        for index in 0..<self.chipsMax {
            let path: ByteString = "/dev/gpiochip" + ByteString(decimal: index)
            guard let chip = path.withCString({ gpiod_chip_open($0) }) else { continue }
            if let offset = self.offset(of: name, on: chip) { return (chip, offset) }
            gpiod_chip_close(chip)
        }
        return nil
    }

    private static func offset(of name: ByteString, on chip: OpaquePointer) -> UInt32? {
        let found = name.withCString { gpiod_chip_get_line_offset_from_name(chip, $0) }
        if found >= 0 { return UInt32(found) }
        guard let colon = name.bytes.lastIndex(of: ASCII.colon),
            let offset = name.slice(colon + 1..<name.count).decimal(max: 1023),
            let info = gpiod_chip_get_info(chip)
        else { return nil }
        defer { gpiod_chip_info_free(info) }
        guard let label = gpiod_chip_info_get_label(info),
            ByteString(cString: label) == name.slice(0..<colon),
            offset < gpiod_chip_info_get_num_lines(info)
        else { return nil }
        return UInt32(offset)
    }

    private static func holder(of offset: UInt32, on chip: OpaquePointer) -> ByteString? {
        guard let info = gpiod_chip_get_line_info(chip, offset) else { return nil }
        defer { gpiod_line_info_free(info) }
        guard gpiod_line_info_is_used(info) else { return nil }
        return gpiod_line_info_get_consumer(info).map { ByteString(cString: $0) } ?? ByteString()
    }
}
