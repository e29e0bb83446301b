// Decision 38: who follows a list by its cursors sees every row that was there all the time, once, and no row twice,
// though rows come and go between any two reads.
import t from 'tap'
import { pagedAnswer, pageOf, type Rows } from '../../src/kit/cursor.js'
import { Random, times } from '../random.js'

t.test('decision 38 no row is repeated or skipped while others write', async t => {
  const random = new Random()
  t.comment(`TOLLGATE_SEED=${random.seed}`)
  for (let run = 0; run < times(300); run++) {
    let made = 0
    const row = (rank: number) => ({ id: `r${made++}`, rank })
    let list = Array.from({ length: random.below(400) }, (_, i) => row(i + random.next())).sort(
      (a, b) => a.rank - b.rank,
    )
    const stayed = new Set(list.map(({ id }) => id))
    const seen: string[] = []
    const change = () => {
      const count = random.below(random.chance(0.1) ? 300 : 8)
      for (let i = 0; i < count; i++) {
        if (random.chance(0.3) && list.length > 0) {
          const [gone] = list.splice(random.below(list.length), 1)
          stayed.delete(gone!.id)
        } else list.push(row(random.next() * 450))
      }
      list = list.sort((a, b) => a.rank - b.rank)
    }
    const rows: Rows = async (offset, limit) => {
      const page = list.slice(offset, offset + limit)
      if (random.chance(0.3)) change()
      return page
    }
    const limit = 1 + random.below(60)
    let cursor: string | null = null
    let pages = 0
    do {
      const query: { limit: number; offset: number; cursor?: string } =
        cursor === null ? { limit, offset: 0 } : { limit, offset: 0, cursor }
      let page: Awaited<ReturnType<typeof pageOf>>
      try {
        page = await pageOf('list', query, rows)
      } catch (error) {
        // all of the last rows are gone: said plainly
        if (!/are gone/.test((error as Error).message)) throw error
        break
      }
      seen.push(...page.data.map(one => (one as { id: string }).id))
      cursor = page.next
      if (cursor === null) {
        const missed = [...stayed].filter(id => !seen.includes(id))
        if (missed.length > 0) t.same(missed, [], `skipped, run ${run}`)
      }
      if (random.chance(0.5)) change()
    } while (cursor !== null && ++pages < 1_000)
    if (new Set(seen).size !== seen.length) t.fail(`repeated, run ${run}`)
  }
})

t.test('decision 38 a cursor is of one list, and no text of a caller', async t => {
  const rows: Rows = async (offset, limit) =>
    Array.from({ length: 10 }, (_, id) => ({ id: `${id}` })).slice(offset, offset + limit)
  const { next } = await pageOf('a', { limit: 3, offset: 0 }, rows)
  const refused = (list: string, cursor: string, offset = 0) =>
    t.rejects(pageOf(list, { limit: 3, offset, cursor }, rows), { code: 'query_invalid' })
  await refused('b', next!)
  await refused('a', next!, 1)
  for (const cursor of ['x', '', 'W10', Buffer.from('[1,"a",-1,["x"],[]]').toString('base64url')])
    await refused('a', cursor)
})

t.test('security H2 a cursor that a caller made costs a few reads, or tokens for each', async t => {
  let [reads, charged] = [0, 0]
  const all = Array.from({ length: 40 }, (_, id) => ({ id: `${id}` }))
  const read = (query: { limit: number; offset: number; cursor?: string }) =>
    pagedAnswer(
      'list',
      query,
      async ({ offset, limit }) => {
        reads++
        return { data: all.slice(offset, offset + limit) }
      },
      tokens => {
        charged += tokens
      },
    )
  const first = await read({ limit: 3, offset: 0 })
  const [version, list, , anchors] = JSON.parse(
    Buffer.from(first.headers!['X-Next-Cursor']!, 'base64url').toString(),
  )
  t.equal(charged, 0, 'a page is one token')
  for (const at of [1, 39, 40, 41, 1_000, 100_000, Number.MAX_SAFE_INTEGER])
    for (const held of [anchors, ['none']]) {
      reads = 0
      charged = 0
      const cursor = Buffer.from(JSON.stringify([version, list, at, held, []])).toString('base64url')
      const answered = await read({ limit: 3, offset: 0, cursor }).then(
        ({ data }) => (data as { id: string }[]).map(({ id }) => id),
        () => null,
      )
      if (held === anchors)
        t.same(answered, ['3', '4', '5'], `from ${at}: the rows after those that it names`)
      t.ok(reads < 70, `${reads} reads from ${at}`)
      t.equal(charged, reads - 1, 'each further read is charged')
    }
  const many: Rows = async offset => Array.from({ length: 250 }, (_, i) => ({ id: `m${offset + i}` }))
  await t.rejects(
    pagedAnswer(
      'list',
      {
        limit: 3,
        offset: 0,
        cursor: Buffer.from(JSON.stringify([version, list, 9_000, ['none'], []])).toString('base64url'),
      },
      async ({ offset, limit }) => ({ data: await many(offset, limit) }),
      () => {
        throw new Error('no token is left')
      },
    ),
    /no token is left/,
    'a budget that is used up ends the search',
  )
})
