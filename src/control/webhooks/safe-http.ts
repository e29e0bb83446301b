// Calls out to addresses that callers gave: never into a private network, never where a redirect leads.
import { lookup, Resolver } from 'node:dns/promises'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { networkInterfaces } from 'node:os'
import { limitConcurrency } from '../../host/concurrency.js'
import { type Delivery, type Endpoint, signed } from './signature.js'

/** Default of `timeoutMs`. */
const timeoutMs = 10_000
/** Bytes of a response that are read and discarded, so that an endpoint can finish it. */
const answerBytesMax = 65_536

const privateV4 = new BlockList()
for (const [net, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // a cloud's own services for the machines in it
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const)
  privateV4.addSubnet(net, prefix, 'ipv4')

const publicV6 = new BlockList()
publicV6.addSubnet('2000::', 3, 'ipv6')
// Special addresses within the global range: protocol assignments and tunnels, documentation, addresses that carry an
// IPv4 address.
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

/** The addresses of this machine, even public ones: their services may be meant for it alone. */
export function ownAddresses(interfaces: ReturnType<typeof networkInterfaces>): ReadonlySet<string> {
  return new Set(Object.values(interfaces).flatMap(of => (of ?? []).map(one => one.address)))
}

let own: { readonly addresses: ReadonlySet<string>; readonly readAtMs: number } | null = null
/** How long the list of own addresses is believed. */
const ownMs = 60_000

function isClosed(address: string): boolean {
  const nowMs = performance.now()
  if (own === null || nowMs - own.readAtMs > ownMs)
    own = { addresses: ownAddresses(networkInterfaces()), readAtMs: nowMs }
  if (isPrivateAddress(address)) return true
  const embedded = isIP(address) === 6 ? mappedV4(address) : null
  return own.addresses.has(embedded ?? address)
}

/** Ports at which no web server listens but mail, shells, names and files: those to which browsers send nothing (Fetch). */
const otherPorts: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
])

/**
 * Why a URL cannot be called at all, or null. A name may still turn out to be a private address when it is called.
 *
 * plain  whether http is allowed beside https.
 */
export function urlProblem(text: string, privateAddresses: boolean, plain = true): string | null {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return 'expected an http or https URL'
  if (url.protocol === 'http:' && !plain) return 'a production environment is told by https alone'
  if (url.username !== '' || url.password !== '') return 'must not carry a user name or password'
  if (!privateAddresses && url.port !== '' && otherPorts.has(Number(url.port)))
    return 'names a port of another protocol'
  const host = bare(url.hostname)
  const closed = host === 'localhost' || host.endsWith('.localhost') || (isIP(host) !== 0 && isClosed(host))
  return closed && !privateAddresses ? 'names a private address' : null
}

const bare = (hostname: string): string => hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')

/** How a call ended: with an answer's status, or without one and why. */
export interface Outcome {
  readonly status: number | null
  /** Reason for callers: nothing about names, addresses or ports that they could not know. */
  readonly reason: string | null
  /** As the log of the operator may have it. */
  readonly detail?: string
}

/** Whether the endpoint took it, as the interface document says. */
export function isSuccess({ status }: Outcome): boolean {
  return status !== null && status >= 200 && status < 300
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
  delivery: Delivery,
  options: {
    readonly privateAddresses: boolean
    readonly nowMs: number
    readonly signal: AbortSignal
    /** Longest time from the first packet to the end of the answer. */
    readonly timeoutMs?: number
  },
): Promise<Outcome> {
  // Node may collect a combined signal of a timeout before it fires; the timer here keeps the controller
  const controller = new AbortController()
  const { signal } = controller
  const abort = () => controller.abort()
  const timer = setTimeout(abort, options.timeoutMs ?? timeoutMs)
  options.signal.addEventListener('abort', abort)
  if (options.signal.aborted) abort()
  try {
    const url = new URL(endpoint.url)
    const address = await openAddress(bare(url.hostname), options.privateAddresses, signal)
    const body = Buffer.from(delivery.payload)
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': String(body.length),
      'User-Agent': 'Tollgate-Webhooks/1',
      ...signed(endpoint, delivery, options.nowMs),
    }
    return { status: await within(signal, post(url, address, headers, body, signal)), reason: null }
  } catch (error) {
    const detail = error instanceof Error ? error.message : 'failed'
    if (!signal.aborted) return { status: null, reason: unreached, detail }
    const reason = options.signal.aborted ? 'stopped' : 'no answer in 10 seconds'
    return { status: null, reason, detail }
  } finally {
    clearTimeout(timer)
    options.signal.removeEventListener('abort', abort)
  }
}

/** The one reason given for an unknown name, a closed address or a closed port. */
const unreached = 'The endpoint could not be reached'

interface Address {
  readonly address: string
  readonly family: number
}

async function openAddress(host: string, privateAddresses: boolean, signal: AbortSignal): Promise<Address> {
  const found = await addressesOf(host, signal)
  const open = privateAddresses ? found : found.filter(({ address }) => !isClosed(address))
  // One private address among public ones is somebody's trick rather than somebody's server.
  if (open.length === 0 || open.length < found.length) throw new Error('The address is in a private network')
  return open.find(({ family }) => family === 4) ?? open[0]!
}

/** Timeout of one DNS query in ms, and its tries. */
const resolveMs = 2_000
const resolveTries = 2
/** Look-ups through the system at once: each holds a thread that files and other look-ups need too, of four. */
const systemLookupsMax = 1
const systemLookup = limitConcurrency(systemLookupsMax)

/**
 * The addresses of a name. DNS queries need no thread, so that a slow name server delays no other; names that only
 * the system knows (a hosts file, a search list) are resolved by it, one at a time.
 */
async function addressesOf(host: string, signal: AbortSignal): Promise<readonly Address[]> {
  const family = isIP(host)
  if (family !== 0) return [{ address: host, family }]
  const resolver = new Resolver({ timeout: resolveMs, tries: resolveTries })
  const [v4, v6] = await within(
    signal,
    Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]),
  )
  resolver.cancel()
  const found = [
    ...(v4.status === 'fulfilled' ? v4.value.map(address => ({ address, family: 4 })) : []),
    ...(v6.status === 'fulfilled' ? v6.value.map(address => ({ address, family: 6 })) : []),
  ]
  if (found.length > 0) return found
  const isSlow = [v4, v6].some(one => one.status === 'rejected' && one.reason?.code === 'ETIMEOUT')
  if (isSlow) throw new Error('its name server does not answer')
  return within(
    signal,
    systemLookup(() => lookup(host, { all: true, verbatim: true }), signal),
  )
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
      // The status counts, however the body ends.
      answer.on('error', () => {})
      answer.on('close', () => resolve(answer.statusCode ?? 0))
    })
    // Without a listener, Node closes a connection that changes its protocol, and tells nothing.
    sent.on('upgrade', (answer, socket) => {
      socket.destroy()
      resolve(answer.statusCode ?? 0)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
