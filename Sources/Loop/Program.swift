// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem

/// A program that is given something to read and asked for an answer, without being waited for.
///
/// It ends when this object does.
public final class Program {
    /// A longer input would not fit into a pipe at once.
    public static let inputMax = 32 * 1024
    public static let outputMax = 4 * 1024

    /// Readable when there is something for `read`.
    public let descriptor: Int32
    private let process: pid_t
    private var output: [UInt8] = []

    /// Nil where it cannot be started.
    public init?(_ path: ByteString, input: [UInt8]) {
        guard input.count <= Self.inputMax else { return nil }
        var descriptor: Int32 = -1
        self.process = path.withCString { path in
            input.withUnsafeBytes { callbox_run(path, $0.baseAddress, $0.count, &descriptor) }
        }
        self.descriptor = descriptor
        guard self.process > 0 else { return nil }
    }

    deinit {
        guard self.process > 0 else { return }
        close(self.descriptor)
        kill(self.process, SIGKILL)
        waitpid(self.process, nil, 0)
    }

    /// Nil while it has not said everything.
    public func read() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 1024)
        while true {
            let count = CSystem.read(self.descriptor, &buffer, buffer.count)
            if count < 0 && callbox_errno() == EAGAIN { return nil }
            guard count > 0, self.output.count + count <= Self.outputMax else { return self.output }
            self.output += buffer[..<count]
        }
    }
}
