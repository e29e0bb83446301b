// Upper bound of the machine: a bare route that reads the same body and writes a reply of the same size. Arguments:
// port, bytes of the reply, HTTP library (`uws`, or `node` for Node's own).
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const [port = '0', replyBytes = '200', library = 'uws'] = process.argv.slice(2)
const reply = `{"data":"${'x'.repeat(Math.max(0, Number(replyBytes) - 23))}","params":{}}`

if (library === 'node') serveByNode()
else await serveByUws()

async function serveByUws(): Promise<void> {
  const { default: uWS } = await import('uWebSockets.js')
  const app = uWS.App()
  app.any('/*', res => {
    res.onAborted(() => {})
    res.onData((chunk, last) => {
      // Touched, so that the body has really been read.
      if (last && chunk.byteLength >= 0) res.writeHeader('Content-Type', 'application/json').end(reply)
    })
  })
  app.listen('127.0.0.1', Number(port), socket => {
    if (!socket) throw new Error(`Cannot listen on port ${port}`)
    process.stdout.write(`listening ${uWS.us_socket_local_port(socket)}\n`)
  })
  process.once('SIGTERM', () => app.close())
}

function serveByNode(): void {
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(reply) }
  const server = createServer((request, response) => {
    request.on('data', () => {})
    request.on('end', () => response.writeHead(200, headers).end(reply))
  })
  server.listen(Number(port), '127.0.0.1', () => {
    process.stdout.write(`listening ${(server.address() as AddressInfo).port}\n`)
  })
  process.once('SIGTERM', () => {
    server.close()
    server.closeAllConnections()
  })
}
