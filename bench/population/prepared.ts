// Requests that are ready before the clock starts, in a file that any load generator reads: a line each, `METHOD PATH`,
// a tab, and the body. A byte 1 in a body is where the tag of a pass goes, so that keys of events are new in each pass.
import { readFileSync, writeFileSync } from 'node:fs'
import { secret } from '../product.js'

export interface Prepared {
  readonly method: string
  readonly path: string
  /** '' where the method has none. */
  readonly body: string
}

const mark = '\u0001'
/** Bytes of a tag. */
export const tagBytes = 12

/** Placeholder of the tag. */
export const tag = mark

export function writePrepared(file: string, requests: readonly Prepared[]): void {
  writeFileSync(file, requests.map(({ method, path, body }) => `${method} ${path}\t${body}\n`).join(''))
}

/** Bodies with another tag than any before. */
export function tagged(body: string, pass: string): string {
  return body.replaceAll(mark, pass)
}

/** A tag of this process that no other process has at this time. */
export function tagOf(pass: number): string {
  const base = (Date.now() % 36 ** 6).toString(36).padStart(6, '0') + (process.pid % 36 ** 2).toString(36)
  return (base.padEnd(8, 'z') + pass.toString(36).padStart(4, '0')).slice(0, tagBytes)
}

/** Whole requests as bytes, in order and then from the start again, each pass with its own tag. */
export function requestsOf(file: string): () => Buffer {
  const requests = readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map(line => {
      const [asked, body] = line.split('\t') as [string, string]
      const bytes = Buffer.from(bytesOf(asked, tagged(body, '\u0001'.repeat(tagBytes))))
      const places: number[] = []
      const hole = Buffer.alloc(tagBytes, 1)
      for (let at = bytes.indexOf(hole); at >= 0; at = bytes.indexOf(hole, at + tagBytes)) places.push(at)
      return { bytes, places }
    })
  let at = -1
  let pass = tagOf(0)
  let passes = 0
  return () => {
    if (++at === requests.length) {
      at = 0
      pass = tagOf(++passes)
    }
    const { bytes, places } = requests[at]!
    for (const place of places) bytes.write(pass, place, 'latin1')
    return bytes
  }
}

/** One request as HTTP/1.1 says it. */
export function bytesOf(asked: string, body: string): string {
  const head = `${asked} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Service-Api-Key: ${secret}\r\n`
  const more =
    body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`
  return `${head}${more}\r\n${body}`
}
