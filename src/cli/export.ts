// `tollgate export` and `tollgate reconcile`: stream to a file or to the terminal.
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import type { Client } from './client.js'
import { type Exit, exit, Failure, type Io } from './io.js'

interface ExportOptions {
  readonly what: string
  readonly format: string
  readonly out: string
  readonly from?: string
  readonly to?: string
  readonly company?: string
  /** Do not escape cells that a spreadsheet would execute. */
  readonly raw?: boolean
}

/** Write an export to a file. The file gets its final name only when it is complete. */
export async function exportFile(client: Client, options: ExportOptions, io: Io): Promise<Exit> {
  const { what, format, out, from, to, company, raw } = options
  const query = new URLSearchParams({
    format,
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(company === undefined ? {} : { company_id: company }),
    ...(raw === true ? { raw: 'true' } : {}),
  })
  const { body } = await client.send('GET', `/export/${what}?${query}`, null)
  const part = `${out}.part`
  const file = createWriteStream(part, { mode: 0o600 })
  try {
    if (body !== null) await pipeline(Readable.fromWeb(body as ReadableStream), file)
  } catch (cause) {
    await rm(part, { force: true })
    throw new Failure(`the export broke off: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
  await rename(part, out)
  io.print(`${out}: ${file.bytesWritten} bytes`)
  return exit.done
}

interface Summary {
  readonly companies: number
  readonly pairs: number
  readonly differences: number
}

/** Print every difference and the totals. Returns `findings` when there is one. */
export async function reconcile(client: Client, company: string | undefined, io: Io): Promise<Exit> {
  const query = company === undefined ? '' : `?company_id=${encodeURIComponent(company)}`
  const { body } = await client.send('GET', `/reconcile${query}`, null)
  let summary: Summary | null = null
  let rest = ''
  try {
    for await (const piece of Readable.fromWeb(body as ReadableStream).setEncoding('utf8')) {
      const lines = (rest + piece).split('\n')
      rest = lines.pop()!
      for (const line of lines) {
        const found = JSON.parse(line) as Summary | { readonly company_id: string }
        if ('company_id' in found) io.print(line)
        else summary = found
      }
    }
  } catch (cause) {
    throw new Failure('the comparison broke off', { cause })
  }
  if (summary === null) throw new Failure('the comparison broke off')
  const { companies, pairs, differences } = summary
  io.print(`${companies} companies, ${pairs} counters compared: ${differences} differ`)
  return differences === 0 ? exit.done : exit.findings
}
