// Views of a company that are given again while they would be the same: nothing else in the control knows that they are kept.
import type { CompanyDetail } from '../../../schemas/companies.js'
import type { WriteReply } from '../../core/model/entity-state.js'
import type { OutlineQuestion } from '../../core/model/message.js'
import { jsonPieces, type Pieces } from '../../json.js'
import type { Beside } from '../../kept/company-views.js'
import { type EntityPlace, entityUnknown } from '../../kit/entities.js'
import { type CompanyOutline, type MarkedFigures, unpackOutline } from '../../wire/company-outline.js'
import { billedCompanies } from '../billing/view.js'
import { areKnown } from '../entities/view.js'
import { surroundingsOf } from './read.js'
import { companyDetail, type Surroundings } from './view.js'

/**
 * One company in full, as its JSON; null if it is deleted. The same bytes are given again while the same view would be made.
 * A view rests on the company's version numbers, the catalog, the trait definitions and its number of users; one that shows
 * anything else of Postgres is not kept. Whether billing is stored of the company is asked each time.
 */
export async function companyPieces(call: EntityPlace, id: string): Promise<Pieces | null> {
  const { services, environment, nowMs } = call
  const { companyViews: views, shards } = services
  const billed = billedCompanies(services, environment.id, [id])
  const beside = besideOf(call, id)
  views.ask(id)
  const request = { name: id, nowMs, beside }
  const kept = views.find(request)
  if (kept !== null && !(await billed).has(id)) return kept
  const stamp = views.stamp(environment.id, id, nowMs)
  const known = views.figures(id)
  const isWanted = views.isWanted(id)
  const question = outlineBeside(known, isWanted)
  const { reply, untilMs = 0 } = await shards.ask<string | null>('c', environment.id, id, question, nowMs)
  if (reply === null) return null
  const { outline, figures } = unpackOutline(reply, known)
  const surroundings = await surroundingsOf(call, [outline], billed)
  const pieces = jsonPieces(companyDetail(outline, services.directory.membersOf(id), surroundings))
  if (!isWanted) return pieces
  const isLasting = isOfDefinitions(outline, surroundings) && !(await billed).has(id)
  const { catalog, traits, members } = besideOf(call, id)
  const isSame = catalog === beside.catalog && traits === beside.traits && members === beside.members
  if (stamp !== null && isLasting && isSame && catalog === surroundings.catalog) {
    const until = Math.min(untilMs, changesAt(outline, nowMs))
    views.keep(request, { pieces: joined(pieces, figures), figures }, { stamp, untilMs: until })
  } else views.keepFigures(id, figures)
  return pieces
}

/** Asks for an outline without the figures that are kept; with a mark of its figures where they are to be kept. */
function outlineBeside(known: MarkedFigures | null, isWanted: boolean): OutlineQuestion {
  return isWanted ? { type: 'outline', known: known?.mark ?? '' } : { type: 'outline' }
}

/** The pieces as bytes of their own but for the figures, which are kept once. */
function joined(pieces: Pieces, figures: MarkedFigures | null): Uint8Array[] {
  const all: Uint8Array[] = []
  let gathered: Uint8Array[] = []
  const gather = () => {
    if (gathered.length > 0) all.push(Buffer.concat(gathered))
    gathered = []
  }
  for (const piece of pieces)
    if (piece === figures?.entitlements || piece === figures?.metrics) {
      gather()
      all.push(piece)
    } else gathered.push(typeof piece === 'string' ? Buffer.from(piece) : piece)
  gather()
  return all
}

/** A write of a company whose reply has the company's outline, to be shown when the write is. */
interface ShownWrite {
  /** Part of the write's message. */
  readonly shows: OutlineQuestion
  /**
   * The company as the write left it, with what is stored beside it now.
   *
   * reply   of the write, when Postgres shows it.
   * errors  not_found (404) when there is no company.
   */
  view(reply: WriteReply): Promise<{ readonly pieces: Pieces; readonly detail: CompanyDetail }>
}

/** Write a company and show it. `id`: of the company, known or to be made. */
export function shownWrite(call: EntityPlace, id: string): ShownWrite {
  const { services, environment } = call
  const { companyViews: views } = services
  views.ask(id)
  const known = views.figures(id)
  const isWanted = views.isWanted(id)
  return {
    shows: outlineBeside(known, isWanted),
    view: async ({ outline: text }) => {
      if (text == null) throw entityUnknown('company')
      const billed = billedCompanies(services, environment.id, [id])
      const { outline, figures } = unpackOutline(text, known)
      if (isWanted) views.keepFigures(id, figures)
      const surroundings = await surroundingsOf(call, [outline], billed)
      const detail = companyDetail(outline, services.directory.membersOf(id), surroundings)
      return { pieces: jsonPieces(detail), detail }
    },
  }
}

/**
 * The usage of all features of a company, as its shard tells it; null: the company is deleted. The same text is given again
 * while it would be the same.
 */
export async function usageText(call: EntityPlace, companyId: string): Promise<string | null> {
  const { services, environment, nowMs } = call
  const { companyViews: views, shards } = services
  const name = `${companyId} usage`
  const beside = besideOf(call, companyId)
  const request = { name, nowMs, beside }
  views.ask(name)
  const kept = views.find(request)
  if (kept !== null) return Buffer.from(kept[0]!).toString()
  const stamp = views.stamp(environment.id, companyId, nowMs)
  const question = { type: 'feature_usage', withoutNegative: false } as const
  const answer = await shards.ask<string | null>('c', environment.id, companyId, question, nowMs)
  const { reply, untilMs = 0 } = answer
  if (reply === null) return null
  if (stamp !== null && beside.catalog === services.catalogs.get(environment.id) && views.isWanted(name))
    views.keep(request, { pieces: [Buffer.from(reply)], figures: null }, { stamp, untilMs })
  return reply
}

/** Things that kept answers about a company rest on beside its version numbers. */
function besideOf({ services, environment }: EntityPlace, id: string): Beside {
  return {
    catalog: services.catalogs.get(environment.id),
    traits: services.traits.list(environment.id),
    members: services.directory.membersOf(id),
  }
}

/**
 * The first instant after now at which this thread writes a view otherwise, epoch ms. The time of a company may be ahead
 * of its environment's (decision 22); the shard tells only what comes after the former.
 */
function changesAt({ state, plan }: CompanyOutline, nowMs: number): number {
  const instants = [plan?.trial?.endMs, ...state.overrides.map(({ expiresAtMs }) => expiresAtMs)]
  return instants.reduce<number>(
    (first, atMs) => (atMs != null && atMs > nowMs && atMs < first ? atMs : first),
    Number.POSITIVE_INFINITY,
  )
}

/** Whether a view shows nothing but its company and definitions that are stored. */
function isOfDefinitions({ state }: CompanyOutline, { definitions, billing }: Surroundings): boolean {
  return billing.ofCatalog && billing.held.ofCatalog && areKnown('company', state, definitions)
}
