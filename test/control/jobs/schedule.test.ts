// Jobs on timers: no two runs of one job at a time, failures are logged, a stop waits for the last run.
import { pino } from 'pino'
import t from 'tap'
import { Schedule } from '../../../src/control/jobs/schedule.js'

/** Resolves after so many turns of a timer as short as the jobs'. */
const turns = (n: number): Promise<void> =>
  new Promise(resolve => {
    const timer = setInterval(() => {
      if (--n > 0) return
      clearInterval(timer)
      resolve()
    }, 1)
  })

t.test('a run is skipped while the last one lasts, and a stop waits for it', async t => {
  const schedule = new Schedule(pino({ enabled: false }))
  let begun = 0
  let ended = 0
  let end = () => {}
  await new Promise<void>(resolve =>
    schedule.every(1, 'failed', async () => {
      begun++
      resolve()
      await new Promise<void>(done => {
        end = done
      })
      ended++
    }),
  )
  await turns(20)
  t.equal(begun, 1)
  const stopped = schedule.stop().then(() => ended)
  end()
  t.equal(await stopped, 1)
  await turns(20)
  t.equal(begun, 1, 'none begins after a stop')
})

t.test('a failed run is logged, and the job runs again', async t => {
  const lines: string[] = []
  const schedule = new Schedule(pino({}, { write: (line: string) => lines.push(line) }))
  let runs = 0
  await new Promise<void>(resolve =>
    schedule.every(1, 'the job failed', () => {
      if (++runs === 2) return resolve()
      throw new Error('no')
    }),
  )
  await schedule.stop()
  t.equal(lines.length, 1)
  t.match(lines[0], /the job failed/)
})
