// Records of plain uses, encoded in the buffer they are copied from: row, draws and fact as event-row.ts,
// ledger-rows.ts and fact-bytes.ts write them, from the received bytes, without intermediate strings.
import { ascii } from '../../bytes/ascii.js'
import { dataViewOf } from '../../bytes/data-view.js'
import { packed, putPackedNumber, putTextLength } from '../../bytes/packed.js'
import { actorIdLength, type UsageBatch } from '../../core/usage/batch.js'
import { writeId } from '../../core/values/id.js'
import { ledgerHeaderBytes, recordHeaderBytes, writeRecordHeader } from '../frame.js'
import { type FramedRecords, RecordFlag } from '../journal.js'
import {
  ByteTemplate,
  isUsualInstant,
  putBytes,
  putId,
  putNumber,
  putTemplate,
  TimedTemplate,
} from './byte-writer.js'
import {
  type DrawIds,
  DrawKind,
  drawsMax,
  type GrantIdBytes,
  putDrawEffect,
  putDrawRows,
} from './draw-encoder.js'
import { instantsOfStart, rowStart } from './event-row.js'
import { factMark, isInRows, packedText } from './fact-bytes.js'
import type { Draw } from './ledger-rows.js'
import { shapeOf } from './shapes.js'

const companyId = new ByteTemplate('","company_id":"')
const userId = new ByteTemplate('","user_id":"')
const quantityMember = new ByteTemplate('","quantity":')
const sentMember = new ByteTemplate(',"sent_at":')
const keyMember = new ByteTemplate(',"idempotency_key":"')
const body = new ByteTemplate(',"body":')
/** A fact up to the text of its company's id. */
const factStart = factHead(shapeOf.fact)
const claimingFactStart = factHead(shapeOf.claimingFact)
/** The members of a claim: key, event, captured at. */
const claimLength = 3

/** Length of `evt_`, and of the rest of an event's id. */
const idPrefixLength = 4
const idLength = 11
const { quote, braceClose, backslash } = ascii
/** Effects of a use whose draws, if any, are in rows: the use, and the time seen. */
const effectsMin = 2

function factHead(shape: number): ByteTemplate {
  const id = packed.text + actorIdLength
  return new ByteTemplate(
    `${String.fromCharCode(factMark, packed.shape + shape)}${packedText('c')}${String.fromCharCode(id)}`,
  )
}

/** An effect up to its first value that differs. */
function effectHead(shape: number, ...values: readonly string[]): string {
  return String.fromCharCode(packed.shape + shape) + packedText(...values)
}

const seenHead = effectHead(shapeOf.seen, 'seen')

/** More than all that is written besides the texts given. */
const restMax = 512
/** Up to here a loop is quicker than a call. */
const looped = 512
const bytesMin = 64 << 10
const keptBytesMax = 4 << 20

/** Common bytes of records with the same times, key, name and features. */
export class UseKind {
  /** Until the event's id. */
  readonly row: TimedTemplate
  /** From behind the company's id until the quantity, and where in it the number of effects lies. */
  readonly factEnv: TimedTemplate
  readonly effectsAt: number
  /** The time of a use, or of a claim. */
  readonly time: TimedTemplate
  readonly seen: TimedTemplate
  /** Where the instants of the row lie: those of `at`, and that of `present`. */
  private readonly rowAts: readonly number[]
  private readonly rowPresentAt: number
  private readonly factPresentAt: number
  private lastDraw: DrawKind | null = null

  /**
   * at          time of the events, epoch ms.
   * name        of plain text.
   * featureIds  linked by the name (EV-70).
   * present     when they count, epoch ms: later than their time where a message of a later time came before (decision 22).
   */
  constructor(
    private readonly env: string,
    apiKeyId: string,
    private at: number,
    name: string,
    featureIds: readonly string[],
    private present = at,
  ) {
    const features = featureIds.length > 0 ? `,"feature_ids":["${featureIds.join('","')}"]` : ''
    const start = rowStart(env, 'track', at, at, 'enriched', apiKeyId)
    const untilPresent = `${start},"processed_at":`
    this.row = new TimedTemplate(`${untilPresent}${present},"subtype":"${name}"${features},"id":"evt_`, false)
    this.rowAts = instantsOfStart(start)
    this.rowPresentAt = untilPresent.length
    const factEnv = packedText(env, present)
    const effects = String.fromCharCode(packed.list + effectsMin)
    this.factPresentAt = packedText(env).length
    this.effectsAt = factEnv.length
    this.factEnv = new TimedTemplate(factEnv + effects + effectHead(shapeOf.used, 'used', name), true)
    this.time = new TimedTemplate(packedText(at), true)
    this.seen = new TimedTemplate(seenHead + packedText(at), true)
  }

  /**
   * Make them those of events of other times, epoch ms: of an event, and when it counts.
   *
   * returns  false when the bytes of these times have no room here: then nothing is done.
   */
  setTimes(at: number, present: number): boolean {
    if (at === this.at && present === this.present) return true
    const fits =
      isUsualInstant(at) && isUsualInstant(present) && isUsualInstant(this.at) && isUsualInstant(this.present)
    if (!fits) return false
    this.at = at
    this.present = present
    for (let i = 0; i < this.rowAts.length; i++) this.row.setInstant(this.rowAts[i]!, at)
    this.row.setInstant(this.rowPresentAt, present)
    this.factEnv.setInstant(this.factPresentAt, present)
    this.time.setInstant(0, at)
    this.seen.setInstant(seenHead.length, at)
    return true
  }

  /** Whether the events count at a later instant than their own. The time of a record is the later instant then. */
  get isLate(): boolean {
    return this.present !== this.at
  }

  /** Common bytes of draws like this one. */
  draw({ c, f }: Draw): DrawKind {
    const last = this.lastDraw
    if (last !== null && last.creditId === c && last.featureId === f && last.setTime(this.at)) return last
    const made = new DrawKind(this.env, this.at, c, f)
    this.lastDraw = made
    return made
  }
}

/** The text of an idempotency key. Returns where it ends. */
function putKey(
  bytes: Buffer,
  view: DataView,
  at: number,
  uses: UsageBatch,
  from: number,
  to: number,
): number {
  if (uses.bytes[from] !== backslash)
    return putBytes(view, putTextLength(view, at, to - from), uses.view, from, to)
  // one with a mark is escaped as in JSON
  const key = JSON.parse(`"${uses.bytes.toString('latin1', from, to)}"`) as string
  const start = putTextLength(view, at, Buffer.byteLength(key))
  return start + bytes.write(key, start)
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

    const envAt = putId(
      view,
      putTemplate(view, at, keyLength > 0 ? claimingFactStart : factStart),
      rows,
      company,
    )
    at = putPackedNumber(view, putTemplate(view, envAt, kind.factEnv), quantity)
    at = putTemplate(view, at, kind.time)
    if (!told) {
      let effects = effectsMin
      for (let d = 0; d < draws.length; d++)
        if (!isInRows(draws[d]!)) {
          at = putDrawEffect(view, at, kind.draw(draws[d]!), draws[d]!, drawn)
          effects++
        }
      view.setUint8(envAt + kind.effectsAt, packed.list + effects)
    }
    at = putTemplate(view, at, kind.seen)
    if (keyLength > 0) {
      view.setUint8(at++, packed.list + claimLength)
      at = putKey(bytes, view, at, uses, keyAt, keyAt + keyLength)
      at = putTextLength(view, at, idPrefixLength + idLength)
      at = putId(view, at, view, idAt - idPrefixLength, idPrefixLength + idLength)
      at = putTemplate(view, at, kind.time)
    }
    const flags = draws.length === 0 ? used : moves ? drawnInRows : drawnNothing
    writeRecordHeader(view, start, at, rowLength, kind.isLate ? flags & ~RecordFlag.use : flags, month)
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
