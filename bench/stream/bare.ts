// A bare server of WebSockets: what reconnecting clients cost whom they do not speak to. It answers each message with as
// many bytes as the service does. Arguments: bytes of its answer to a connection's first message, and to its second.
import uWS from 'uWebSockets.js'

const replies = process.argv.slice(2).map(bytes => 'x'.repeat(Number(bytes)))

const app = uWS.App()
app.ws<{ heard: number }>('/*', {
  upgrade: (res, req, context) =>
    res.upgrade(
      { heard: 0 },
      req.getHeader('sec-websocket-key'),
      req.getHeader('sec-websocket-protocol'),
      req.getHeader('sec-websocket-extensions'),
      context,
    ),
  message: socket => {
    socket.send(replies[socket.getUserData().heard++] ?? '')
  },
})
app.listen('127.0.0.1', 0, socket => {
  if (!socket) throw new Error('Cannot listen')
  process.stdout.write(`listening ${uWS.us_socket_local_port(socket)}\n`)
})
process.once('SIGTERM', () => app.close())
