// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem
import CText

/// A picture of the owner's for the idle screen, from a PNG file.
public final class OwnPicture {
    let size: PixelSize
    let surface: OpaquePointer

    /// Larger files and pictures are refused: they would take the memory that calls need.
    static let fileBytesMax = 8 << 20
    static let sideMax = 4096
    static let areaMax: Int64 = 3840 * 2160

    private init(_ surface: OpaquePointer, _ size: PixelSize) {
        self.surface = surface
        self.size = size
    }

    deinit {
        cairo_surface_destroy(self.surface)
    }

    /// Why a file is no picture that can be shown; a part of a sentence that ends with its reason.
    public struct Refusal: Error, Equatable {
        public var reason: ByteString
    }

    public static func read(_ path: ByteString) throws(Refusal) -> OwnPicture {
        var status = stat()
        // What is no file would be waited for.
        guard path.withCString({ stat($0, &status) }) == 0, status.st_mode & mode_t(S_IFMT) == mode_t(S_IFREG),
            let file = path.withCString({ fopen($0, "rb") })
        else { throw Refusal(reason: "there is no such file") }
        defer { fclose(file) }
        var head = [UInt8](repeating: 0, count: self.headBytes)
        guard fread(&head, 1, head.count, file) == head.count, let size = self.size(head) else {
            throw Refusal(reason: "it is no PNG picture")
        }
        guard size.width > 0, size.height > 0, size.width <= self.sideMax, size.height <= self.sideMax,
            size.area <= self.areaMax
        else { throw Refusal(reason: "the picture has more than 3840x2160 pixels") }
        guard status.st_size <= self.fileBytesMax else {
            throw Refusal(reason: "the file is larger than 8 MB")
        }
        guard let surface = path.withCString({ cairo_image_surface_create_from_png($0) }) else {
            throw Refusal(reason: "there is no memory for it")
        }
        guard cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS,
            cairo_image_surface_get_width(surface) == Int32(size.width),
            cairo_image_surface_get_height(surface) == Int32(size.height)
        else {
            cairo_surface_destroy(surface)
            throw Refusal(reason: "the file is damaged")
        }
        return OwnPicture(surface, size)
    }

    // MARK: - What a PNG file begins with (RFC 2083 sections 3.1, 4.1.1)

    static let headBytes = 24

    /// Of the first chunk, which must be IHDR; nil where the bytes are no PNG file.
    static func size(_ head: [UInt8]) -> PixelSize? {
        let start: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]
        guard head.count >= self.headBytes, Array(head[..<start.count]) == start else { return nil }
        func number(_ at: Int) -> Int? {
            let value = head[at..<at + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            return value <= 0x7FFF_FFFF ? Int(value) : nil
        }
        guard let width = number(16), let height = number(20) else { return nil }
        return PixelSize(width, height)
    }
}
