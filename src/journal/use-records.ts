// Records of plain uses, put together where they will be copied from: row, draws and fact as event-row.ts, ledger-rows.ts
// and fact-text.ts write them, byte by byte from what was received, without a text for any of them.
import { ascii } from '../core/ascii.js'
import { writeId } from '../core/id.js'
import { actorIdLength, type Uses } from '../core/uses.js'
import { type DrawIds, DrawKind, drawsMax, putDrawEffect, putDrawRows } from './draw-bytes.js'
import { rowStart } from './event-row.js'
import { isToldByRows } from './fact-text.js'
import { ledgerHeaderBytes, recordHeaderBytes, writeRecordHeader } from './frame.js'
import { type FramedRecords, RecordFlag } from './journal.js'
import type { Draw } from './ledger-rows.js'

const latin = (text: string): Buffer => Buffer.from(text, 'latin1')

const eventId = latin(',"id":"evt_')
const companyId = latin('","company_id":"')
const userId = latin('","user_id":"')
const quantityMember = latin('","quantity":')
const sentMember = latin(',"sent_at":')
const keyMember = latin(',"idempotency_key":"')
const body = latin(',"body":')
const factStart = latin('{"k":"c","id":"')
const claimStart = latin('],"ik":["')
const claimId = latin('","evt_')

/** Of `evt_`, and of what follows it. */
const idPrefixLength = 4
const idLength = 11
const { quote, braceClose, bracketClose } = ascii
/** More than all that is written besides the texts given. */
const restMax = 512
/** Up to here a loop is quicker than a call. */
const looped = 160
const bytesMin = 64 << 10
const keptBytesMax = 4 << 20

/** What records of the same time, key, name and features have alike. */
export class UseKind {
  readonly row: Buffer
  readonly factEnv: Buffer
  readonly usedEnd: Buffer
  readonly seen: Buffer
  readonly claimEnd: Buffer
  private lastDraw: DrawKind | null = null

  /** featureIds: linked by the name (EV-70). The name is of plain text. */
  constructor(
    private readonly env: string,
    apiKeyId: string,
    private readonly at: number,
    name: string,
    featureIds: readonly string[],
  ) {
    const features = featureIds.length > 0 ? `,"feature_ids":["${featureIds.join('","')}"]` : ''
    this.row = latin(
      `${rowStart(env, 'track', at, at, 'enriched', apiKeyId)},"processed_at":${at},"subtype":"${name}"${features}`,
    )
    this.factEnv = latin(`","env":"${env}","at":${at},"fx":[{"t":"used","subtype":"${name}","quantity":`)
    this.usedEnd = latin(`,"atMs":${at}}`)
    this.seen = latin(`,{"t":"seen","atMs":${at}}`)
    this.claimEnd = latin(`",${at}]`)
  }

  /** What its draws like this one have alike. */
  draw({ c, f }: Draw): DrawKind {
    const last = this.lastDraw
    if (last !== null && last.creditId === c && last.featureId === f) return last
    const made = new DrawKind(this.env, this.at, c, f)
    this.lastDraw = made
    return made
  }
}

const none: readonly never[] = []

const used = RecordFlag.event
const drawnNothing = used | RecordFlag.ledger | RecordFlag.draws
const drawnInRows = drawnNothing | RecordFlag.rows | RecordFlag.drawsInRows

/** Records gathering until they are taken into the journal. */
export class UseRecords {
  private bytes = Buffer.allocUnsafeSlow(bytesMin)
  private view = viewOf(this.bytes)
  private length = 0
  private from = 0
  private waiting = 0
  /** Of the record that is being written. */
  private readonly drawn: DrawIds = { companyId: '', companyAt: 0, userAt: 0, eventAt: 0 }

  /** Records added since the last `take`. */
  get count(): number {
    return this.waiting
  }

  /** Bytes of all records that are held. */
  get byteLength(): number {
    return this.length
  }

  /**
   * One event of use: enriched, seen now, of a company.
   *
   * month      as `monthOf` of its time.
   * draws      what it draws at once, of the company with this id.
   */
  add(
    uses: Uses,
    i: number,
    kind: UseKind,
    month: number,
    draws: readonly Draw[] = none,
    ofCompany = '',
  ): void {
    const received = uses.bytes
    const { rows } = uses
    const from = uses.bodyAt(i)
    const to = uses.bodyEnd(i)
    const keyLength = uses.keyLength(i)
    const keyAt = uses.keyAt(i)
    const quantity = uses.quantity(i)
    const high = uses.idHigh(i)
    const low = uses.idLow(i)
    const company = uses.companyAt(i)
    const start = this.length
    this.reserve(
      start + to - from + 2 * keyLength + kind.row.length + kind.factEnv.length + restMax + drawsMax(draws),
    )
    const { bytes, view } = this
    let moves = false
    for (let d = 0; d < draws.length; d++) if (draws[d]!.s.length > 0) moves = true
    const rowAt = start + recordHeaderBytes + (moves ? ledgerHeaderBytes : 0)

    bytes.set(kind.row, rowAt)
    let at = put(bytes, rowAt + kind.row.length, eventId, 0, eventId.length)
    writeId(bytes, at, high, low)
    const idAt = at
    const ofCompanyAt = put(bytes, at + idLength, companyId, 0, companyId.length)
    at = put(bytes, ofCompanyAt, rows, company, company + actorIdLength)
    let ofUserAt = -1
    if (uses.hasUser(i)) {
      const user = uses.userAt(i)
      ofUserAt = put(bytes, at, userId, 0, userId.length)
      at = put(bytes, ofUserAt, rows, user, user + actorIdLength)
    }
    if (quantity === 1) bytes[at++] = quote
    else at = putText(bytes, put(bytes, at, quantityMember, 0, quantityMember.length), `${quantity}`)
    const sentAtMs = uses.sentAtMs(i)
    if (sentAtMs !== null)
      at = putText(bytes, put(bytes, at, sentMember, 0, sentMember.length), `${sentAtMs}`)
    if (keyLength > 0) {
      at = put(bytes, at, keyMember, 0, keyMember.length)
      at = put(bytes, at, received, keyAt, keyAt + keyLength)
      bytes[at++] = quote
    }
    at = put(bytes, at, body, 0, body.length)
    at = put(bytes, at, received, from, to)
    bytes[at++] = braceClose
    const rowLength = at - rowAt

    const { drawn } = this
    drawn.companyId = ofCompany
    drawn.companyAt = ofCompanyAt
    drawn.userAt = ofUserAt
    drawn.eventAt = idAt - idPrefixLength
    if (moves) {
      for (let d = 0; d < draws.length; d++)
        at = putDrawRows(view, at, kind.draw(draws[d]!), draws[d]!, drawn)
      view.setUint32(start + recordHeaderBytes, at - rowAt - rowLength, true)
    }

    at = put(bytes, at, factStart, 0, factStart.length)
    at = put(bytes, at, rows, company, company + actorIdLength)
    at = put(bytes, at, kind.factEnv, 0, kind.factEnv.length)
    if (quantity === 1) bytes[at++] = 0x31
    else at = putText(bytes, at, `${quantity}`)
    at = put(bytes, at, kind.usedEnd, 0, kind.usedEnd.length)
    for (let d = 0; d < draws.length; d++)
      if (!isToldByRows(draws[d]!)) at = putDrawEffect(view, at, kind.draw(draws[d]!), draws[d]!, drawn)
    at = put(bytes, at, kind.seen, 0, kind.seen.length)
    if (keyLength > 0) {
      at = put(bytes, at, claimStart, 0, claimStart.length)
      at = put(bytes, at, received, keyAt, keyAt + keyLength)
      at = put(bytes, at, claimId, 0, claimId.length)
      at = put(bytes, at, bytes, idAt, idAt + idLength)
      at = put(bytes, at, kind.claimEnd, 0, kind.claimEnd.length)
    } else bytes[at++] = bracketClose
    bytes[at++] = braceClose
    const flags = draws.length === 0 ? used : moves ? drawnInRows : drawnNothing
    writeRecordHeader(bytes, start, at, rowLength, flags, month)
    this.length = at
    this.waiting++
  }

  /** Those added since the last call, to be appended before `clear`. */
  take(): FramedRecords {
    const { bytes, from, length, waiting } = this
    this.from = length
    this.waiting = 0
    return { bytes, from, to: length, count: waiting }
  }

  /** What was taken is in the journal's own buffer. */
  clear(): void {
    this.length = 0
    this.from = 0
    if (this.bytes.length > keptBytesMax) this.use(Buffer.allocUnsafeSlow(bytesMin))
  }

  private reserve(needed: number): void {
    if (needed <= this.bytes.length) return
    // what was taken keeps pointing into the old one
    const larger = Buffer.allocUnsafeSlow(2 * needed)
    this.bytes.copy(larger, 0, 0, this.length)
    this.use(larger)
  }

  private use(bytes: Buffer<ArrayBuffer>): void {
    this.bytes = bytes
    this.view = viewOf(bytes)
  }
}

const viewOf = ({ buffer, byteOffset, length }: Buffer) => new DataView(buffer, byteOffset, length)

/** Returns where what was put ends. */
function put(bytes: Buffer, at: number, source: Buffer, from: number, to: number): number {
  const length = to - from
  if (length > looped) source.copy(bytes, at, from, to)
  else for (let i = 0; i < length; i++) bytes[at + i] = source[from + i]!
  return at + length
}

/** Digits and a sign. */
function putText(bytes: Buffer, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i)
  return at + text.length
}
