// Makes the fixture that upgrade.test.ts reads, once per released version: `node dist/test/upgrade/make.js VERSION`.
import { mkdtempSync, rmSync } from 'node:fs'
import { chmod, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { command } from '../command.js'
import { embedded, Process } from '../harness.js'
import { fill, fillMore } from './state.js'

const version = process.argv[2]
if (version === undefined) throw new Error('which version?')
const fixture = fileURLToPath(new URL(`../../../test/fixtures/upgrade-${version}/`, import.meta.url))
const directory = mkdtempSync(join(tmpdir(), 'tollgate-fixture-'))
await chmod(directory, 0o711)
const dataDir = join(directory, 'data')
// a stop leaves snapshots of everything; what comes after it is in the journals when the backup is taken
const first = await Process.start(dataDir, embedded)
const known = await fill(first.client)
await first.end('SIGTERM')
const second = await Process.start(dataDir, { ...embedded, TOLLGATE_CHECKPOINT_INTERVAL_MS: '3600000' })
await fillMore(second.client, known)
const taken = await command(dataDir, ['backup', join(fixture, 'backup')])
await second.end('SIGTERM')
rmSync(directory, { recursive: true })
await writeFile(join(fixture, 'known.json'), `${JSON.stringify(known, null, 2)}\n`)
process.stdout.write(taken.said)
process.exitCode = taken.code ?? 1
