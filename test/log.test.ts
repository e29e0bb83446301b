// Log lines: JSON with names for levels and times people read.
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as tick } from 'node:timers/promises'
import t from 'tap'
import { createLogger } from '../src/log.js'

t.test('a line has a level by name, a time, and what it was given', async t => {
  const file = join(mkdtempSync(join(tmpdir(), 'tollgate-log-')), 'log')
  const log = createLogger({ logLevel: 'info' }, file)
  while (!existsSync(file)) await tick()
  log.debug('not this')
  log.error({ request_id: 'req_1', err: new Error('boom') }, 'failed')
  await new Promise(resolve => log.flush(resolve))
  const [line, ...rest] = readFileSync(file, 'utf8').trim().split('\n')
  t.same(rest, [])
  const parsed = JSON.parse(line!)
  t.match(parsed, {
    level: 'error',
    time: /Z$/,
    request_id: 'req_1',
    msg: 'failed',
    err: { message: 'boom' },
  })
  t.notOk('pid' in parsed)
})
