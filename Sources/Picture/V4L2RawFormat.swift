// SPDX-License-Identifier: Apache-2.0

import CAV
import CV4L2

/// One way in which a codec lays out samples, with its names on every side (videodev2.h, drm_fourcc.h, FFmpeg).
struct V4L2RawFormat {
    /// How many planes of samples there are, and how chroma is sampled.
    enum Shape: Equatable {
        /// One plane of so many bytes a sample; `pair`: two samples share their chroma.
        case packed(bytes: Int, pair: Bool)
        /// Y, then both chroma in turns, of width and height divided by these.
        case semiPlanar(Int, Int)
        /// Y and two of chroma.
        case planar(Int, Int)
    }

    let v4l2: UInt32
    let fourCC: UInt32
    let shape: Shape
    /// Each plane of samples has a memory of its own.
    let isSplit: Bool
    /// nil where FFmpeg has no name for it.
    let pixels: AVPixelFormat?
    let modifier: Modifier

    enum Modifier: Equatable {
        case linear
        case fixed(UInt64)
        /// Columns of 128 bytes; the stride is their height (DRM_FORMAT_MOD_BROADCOM_SAND128_COL_HEIGHT).
        case sand128
    }

    private init(
        _ v4l2: StaticString, _ fourCC: StaticString, _ shape: Shape, _ pixels: AVPixelFormat?,
        isSplit: Bool = false, _ modifier: Modifier = .linear
    ) {
        self.v4l2 = Self.code(v4l2)
        self.fourCC = Self.code(fourCC)
        self.shape = shape
        self.isSplit = isSplit
        self.pixels = pixels
        self.modifier = modifier
    }

    static func named(_ v4l2: UInt32) -> V4L2RawFormat? {
        self.all.first { $0.v4l2 == v4l2 }
    }

    /// Those that need no conversion anywhere come first: it is the order in which they are wished for.
    static let all: [V4L2RawFormat] = [
        V4L2RawFormat("NV12", "NV12", .semiPlanar(2, 2), AV_PIX_FMT_NV12),
        V4L2RawFormat("NM12", "NV12", .semiPlanar(2, 2), AV_PIX_FMT_NV12, isSplit: true),
        V4L2RawFormat("YU12", "YU12", .planar(2, 2), AV_PIX_FMT_YUV420P),
        V4L2RawFormat("YM12", "YU12", .planar(2, 2), AV_PIX_FMT_YUV420P, isSplit: true),
        // FFmpeg has no name for V before U: such a picture is only for planes that take it.
        V4L2RawFormat("YV12", "YV12", .planar(2, 2), nil),
        V4L2RawFormat("NV21", "NV21", .semiPlanar(2, 2), AV_PIX_FMT_NV21),
        V4L2RawFormat("NV16", "NV16", .semiPlanar(2, 1), AV_PIX_FMT_NV16),
        V4L2RawFormat("NV61", "NV61", .semiPlanar(2, 1), nil),
        V4L2RawFormat("422P", "YU16", .planar(2, 1), AV_PIX_FMT_YUV422P),
        V4L2RawFormat("NV24", "NV24", .semiPlanar(1, 1), AV_PIX_FMT_NV24),
        V4L2RawFormat("NV42", "NV42", .semiPlanar(1, 1), AV_PIX_FMT_NV42),
        V4L2RawFormat("YUYV", "YUYV", .packed(bytes: 2, pair: true), AV_PIX_FMT_YUYV422),
        V4L2RawFormat("YVYU", "YVYU", .packed(bytes: 2, pair: true), AV_PIX_FMT_YVYU422),
        V4L2RawFormat("UYVY", "UYVY", .packed(bytes: 2, pair: true), AV_PIX_FMT_UYVY422),
        // The kernel's two sides count the bytes of such words from opposite ends.
        V4L2RawFormat("BGR3", "RG24", .packed(bytes: 3, pair: false), AV_PIX_FMT_BGR24),
        V4L2RawFormat("RGB3", "BG24", .packed(bytes: 3, pair: false), AV_PIX_FMT_RGB24),
        V4L2RawFormat("XR24", "XR24", .packed(bytes: 4, pair: false), AV_PIX_FMT_BGR0),
        V4L2RawFormat("BGR4", "XR24", .packed(bytes: 4, pair: false), AV_PIX_FMT_BGR0),
        V4L2RawFormat("AR24", "AR24", .packed(bytes: 4, pair: false), AV_PIX_FMT_BGRA),
        V4L2RawFormat("BX24", "BX24", .packed(bytes: 4, pair: false), AV_PIX_FMT_0RGB),
        V4L2RawFormat("RGB4", "BX24", .packed(bytes: 4, pair: false), AV_PIX_FMT_0RGB),
        V4L2RawFormat("BA24", "BA24", .packed(bytes: 4, pair: false), AV_PIX_FMT_ARGB),
        V4L2RawFormat("XB24", "XB24", .packed(bytes: 4, pair: false), AV_PIX_FMT_RGB0),
        V4L2RawFormat("AB24", "AB24", .packed(bytes: 4, pair: false), AV_PIX_FMT_RGBA),
        V4L2RawFormat("RX24", "RX24", .packed(bytes: 4, pair: false), AV_PIX_FMT_0BGR),
        V4L2RawFormat("RA24", "RA24", .packed(bytes: 4, pair: false), AV_PIX_FMT_ABGR),
        V4L2RawFormat("GREY", "R8  ", .packed(bytes: 1, pair: false), AV_PIX_FMT_GRAY8),
        // Made of tiles, for planes that know them: Raspberry Pi, Allwinner, Samsung.
        V4L2RawFormat("NC12", "NV12", .semiPlanar(2, 2), nil, .sand128),
        V4L2RawFormat("ST12", "NV12", .semiPlanar(2, 2), nil, .fixed(Self.vendor(9, 1))),
        V4L2RawFormat("TM12", "NV12", .semiPlanar(2, 2), nil, isSplit: true, .fixed(Self.vendor(4, 1))),
        V4L2RawFormat("VM12", "NV12", .semiPlanar(2, 2), nil, isSplit: true, .fixed(Self.vendor(4, 2))),
    ]

    /// fourcc_mod_code: the vendor's number in the highest byte.
    private static func vendor(_ vendor: UInt64, _ value: UInt64) -> UInt64 { vendor << 56 | value }

    /// The letters as a little-endian word.
    static func code(_ letters: StaticString) -> UInt32 {
        precondition(letters.utf8CodeUnitCount == 4, "a pixel format has a name of four letters")
        return (0..<4).reduce(0) { $0 | UInt32(letters.utf8Start[$1]) << UInt32(8 * $1) }
    }
}
