// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem
import KioskEngine
import Loop

switch parseCommand(commandLineArguments()) {
case .help:
    printLine(usage)
case .version:
    printLine("callbox " + version)
case .misuse(let sentence):
    Log.write("callbox: " + sentence)
    exit(64)
case .check(let path):
    exit(check(path))
case .sample:
    printLine(ConfigurationDocument.sample.trimmed())
case .doctor(let options):
    exit(doctor(options))
case .healthy(let waitSeconds, let socket):
    exit(healthy(waitSeconds: waitSeconds, socket: socket))
case .network(let options, let folder):
    exit(writeNetworkFiles(options, below: folder))
case .update(let options, let source, let isByItself):
    exit(Update(options, isByItself: isByItself).run(source))
case .show(let kept):
    exit(show(kept))
case .tell(let line, let follow, let socket):
    exit(tell(line, follow: follow, socket: socket))
case .run(let options):
    exit(run(options))
}
