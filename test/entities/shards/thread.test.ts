// security H7: a thread cannot start when no file handle is left. Its starter receives the error, and the process goes on.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'

const starved = fileURLToPath(new URL('./starved.js', import.meta.url))

t.test('security: a thread that cannot start does not end the process', async t => {
  const { stdout } = await promisify(execFile)('/bin/sh', [
    '-c',
    'ulimit -n 128 && exec "$0" "$1"',
    process.execPath,
    starved,
  ])
  const [first, second, third, last] = stdout.trim().split('\n')
  t.equal(first, 'ended')
  t.equal(second, 'ERR_WORKER_INIT_FAILED', 'without handles')
  t.not(third, 'ended', `a prepared one: ${third}`)
  t.equal(last, 'ended', 'with handles again')
})
