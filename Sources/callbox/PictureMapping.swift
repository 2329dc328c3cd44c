// SPDX-License-Identifier: Apache-2.0

import Display
import Picture

extension VideoFrame {
    /// As the display wants it. The frame has to be kept alive as long as the view is used.
    var view: PictureView {
        let planes = self.planes
        return PictureView(
            PixelSize(self.width, self.height),
            aspect: SampleAspect(self.sampleAspect.width, self.sampleAspect.height),
            format: self.format == .nv12 ? .nv12 : .yuv420,
            planes: (
                PicturePlane(planes.0.bytes, stride: planes.0.stride),
                PicturePlane(planes.1.bytes, stride: planes.1.stride),
                PicturePlane(planes.2.bytes, stride: planes.2.stride)
            ),
            colours: PictureColours(self.matrix == .bt709 ? .bt709 : .bt601, isFullRange: self.fullRange))
    }
}

extension SharedKind {
    /// As a codec is asked for it.
    var format: SharedFormat { SharedFormat(fourCC: self.fourCC, modifier: self.modifier) }
}

extension SharedPicture {
    /// As the display takes it, which then keeps the picture. `converter` reads formats for software that the display
    /// does not.
    func image(_ converter: SharedPictureConverter) -> SharedImage {
        let visible = Rectangle(
            self.visible.x, self.visible.y, self.visible.width & ~1, self.visible.height & ~1)
        let direct = DirectPicture(
            SharedKind(self.format.fourCC, modifier: self.format.modifier),
            coded: PixelSize(self.codedWidth, self.codedHeight), visible: visible)
        let known = self.isReadable ? PixelFormat(rawValue: self.format.fourCC) : nil
        let colours = PictureColours(self.matrix == .bt709 ? .bt709 : .bt601, isFullRange: self.fullRange)
        return SharedImage(
            buffer: self.bufferID, pool: self.poolID, direct,
            planes: self.planes.map { SharedImagePlane($0.dmaBuf, offset: $0.offset, pitch: $0.stride) },
            aspect: SampleAspect(self.sampleAspect.width, self.sampleAspect.height), colours: colours,
            format: known ?? .yuv420
        ) { body in
            guard let known else {
                guard let frame = self.converted(by: converter) else { return false }
                body(frame.view)
                return true
            }
            let isRead = self.read { parts in
                var planes = parts.map { PicturePlane($0.bytes, stride: $0.stride) }
                while planes.count < 3 { planes.append(.none) }
                body(
                    PictureView(
                        visible.size, format: known, planes: (planes[0], planes[1], planes[2]), colours: colours))
                return true
            }
            return isRead ?? false
        }
    }
}
