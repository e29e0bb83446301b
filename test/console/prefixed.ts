// A proxy as people put in front of the service: it serves it under a path of its own.
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

/** A proxy that serves `to` under /some/prefix alone. */
export async function prefixed(t: Test, to: string): Promise<string> {
  const { hostname, port } = new URL(to)
  const path = (url: string | undefined) => url!.replace(/^\/some\/prefix/, '')
  const proxy = createServer((req, res) => {
    if (!req.url!.startsWith('/some/prefix/')) return res.writeHead(404).end()
    const { method, headers } = req
    const passed = request({ hostname, port, path: path(req.url), method, headers }, answer => {
      res.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(res)
    })
    passed.on('error', () => res.destroy())
    return req.pipe(passed)
  })
  proxy.on('upgrade', (req, socket) => {
    const passed = request({ hostname, port, path: path(req.url), headers: req.headers })
    passed.on('upgrade', (answer, other) => {
      const lines = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}\r\n`)
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`)
      socket.pipe(other).pipe(socket)
      for (const one of [socket, other]) one.on('error', () => one.destroy())
    })
    passed.on('error', () => socket.destroy())
    passed.end()
  })
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/some/prefix`
}
