// SPDX-License-Identifier: Apache-2.0

/// While the kiosk is out of service, on low power, or without a licence for pictures.
extension Words {
    static let paused = Card("Out of service", "Please use another help point, or come back later.", .warning)
    static let lowPower = Card("Power failure", "You can still speak. The picture comes back with the power.", .talking)
    static let soundOnly = Card("Connected", "You can speak now. This help point has no pictures.", .talking)
}
