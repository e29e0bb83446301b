// Records of plain uses, encoded in the buffer they are copied from: row, draws and fact as event-row.ts,
// ledger-rows.ts and fact-encoder.ts write them, from the received bytes, without intermediate strings.
import { ascii } from '../../bytes/ascii.js'
import { dataViewOf } from '../../bytes/data-view.js'
import { writeId } from '../../core/id.js'
import type { UsageBatch } from '../../core/usage/batch.js'
import { ledgerHeaderBytes, recordHeaderBytes, writeRecordHeader } from '../frame.js'
import { type FramedRecords, RecordFlag } from '../journal.js'
import { ByteTemplate, putBytes, putId, putNumber, putTemplate } from './byte-writer.js'
import {
  type DrawIds,
  DrawKind,
  drawsMax,
  type GrantIdBytes,
  putDrawEffect,
  putDrawRows,
} from './draw-encoder.js'
import { rowStart } from './event-row.js'
import { isInRows } from './fact-encoder.js'
import type { Draw } from './ledger-rows.js'

const companyId = new ByteTemplate('","company_id":"')
const userId = new ByteTemplate('","user_id":"')
const quantityMember = new ByteTemplate('","quantity":')
const sentMember = new ByteTemplate(',"sent_at":')
const keyMember = new ByteTemplate(',"idempotency_key":"')
const body = new ByteTemplate(',"body":')
const factStart = new ByteTemplate('{"k":"c","id":"')
const claimStart = new ByteTemplate('],"ik":["')
const claimId = new ByteTemplate('","evt_')

/** Length of `evt_`, and of the rest of an event's id. */
const idPrefixLength = 4
const idLength = 11
const { quote, braceClose, bracketClose, one } = ascii
/** More than all that is written besides the texts given. */
const restMax = 512
/** Up to here a loop is quicker than a call. */
const looped = 512
const bytesMin = 64 << 10
const keptBytesMax = 4 << 20

/** Common bytes of records with the same time, key, name and features. */
export class UseKind {
  /** Until the event's id. */
  readonly row: ByteTemplate
  readonly factEnv: ByteTemplate
  readonly usedEnd: ByteTemplate
  readonly seen: ByteTemplate
  readonly claimEnd: ByteTemplate
  private plain: ByteTemplate | null = null
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
    const start = rowStart(env, 'track', at, at, 'enriched', apiKeyId)
    this.row = new ByteTemplate(`${start},"processed_at":${at},"subtype":"${name}"${features},"id":"evt_`)
    this.factEnv = new ByteTemplate(
      `","env":"${env}","at":${at},"fx":[{"t":"used","subtype":"${name}","quantity":`,
    )
    this.usedEnd = new ByteTemplate(`,"atMs":${at}}`)
    this.seen = new ByteTemplate(`,{"t":"seen","atMs":${at}}`)
    this.claimEnd = new ByteTemplate(`",${at}]`)
  }

  /** The bytes from the quantity on, for a record without a key whose draws, if any, are in rows. */
  get plainEnd(): ByteTemplate {
    this.plain ??= new ByteTemplate(`,"atMs":${this.at}},{"t":"seen","atMs":${this.at}}]}`)
    return this.plain
  }

  /** Common bytes of draws like this one. */
  draw({ c, f }: Draw): DrawKind {
    const last = this.lastDraw
    if (last !== null && last.creditId === c && last.featureId === f) return last
    const made = new DrawKind(this.env, this.at, c, f)
    this.lastDraw = made
    return made
  }
}

const none: readonly never[] = []

const used = RecordFlag.event | RecordFlag.use
const drawnNothing = used | RecordFlag.ledger | RecordFlag.draws
const drawnInRows = drawnNothing | RecordFlag.rows

/** Records gathering until they are taken into the journal. */
export class UseRecords {
  private bytes = Buffer.allocUnsafeSlow(bytesMin)
  private view = dataViewOf(this.bytes)
  private length = 0
  private from = 0
  private waiting = 0
  /** Ids of the record being written. */
  private readonly drawn: DrawIds = { companyId: '', companyAt: 0, userAt: 0, eventAt: 0, grant: null }

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
   * draws      its draw, from the company with this id.
   * grant      the id of a grant that it draws from, if that is known.
   */
  add(
    uses: UsageBatch,
    i: number,
    kind: UseKind,
    month: number,
    draws: readonly Draw[] = none,
    ofCompany = '',
    grant: GrantIdBytes | null = null,
  ): void {
    const received = uses.view
    const rows = uses.rowsView
    const from = uses.bodyAt(i)
    const to = uses.bodyEnd(i)
    const keyLength = uses.keyLength(i)
    const keyAt = uses.keyAt(i)
    const quantity = uses.quantity(i)
    const company = uses.companyAt(i)
    const start = this.length
    this.reserve(
      start + to - from + 2 * keyLength + kind.row.length + kind.factEnv.length + restMax + drawsMax(draws),
    )
    const { bytes, view } = this
    let moves = false
    let told = true
    for (let d = 0; d < draws.length; d++) {
      if (draws[d]!.s.length > 0) moves = true
      if (!isInRows(draws[d]!)) told = false
    }
    const rowAt = start + recordHeaderBytes + (moves ? ledgerHeaderBytes : 0)

    const idAt = putTemplate(view, rowAt, kind.row)
    writeId(bytes, idAt, uses.idHigh(i), uses.idLow(i))
    const ofCompanyAt = putTemplate(view, idAt + idLength, companyId)
    let at = putId(view, ofCompanyAt, rows, company)
    let ofUserAt = -1
    if (uses.hasUser(i)) {
      ofUserAt = putTemplate(view, at, userId)
      at = putId(view, ofUserAt, rows, uses.userAt(i))
    }
    if (quantity === 1) view.setUint8(at++, quote)
    else at = putNumber(view, putTemplate(view, at, quantityMember), quantity)
    const sentAtMs = uses.sentAtMs(i)
    if (sentAtMs !== null) at = putNumber(view, putTemplate(view, at, sentMember), sentAtMs)
    if (keyLength > 0) {
      at = putBytes(view, putTemplate(view, at, keyMember), received, keyAt, keyAt + keyLength)
      view.setUint8(at++, quote)
    }
    at = putTemplate(view, at, body)
    if (to - from > looped) at += uses.bytes.copy(bytes, at, from, to)
    else at = putBytes(view, at, received, from, to)
    view.setUint8(at++, braceClose)
    const rowLength = at - rowAt

    const { drawn } = this
    drawn.companyId = ofCompany
    drawn.companyAt = ofCompanyAt
    drawn.userAt = ofUserAt
    drawn.eventAt = idAt - idPrefixLength
    drawn.grant = grant
    if (moves) {
      for (let d = 0; d < draws.length; d++)
        at = putDrawRows(view, at, kind.draw(draws[d]!), draws[d]!, drawn)
      view.setUint32(start + recordHeaderBytes, at - rowAt - rowLength, true)
    }

    at = putTemplate(view, putId(view, putTemplate(view, at, factStart), rows, company), kind.factEnv)
    if (quantity === 1) view.setUint8(at++, one)
    else at = putNumber(view, at, quantity)
    if (told && keyLength === 0) at = putTemplate(view, at, kind.plainEnd)
    else {
      at = putTemplate(view, at, kind.usedEnd)
      for (let d = 0; d < draws.length; d++)
        if (!isInRows(draws[d]!)) at = putDrawEffect(view, at, kind.draw(draws[d]!), draws[d]!, drawn)
      at = putTemplate(view, at, kind.seen)
      if (keyLength > 0) {
        at = putBytes(view, putTemplate(view, at, claimStart), received, keyAt, keyAt + keyLength)
        at = putId(view, putTemplate(view, at, claimId), view, idAt, idLength)
        at = putTemplate(view, at, kind.claimEnd)
      } else view.setUint8(at++, bracketClose)
      view.setUint8(at++, braceClose)
    }
    const flags = draws.length === 0 ? used : moves ? drawnInRows : drawnNothing
    writeRecordHeader(view, start, at, rowLength, flags, month)
    this.length = at
    this.waiting++
  }

  /** Records added since the last call, to be appended before `clear`. */
  take(): FramedRecords {
    const { bytes, from, length, waiting } = this
    this.from = length
    this.waiting = 0
    return { bytes, from, to: length, count: waiting }
  }

  /** The taken records are in the journal's own buffer. */
  clear(): void {
    this.length = 0
    this.from = 0
    if (this.bytes.length > keptBytesMax) this.use(Buffer.allocUnsafeSlow(bytesMin))
  }

  private reserve(needed: number): void {
    if (needed <= this.bytes.length) return
    // taken records keep pointing into the old buffer
    const larger = Buffer.allocUnsafeSlow(2 * needed)
    this.bytes.copy(larger, 0, 0, this.length)
    this.use(larger)
  }

  private use(bytes: Buffer<ArrayBuffer>): void {
    this.bytes = bytes
    this.view = dataViewOf(bytes)
  }
}
