// Calls out to addresses that callers gave: never into a private network, never where a redirect leads.
import { createHmac } from 'node:crypto'
import { lookup } from 'node:dns/promises'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** Longest time from the first packet to the end of the answer. */
const timeoutMs = 10_000
/** Of an answer this much is read and thrown away, so that a polite endpoint can end its sentence. */
const answerBytesMax = 65_536

const privateV4 = new BlockList()
for (const [net, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const)
  privateV4.addSubnet(net, prefix, 'ipv4')

const publicV6 = new BlockList()
publicV6.addSubnet('2000::', 3, 'ipv6')
// Of the global range: protocol assignments and tunnels, documentation, addresses that carry an IPv4 address.
const specialV6 = new BlockList()
for (const [net, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  specialV6.addSubnet(net, prefix, 'ipv6')
const mappedV6 = new BlockList()
mappedV6.addSubnet('::ffff:0:0', 96, 'ipv6')

/**
 * Whether an address is not one of the open internet: private, loopback, link-local, multicast, reserved; an IPv4
 * address written as IPv6 is judged as IPv4.
 */
export function isPrivateAddress(text: string): boolean {
  const address = text.split('%', 1)[0]!
  if (isIP(address) === 4) return privateV4.check(address, 'ipv4')
  if (isIP(address) !== 6) return true
  const embedded = mappedV4(address)
  if (embedded !== null) return privateV4.check(embedded, 'ipv4')
  return !publicV6.check(address, 'ipv6') || specialV6.check(address, 'ipv6')
}

/** The IPv4 address of `::ffff:a.b.c.d`, however it is spelled. */
function mappedV4(address: string): string | null {
  // The URL parser spells every IPv6 address one way: its last two groups in hexadecimal.
  const spelled = new URL(`http://[${address}]/`).hostname.slice(1, -1)
  const groups = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(spelled)
  if (groups === null) return null
  const [high, low] = [Number.parseInt(groups[1]!, 16), Number.parseInt(groups[2]!, 16)]
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/** Why a URL cannot be called at all, or null. A name may still turn out to be a private address when it is called. */
export function urlProblem(text: string, privateAddresses: boolean): string | null {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return 'expected an http or https URL'
  if (url.username !== '' || url.password !== '') return 'must not carry a user name or password'
  const host = bare(url.hostname)
  const closed =
    host === 'localhost' || host.endsWith('.localhost') || (isIP(host) !== 0 && isPrivateAddress(host))
  return closed && !privateAddresses ? 'names a private address' : null
}

const bare = (hostname: string): string => hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')

/** How a call ended: with an answer's status, or without one and why. */
export interface Outcome {
  readonly status: number | null
  readonly reason: string | null
}

/** Whether the endpoint took it. source: api/webhooks.md */
export function isSuccess({ status }: Outcome): boolean {
  return status !== null && status >= 200 && status < 300
}

/**
 * The headers that let the receiver tell who sent a body: hex HMAC-SHA256 of body, "+" and timestamp.
 *
 * source  api/webhooks.md.
 */
function signed(secret: string, body: Buffer, nowMs: number): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1_000))
  const signature = createHmac('sha256', secret).update(body).update(`+${timestamp}`).digest('hex')
  return {
    'X-Service-Webhook-Signature': signature,
    'X-Service-Webhook-Signature-Version': 'v1',
    'X-Service-Webhook-Timestamp': timestamp,
  }
}

/** What a delivery goes to. */
export interface Endpoint {
  readonly url: string
  readonly secret: string
}

/**
 * Post a JSON body, signed. The name is resolved first, its addresses are judged, and the connection goes to the one
 * that was judged.
 *
 * privateAddresses  whether private networks may be reached.
 * signal            ends the call early.
 * returns           how it ended; never rejects.
 */
export async function deliver(
  endpoint: Endpoint,
  payload: string,
  options: { readonly privateAddresses: boolean; readonly nowMs: number; readonly signal: AbortSignal },
): Promise<Outcome> {
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(timeoutMs)])
  try {
    const url = new URL(endpoint.url)
    const address = await within(signal, openAddress(bare(url.hostname), options.privateAddresses))
    const body = Buffer.from(payload)
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': String(body.length),
      'User-Agent': 'Tollgate-Webhooks/1',
      ...signed(endpoint.secret, body, options.nowMs),
    }
    return { status: await post(url, address, headers, body, signal), reason: null }
  } catch (error) {
    if (signal.aborted)
      return { status: null, reason: options.signal.aborted ? 'stopped' : 'no answer in 10 seconds' }
    return { status: null, reason: error instanceof Error ? error.message : 'failed' }
  }
}

interface Address {
  readonly address: string
  readonly family: number
}

async function openAddress(host: string, privateAddresses: boolean): Promise<Address> {
  const found = await lookup(host, { all: true, verbatim: true })
  const open = privateAddresses ? found : found.filter(({ address }) => !isPrivateAddress(address))
  // One private address among public ones is somebody's trick rather than somebody's server.
  if (open.length === 0 || open.length < found.length) throw new Error('The address is in a private network')
  return open.find(({ family }) => family === 4) ?? open[0]!
}

function within<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** The status of the answer, once its end, or as much of it as is read, has come. */
function post(
  url: URL,
  { address, family }: Address,
  headers: Record<string, string>,
  body: Buffer,
  signal: AbortSignal,
): Promise<number> {
  const pinned: LookupFunction = (_, { all }, done) =>
    all ? done(null, [{ address, family }]) : done(null, address, family)
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers, agent: false, lookup: pinned, signal }, answer => {
      let bytes = 0
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > answerBytesMax) answer.destroy()
      })
      // What was answered counts, however its body ends.
      answer.on('error', () => {})
      answer.on('close', () => resolve(answer.statusCode ?? 0))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
