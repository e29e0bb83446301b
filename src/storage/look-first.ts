// Looks at what a start needs from the machine before it starts databases: a directory, room, ports (S7).
import { existsSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { type Config, ConfigError } from '../config.js'
import { inOneLine } from '../host/failure.js'

/** The least room of a start: the first files of a journal, and those of two stores. */
const roomBytesLeast = 64 * 1024 * 1024
const probeBytes = 4_096

/**
 * Require a data directory that takes files, and room in it; creates the directory.
 *
 * errors  ConfigError with one line: what is wrong and what to do.
 */
export function mustTakeFiles(directory: string): void {
  const probe = join(directory, `.probe-${process.pid}`)
  try {
    make(directory)
    writeFileSync(probe, Buffer.alloc(probeBytes), { mode: 0o600, flush: true })
  } catch (error) {
    throw new ConfigError(`The data directory ${directory} takes no files: ${saying(error as Error)}`)
  } finally {
    removed(probe)
  }
  const { bavail, bsize } = statfsSync(directory)
  const fault = roomFault(directory, bavail * bsize)
  if (fault !== null) throw new ConfigError(fault)
}

/** The fault of a disk with so many free bytes, in one line; null if a start has room. */
export function roomFault(directory: string, freeBytes: number): string | null {
  if (freeBytes >= roomBytesLeast) return null
  const free = (freeBytes / 2 ** 20).toFixed(0)
  return `The disk of the data directory ${directory} is full: ${free} MiB are free, a start needs 64. Make room, or set TOLLGATE_DATA_DIR.`
}

/** Step by step: where nothing can be made, as in /proc, Node's own recursive way never ends. */
function make(directory: string): void {
  if (existsSync(directory)) return
  make(dirname(directory))
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    // another process was faster
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

function removed(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // in a directory that is none
  }
}

function saying(error: Error & { readonly code?: string }): string {
  const line = inOneLine(error)
  return line.includes('TOLLGATE_DATA_DIR')
    ? line
    : `${line}. Set TOLLGATE_DATA_DIR to a directory that this user may write.`
}

/**
 * Require that the addresses of the settings can be listened on. A shared port is not looked at, and port 0 is any.
 *
 * errors  ConfigError with one line that names the setting.
 */
export async function mustBeFree(config: Config): Promise<void> {
  const { host, port, sharedPort, metricsAddress, nodeListen } = config
  if (!sharedPort) await mustListen(host, port, 'TOLLGATE_PORT or TOLLGATE_HOST')
  if (metricsAddress !== null)
    await mustListen(metricsAddress.host, metricsAddress.port, 'TOLLGATE_METRICS_ADDRESS')
  if (config.redisUrl !== null && nodeListen !== null)
    await mustListen(nodeListen.host, nodeListen.port, 'TOLLGATE_NODE_LISTEN')
}

const faults: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use: stop the program that listens there',
  EADDRNOTAVAIL: 'is no address of this machine: name one of its own',
  EACCES: 'is for root: take a port from 1024 on',
  ENOTFOUND: 'is no name of this machine: name one of its own addresses',
}

async function mustListen(host: string, port: number, setting: string): Promise<void> {
  const code = await new Promise<string | null>(resolve => {
    const server = createServer()
    server.on('error', error => resolve((error as NodeJS.ErrnoException).code ?? error.message))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)))
  })
  if (code === null) return
  throw new ConfigError(
    `${host}:${port} ${faults[code] ?? `cannot be listened on (${code})`}, or set ${setting}.`,
  )
}
