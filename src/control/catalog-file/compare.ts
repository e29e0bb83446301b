// Compares a document with the environment: what applying it would change, object by object (CA-4, CA-5).
import { isDeepStrictEqual } from 'node:util'
import type * as file from '../../../schemas/catalog.js'
import { modelPriceName } from './canonical.js'
import { labelled } from './members.js'

export interface CompareOptions {
  readonly prune: boolean
  readonly publish: file.CatalogPublish | null
}

/** The sections that are lists of objects. */
export type ListSection = 'bundles' | 'credits' | 'features' | 'flags' | 'model_prices' | 'plans' | 'traits'
export type Section = ListSection | 'plan_group' | 'publishable_limits'

/** One object before and after, in canonical form. */
export interface ObjectChange<T = unknown> {
  readonly section: Section
  readonly ref: string
  readonly action: file.CatalogChange['action']
  readonly from: T | null
  readonly to: T | null
  readonly changes: readonly file.CatalogMemberChange[]
  /** A plan's: whether the version comes into force. */
  readonly publishes?: boolean
}

/** The objects of a section by their reference. */
export function objectsOf(catalog: file.Catalog, section: ListSection): ReadonlyMap<string, object> {
  switch (section) {
    case 'traits':
      return new Map((catalog.traits ?? []).map(one => [`${one.entity_type}:${one.name}`, one]))
    case 'flags':
      return new Map((catalog.flags ?? []).map(one => [one.key, one]))
    case 'model_prices':
      return new Map((catalog.model_prices ?? []).map(one => [modelPriceName(one), one]))
    case 'bundles':
    case 'credits':
    case 'features':
    case 'plans':
      return new Map<string, object>(labelled<{ readonly name: string }>(catalog[section] ?? []))
  }
}

const lists: readonly ListSection[] = [
  'traits',
  'features',
  'flags',
  'credits',
  'plans',
  'bundles',
  'model_prices',
]

/** Compare two canonical documents. `current`: the environment's own. */
export function compare(
  current: file.Catalog,
  wanted: file.Catalog,
  options: CompareOptions,
): readonly ObjectChange[] {
  const changes: ObjectChange[] = []
  for (const section of lists) {
    if (wanted[section] == null) continue
    const had = objectsOf(current, section)
    const asked = objectsOf(wanted, section)
    for (const [ref, object] of asked) {
      const change = changeOf(section, ref, had.get(ref) ?? null, object, options)
      if (change) changes.push(change)
    }
    for (const [ref, object] of had)
      if (!asked.has(ref) && !isNeeded(section, ref, wanted))
        changes.push({
          section,
          ref,
          action: options.prune ? 'archive' : 'keep',
          from: object,
          to: null,
          changes: [],
        })
  }
  for (const section of ['plan_group', 'publishable_limits'] as const) {
    const to = wanted[section] ?? null
    const from = current[section] ?? null
    if (to === null || isDeepStrictEqual(from, to)) continue
    changes.push({
      section,
      ref: section,
      action: from === null ? 'make' : 'change',
      from,
      to,
      changes: from === null ? [] : differences('', from, to),
    })
  }
  return changes
}

/** Traits that features of the document name are there without being listed. */
function isNeeded(section: ListSection, ref: string, wanted: file.Catalog): boolean {
  return (
    section === 'traits' &&
    (wanted.features ?? []).some(one => one.trait === ref || one.usage_limit_trait === ref)
  )
}

function changeOf(
  section: ListSection,
  ref: string,
  from: object | null,
  asked: object,
  options: CompareOptions,
): ObjectChange | null {
  const to = from === null ? asked : completed(section, from, asked, options.prune)
  if (isDeepStrictEqual(from, to)) return null
  const base = { section, ref, from, to, changes: from === null ? [] : differences('', from, to) }
  const action = from === null ? 'make' : 'change'
  if (section !== 'plans') return { ...base, action }
  return {
    ...base,
    action,
    publishes: publishes(from as file.CatalogPlan | null, to as file.CatalogPlan, options.publish),
  }
}

/** Members that a document leaves out and nothing removes stay: traits of features, published versions, drafts (CA-5). */
function completed(section: ListSection, from: object, asked: object, prune: boolean): object {
  if (section === 'features') {
    const { trait, usage_limit_trait } = from as file.CatalogFeature
    return present({ trait, usage_limit_trait, ...asked })
  }
  if (section !== 'plans') return asked
  const { published, draft } = from as file.CatalogPlan
  const kept = { ...(published && { published }), ...(draft && !prune && { draft }) }
  return present({ ...kept, ...asked })
}

/** Members without value are left out, so that equal objects compare equal. */
function present(to: object): object {
  return Object.fromEntries(Object.entries(to).filter(([, value]) => value !== undefined))
}

/**
 * Whether a plan's published content comes into force: a plan that was never published does at once, because nobody can
 * be on it; any other only when the caller says how its companies move (CA-6).
 */
export function publishes(
  from: file.CatalogPlan | null,
  to: file.CatalogPlan,
  publish: file.CatalogPublish | null,
): boolean {
  if (to.published == null || isDeepStrictEqual(from?.published, to.published)) return false
  return from?.published == null || publish !== null
}

/** Members that name the items of a list, so that a change of one item is told as such. */
const labels: Readonly<Record<string, (item: Record<string, unknown>) => string>> = {
  entitlements: item => String(item.feature),
  credit_grants: item => String(item.credit),
  rules: item => String(item.name),
  prices: item => `${item.currency} ${item.cadence ?? 'one_time'}`,
  plans: item => String(item.plan),
  add_ons: item => String(item.plan),
  warning_tiers: item => String(item.key),
  custom_checkout_fields: item => String(item.name),
}

/** The members that differ, each with its path. */
export function differences(path: string, from: unknown, to: unknown): file.CatalogMemberChange[] {
  if (isDeepStrictEqual(from, to)) return []
  if (Array.isArray(from) || Array.isArray(to)) {
    const member = path.slice(path.lastIndexOf('.') + 1)
    const label = labels[member]
    const items = [from ?? [], to ?? []]
    if (label && items.every(all => Array.isArray(all) && all.every(isObject)))
      return itemDifferences(path, label, items[0] as Item[], items[1] as Item[])
    return [{ path, from: from ?? null, to: to ?? null }]
  }
  if (!isObject(from) || !isObject(to)) return [{ path, from: from ?? null, to: to ?? null }]
  const members = new Set([...Object.keys(from), ...Object.keys(to)])
  return [...members].flatMap(member =>
    differences(path === '' ? member : `${path}.${member}`, from[member], to[member]),
  )
}

type Item = Record<string, unknown>

function itemDifferences(
  path: string,
  label: (item: Item) => string,
  from: readonly Item[],
  to: readonly Item[],
): file.CatalogMemberChange[] {
  const named = (items: readonly Item[]) =>
    new Map(labelled(items.map(item => ({ name: label(item), item }))).map(([ref, { item }]) => [ref, item]))
  const had = named(from)
  const has = named(to)
  const found = [...new Set([...had.keys(), ...has.keys()])].flatMap(ref =>
    differences(`${path}[${ref}]`, had.get(ref) ?? null, has.get(ref) ?? null),
  )
  return found.length > 0 ? found : [{ path: `${path} (order)`, from: [...had.keys()], to: [...has.keys()] }]
}

function isObject(value: unknown): value is Item {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
