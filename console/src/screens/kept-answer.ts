// Answers as the audit log keeps them: without secrets, long texts in part, and after 16 KiB nothing.
import { parseExact } from '../../../clients/typescript/src/exact.js'

export type Members = Readonly<Record<string, unknown>>

export interface KeptAnswer {
  readonly data: Members
  /** Members at the end, and list elements, may be missing. */
  readonly isCut: boolean
}

/** The data of a kept answer; null: none are kept. */
export function keptAnswer(text: string | null): KeptAnswer | null {
  const whole = parsed(text)
  const cut = whole === null && text !== null ? parsed(closed(text)) : null
  const data = (whole ?? cut)?.data
  return typeof data === 'object' && data !== null ? { data: data as Members, isCut: whole === null } : null
}

/** The members of a kept request; null: it is cut, or has none. */
export const keptRequest = (text: string | null): Members | null => parsed(text)

function parsed(text: string | null): Members | null {
  try {
    return parseExact(text ?? 'null') as Members | null
  } catch {
    return null
  }
}

const ends: Readonly<Record<string, string>> = { '{': '}', '[': ']' }

/** The beginning of a JSON text up to the last comma outside of texts, with what is open there closed. */
function closed(text: string): string {
  let open = ''
  let [end, openAtEnd] = [0, '']
  let isText = false
  for (let i = 0; i < text.length; i++) {
    const at = text[i]!
    if (isText) {
      if (at === '\\') i++
      else if (at === '"') isText = false
    } else if (at === '"') isText = true
    else if (at in ends) open = ends[at] + open
    else if (at === '}' || at === ']') open = open.slice(1)
    else if (at === ',') [end, openAtEnd] = [i, open]
  }
  return text.slice(0, end) + openAtEnd
}

/** Whether a value is known in whole: the log keeps no secrets, and long texts in part. */
export const isWhole = (value: unknown): boolean =>
  !/\*\*\*|… \(\d+ characters\)|"…"/.test(
    JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? String(one) : one)),
  )
