// The README's first steps, run as they stand there: they answer what it says they answer.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { embedded, Process } from '../harness.js'
import { read } from '../house/source.js'
import { temporaryDirectory } from '../stores.js'

const missing = ['bash', 'curl', 'sed'].filter(name => spawnSync(name, ['--version']).error !== undefined)
const skip = missing.length > 0 && `not installed: ${missing.join(', ')}`

/** A line that says what comes back, `…` standing for what differs. */
const asPattern = (line: string): RegExp =>
  new RegExp(
    `^${line
      .slice(2)
      .split('…')
      .map(part => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
      .join('.*')}$`,
  )

t.test('first company, first event, first check', { skip }, async t => {
  const [, block] = /\n## First company[^\n]*\n\n```sh\n(.*?)```/s.exec(read('README.md'))!
  const directory = await temporaryDirectory(t)
  const server = await Process.start(join(directory, 'data'), { ...embedded, TOLLGATE_BOOTSTRAP_KEY: '' })
  t.teardown(() => server.child.kill('SIGKILL'))
  const here = block!.replaceAll('localhost:8080', new URL(server.client.url).host)
  const ran = spawnSync('bash', ['-euo', 'pipefail', '-c', here], { cwd: directory, encoding: 'utf8' })
  t.equal(ran.status, 0, ran.stderr)
  const answers = ran.stdout.split('\n').filter(line => line !== '')
  const promised = block!.split('\n').filter(line => line.startsWith('# {'))
  t.ok(promised.length >= 4)
  let at = 0
  for (const line of promised) {
    const found = answers.findIndex((answer, index) => index >= at && asPattern(line).test(answer))
    t.ok(found >= at, line)
    at = found + 1
  }
  t.match(answers.at(-1), /"slug".*"acme"/)
  t.equal(await server.end('SIGTERM'), 0)
})
