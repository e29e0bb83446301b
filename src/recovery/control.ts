// A socket in the data directory, for processes that may read the directory; `tollgate backup` uses it. One line of
// JSON each way at a time; a caller's freeze ends with its connection.
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { createConnection, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Logger } from 'pino'
import type { BackupPoint, KeptPoint } from './backup.js'

/** Caller → service. */
type ControlRequest = 'backup' | 'journal_read'
/** Service → caller. */
type ControlAnswer = { readonly point: BackupPoint } | { readonly done: true } | { readonly failed: string }

/** Bytes of a unix socket's path that every system takes, its closing zero not counted. */
const pathBytesMax = 103

/** Only the owner passes through the socket's own directory. */
const directoryOf = (dataDir: string): string => join(dataDir, 'control')

/**
 * Where the socket is. A path that is too long is walked through the open directory, where the system allows it.
 *
 * errors  Error when it is too long and the system does not; ENOENT without the directory.
 */
async function reach(dataDir: string): Promise<{ path: string; close: () => Promise<void> }> {
  const path = join(directoryOf(dataDir), 'socket')
  if (Buffer.byteLength(path) <= pathBytesMax) return { path, close: async () => {} }
  if (process.platform !== 'linux')
    throw new Error(`${path} is too long for a socket: shorten TOLLGATE_DATA_DIR`)
  const handle: FileHandle = await open(directoryOf(dataDir), 'r')
  return { path: `/proc/self/fd/${handle.fd}/socket`, close: () => handle.close() }
}

/** The service's side. */
export class ControlSocket {
  private readonly callers = new Set<Caller>()
  private busy = false

  private constructor(
    private readonly server: Server,
    private readonly keep: () => Promise<KeptPoint>,
    private readonly log: Logger,
  ) {}

  /**
   * Listen in the data directory, which is locked.
   *
   * keep  finds the point of a backup.
   */
  static async listen(dataDir: string, keep: () => Promise<KeptPoint>, log: Logger): Promise<ControlSocket> {
    const directory = directoryOf(dataDir)
    // Only a killed one leaves its socket behind.
    await rm(directory, { recursive: true, force: true })
    await mkdir(directory, { mode: 0o700 })
    const server = createServer()
    const socket = new ControlSocket(server, keep, log)
    server.on('connection', connection => socket.take(connection))
    const { path, close } = await reach(dataDir)
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve))
    await close()
    return socket
  }

  /** End what callers hold, and the socket. */
  async close(): Promise<void> {
    const closed = new Promise(resolve => this.server.close(resolve))
    await Promise.all([...this.callers].map(caller => caller.end()))
    await closed
  }

  private take(connection: Socket): void {
    const caller: Caller = new Caller(connection, request => this.answer(caller, request))
    this.callers.add(caller)
    connection.on('close', () => {
      this.callers.delete(caller)
      void caller.end().then(() => {
        if (caller.asked) this.busy = false
      })
    })
  }

  private async answer(caller: Caller, request: ControlRequest): Promise<ControlAnswer> {
    if (request === 'journal_read' && caller.kept !== null) {
      await caller.kept.journalRead()
      return { done: true }
    }
    if (request !== 'backup')
      return { failed: 'the service does not know this request: is it another version?' }
    if (this.busy) return { failed: 'another backup is being taken' }
    this.busy = true
    caller.asked = true
    caller.keeping = this.keep()
    const kept = await caller.keeping
    this.log.info({ committed: kept.point.committed }, 'a backup is being taken')
    caller.kept = kept
    return { point: kept.point }
  }
}

class Caller {
  /** It has the turn. */
  asked = false
  keeping: Promise<KeptPoint> | null = null
  kept: KeptPoint | null = null
  private ending: Promise<void> | null = null

  constructor(
    private readonly connection: Socket,
    answer: (request: ControlRequest) => Promise<ControlAnswer>,
  ) {
    connection.on('error', () => connection.destroy())
    createInterface({ input: connection }).on('line', line => {
      const request = line.length < 100 ? line.trim() : ''
      answer(request as ControlRequest)
        .catch(
          (error: unknown): ControlAnswer => ({
            failed: error instanceof Error ? error.message : String(error),
          }),
        )
        .then(said => {
          if (!connection.destroyed) connection.write(`${JSON.stringify(said)}\n`)
        })
    })
  }

  /** Also if it has a freeze or is about to get one. */
  end(): Promise<void> {
    this.connection.destroy()
    this.ending ??= (this.keeping ?? Promise.resolve(null)).then(
      kept => kept?.end(),
      () => {},
    )
    return this.ending
  }
}

/** The caller's side. */
export class Control {
  private constructor(
    private readonly connection: Socket,
    private readonly lines: AsyncIterator<string>,
  ) {}

  /** Null when no service listens on this data directory. */
  static async connect(dataDir: string): Promise<Control | null> {
    const reached = await reach(dataDir).catch(error => {
      if (error.code === 'ENOENT') return null
      throw error
    })
    if (reached === null) return null
    const connection = createConnection(reached.path)
    const connected = await new Promise<boolean>((resolve, reject) => {
      connection.once('connect', () => resolve(true))
      connection.once('error', (error: NodeJS.ErrnoException) =>
        error.code === 'ENOENT' || error.code === 'ECONNREFUSED' ? resolve(false) : reject(error),
      )
    }).finally(reached.close)
    if (!connected) return null
    connection.on('error', () => connection.destroy())
    return new Control(connection, createInterface({ input: connection })[Symbol.asyncIterator]())
  }

  /** errors  Error with the service's words, or that it is gone. */
  async ask(request: ControlRequest): Promise<Exclude<ControlAnswer, { readonly failed: string }>> {
    this.connection.write(`${request}\n`)
    const { value, done } = await this.lines.next()
    if (done === true) throw new Error('the service is gone')
    const answer = JSON.parse(value) as ControlAnswer
    if ('failed' in answer) throw new Error(answer.failed)
    return answer
  }

  close(): void {
    this.connection.destroy()
  }
}
