// SPDX-License-Identifier: Apache-2.0
import Bytes

extension ConfigurationSection {
    static let location = ConfigurationSection(
        "location", "Where the help point stands, told with every call so that help finds the way.",
        [
            .init(
                "latitude", "none", Self.degrees(max: 90), "Degrees north, as in `52.5163`; south is negative."
            ) { $0.location.latitude = $1 },
            .init(
                "longitude", "none", Self.degrees(max: 180), "Degrees east, as in `13.3777`; west is negative."
            ) { $0.location.longitude = $1 },
            .init(
                "uncertainty", "none", ConfigurationValue.uncertainty, "Metres, 1 to 100000, by which that may be off."
            ) { $0.location.uncertaintyM = $1 },
            .init(
                "uri", "none", ConfigurationValue.locationURI,
                "An address at which the location can be asked for instead."
            ) { $0.location.uri = $1 },
            .init(
                "routing", "yes", ConfigurationValue.yesOrNo,
                "Whether servers may use the location to find who is to answer."
            ) { $0.location.mayRoute = $1 },
        ]
            + CivicElement.all.enumerated().map { index, element in
                .init(element.key, "none", ConfigurationValue.textOrNone, element.meaning) {
                    $0.location.civic[index] = $1
                }
            })
}
