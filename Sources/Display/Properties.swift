// SPDX-License-Identifier: Apache-2.0

import Bytes
import CDRM
import CSystem

/// One property of a KMS object, as it was when it was read.
struct Property {
    let name: ByteString
    let id: UInt32
    let value: UInt64
    let isImmutable: Bool
    /// Lowest and highest, for properties with a range.
    let limits: [UInt64]
    /// Names of values; of bit numbers for bit masks.
    let choices: [(name: ByteString, value: UInt64)]

    func choice(_ name: ByteString) -> UInt64? {
        self.choices.first { $0.name == name }?.value
    }
}

/// The properties of one plane, CRTC or connector.
struct Properties {
    private let entries: [Property]

    /// `kind` is one of DRM_MODE_OBJECT_*.
    init(_ card: Int32, _ object: UInt32, kind: Int64) {
        guard let list = drmModeObjectGetProperties(card, object, UInt32(kind)) else {
            self.entries = []
            return
        }
        defer { drmModeFreeObjectProperties(list) }
        self.entries = (0..<Int(list.pointee.count_props)).compactMap { index in
            Self.read(card, list.pointee.props[index], value: list.pointee.prop_values[index])
        }
    }

    subscript(name: ByteString) -> Property? {
        self.entries.first { $0.name == name }
    }

    /// The id of a property that every driver has.
    func require(_ name: ByteString) throws(DisplayError) -> UInt32 {
        guard let property = self[name] else { throw .refused("tell its " + name, code: 0) }
        return property.id
    }

    private static func read(_ card: Int32, _ id: UInt32, value: UInt64) -> Property? {
        guard let property = drmModeGetProperty(card, id) else { return nil }
        defer { drmModeFreeProperty(property) }
        let content = property.pointee
        let limits = (0..<Int(content.count_values)).map { content.values[$0] }
        let choices = (0..<Int(content.count_enums)).map { index in
            (name: text(content.enums[index].name), value: UInt64(content.enums[index].value))
        }
        return Property(
            name: text(content.name), id: id, value: value,
            isImmutable: content.flags & UInt32(DRM_MODE_PROP_IMMUTABLE) != 0, limits: limits, choices: choices)
    }
}

/// The bytes of a C array of characters up to its NUL. Swift sees such an array as a tuple.
func text<Characters>(_ characters: Characters) -> ByteString {
    withUnsafeBytes(of: characters) { ByteString(Array($0.prefix { $0 != 0 })) }
}

func text(_ pointer: UnsafePointer<CChar>?) -> ByteString {
    guard let pointer else { return "" }
    var bytes: [UInt8] = []
    var at = pointer
    while at.pointee != 0 {
        bytes.append(UInt8(bitPattern: Int8(truncatingIfNeeded: Int(at.pointee))))
        at += 1
    }
    return ByteString(bytes)
}

/// The content of a property that is a blob; empty where there is none.
func blob(_ card: Int32, _ id: UInt64) -> [UInt8] {
    guard id != 0, let blob = drmModeGetPropertyBlob(card, UInt32(truncatingIfNeeded: id)) else { return [] }
    defer { drmModeFreePropertyBlob(blob) }
    guard let data = blob.pointee.data else { return [] }
    return Array(UnsafeRawBufferPointer(start: data, count: Int(blob.pointee.length)))
}

/// One atomic commit in the making (KMS documentation, "Atomic Mode Setting").
struct AtomicRequest: ~Copyable {
    private let request: OpaquePointer?
    /// False once a step failed; such a request is not sent.
    private var isWhole: Bool
    /// Descriptors that the kernel reads with the commit.
    private var fences: [Int32] = []

    init() {
        self.request = drmModeAtomicAlloc()
        self.isWhole = self.request != nil
    }

    deinit {
        drmModeAtomicFree(self.request)
        for fence in self.fences { close(fence) }
    }

    /// Has a plane wait until whoever writes to the memory has done so. Many exporters never have anybody to wait for,
    /// or cannot tell: then the picture was whole when it came.
    mutating func wait(_ plane: UInt32, _ property: UInt32, forDMABuf dmaBuf: Int32) {
        let fence = callbox_export_fence(dmaBuf)
        guard fence >= 0 else { return }
        self.fences.append(fence)
        self.set(plane, property, UInt64(fence))
    }

    mutating func set(_ object: UInt32, _ property: UInt32, _ value: UInt64) {
        if drmModeAtomicAddProperty(self.request, object, property, value) < 0 { self.isWhole = false }
    }

    mutating func set(_ object: UInt32, _ property: UInt32, signed value: Int) {
        self.set(object, property, UInt64(bitPattern: Int64(value)))
    }

    /// 0, or the errno of the kernel's refusal. `flags` are DRM_MODE_ATOMIC_* and DRM_MODE_PAGE_FLIP_EVENT.
    borrowing func commit(_ card: Int32, flags: UInt32, cookie: UInt = 0) -> Int32 {
        guard self.isWhole else { return 12 }
        return -drmModeAtomicCommit(card, self.request, flags, UnsafeMutableRawPointer(bitPattern: cookie))
    }
}
