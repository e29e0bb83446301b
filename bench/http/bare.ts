// Upper bound of the machine: a bare route that reads the same body and writes a reply of the same size. Arguments:
// port, bytes of the reply.
import uWS from 'uWebSockets.js'

const [port = '0', replyBytes = '200'] = process.argv.slice(2)
const reply = `{"data":"${'x'.repeat(Math.max(0, Number(replyBytes) - 23))}","params":{}}`

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
