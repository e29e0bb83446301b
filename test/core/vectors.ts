// The conformance cases (test/fixtures/conformance-vectors.json), for the tests that answer them.
import { readFileSync } from 'node:fs'

const all = JSON.parse(
  readFileSync(new URL('../../../test/fixtures/conformance-vectors.json', import.meta.url), 'utf8'),
) as Record<string, unknown>

/** The cases of one kind; `Case` is the shape the caller knows them to have. */
export function vectors<Case>(kind: string): readonly (Case & { readonly id: string })[] {
  const cases = all[kind]
  if (!Array.isArray(cases)) throw new Error(`no conformance cases of kind ${kind}`)
  return cases
}

/** Epoch ms of an instant as text. */
export const at = (text: string): number => {
  const ms = Date.parse(text)
  if (Number.isNaN(ms)) throw new Error(`not an instant: ${text}`)
  return ms
}
