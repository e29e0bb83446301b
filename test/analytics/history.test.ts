import t from 'tap'
import { type EventsFilter, eventById, eventsList } from '../../src/analytics/events.js'
import {
  ask,
  creditByDay,
  creditLedgerCount,
  creditLedgerList,
  eventTypes,
  oldClaims,
  usageBetween,
  usageByCompany,
  usageHistory,
  userCredits,
  userUsage,
} from '../../src/analytics/history.js'
import { derivedId } from '../../src/core/values/id.js'
import { eventRow, type RowEvent } from '../../src/journal/records/event-row.js'
import { ledgerRows } from '../../workers/projector/ledger.js'
import { seed } from '../random.js'
import { startStores } from '../stores.js'
import { randomFrom } from '../workers/history.js'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const env = 'env_1'
const nowMs = Date.now()
/** A whole UTC day, so that windows are easy to say. */
const day0Ms = Math.floor(nowMs / dayMs) * dayMs - 9 * dayMs

t.test('questions to real stores', async t => {
  t.comment(`seed ${seed}`)
  const random = randomFrom(seed)
  const { clickhouse } = await startStores(t)
  const companies = ['comp_a', 'comp_b', 'comp_c']
  const users = ['user_a', 'user_b', null]
  const subtypes = ['alpha', 'beta', 'gamma']

  const events: RowEvent[] = []
  for (let i = 0; i < 3_000; i++) {
    const type = (['track', 'track', 'track', 'track', 'identify', 'flag_check'] as const)[random(6)]!
    const captured = day0Ms + random(9 * 24 * 60) * 60_000 + random(60_000)
    events.push({
      id: derivedId('evt_', i),
      type,
      subtype: type === 'identify' ? null : subtypes[random(3)]!,
      body: `{"n":${i},"value":true,"reason":"rule"}`,
      quantity: type === 'track' ? random(9) - 2 : 1,
      mode: 'normal',
      capturedAtMs: captured,
      sentAtMs: random(2) === 0 ? captured - 5 : null,
      receivedAtMs: captured + 1,
      apiKeyId: 'key_1',
      idempotencyKey: i % 10 === 0 ? `k ${i}` : null,
      companyId: random(10) === 0 ? null : companies[random(3)]!,
      userId: users[random(3)]!,
      leaseId: null,
      reservationId: null,
      failure: random(20) === 0 ? 'company not found' : null,
      derivedFrom: null,
    })
  }
  const row = (event: RowEvent, environmentId: string): string =>
    eventRow(event, {
      environmentId,
      featureIds: ['feat_1'],
      at: event.receivedAtMs,
      flagId: event.type === 'flag_check' ? `flag_${event.subtype}` : null,
    })
  for (let at = 0; at < events.length; at += 600)
    await clickhouse.insertRaw({
      table: 'events',
      rows: events
        .slice(at, at + 600)
        .map(event => row(event, env))
        .join('\n'),
      token: `a${at}`,
    })
  await clickhouse.insertRaw({
    table: 'events',
    rows: events
      .slice(0, 500)
      .map(event => row({ ...event, id: `${event.id}x` }, 'env_2'))
      .join('\n'),
    token: 'another environment',
  })

  const tracked = events.filter(event => event.type === 'track' && event.failure === null && event.companyId)
  const sum = (list: readonly RowEvent[]): number =>
    list.reduce((total, event) => total + Number(event.quantity), 0)
  const within = (event: RowEvent, fromMs: number, toMs: number): boolean =>
    event.capturedAtMs >= fromMs && event.capturedAtMs < toMs

  await t.test('EV-72: events newest first, by every filter, page by page', async t => {
    const wanted = (filter: Partial<EventsFilter>): string[] =>
      events
        .filter(
          event =>
            (filter.types?.length ? filter.types.includes(event.type) : event.type !== 'flag_check') &&
            (!filter.companyId || event.companyId === filter.companyId) &&
            (!filter.userId || event.userId === filter.userId) &&
            (!filter.subtype || event.subtype === filter.subtype) &&
            (!filter.flagId || `flag_${event.subtype}` === filter.flagId) &&
            (!filter.idempotencyKey || event.idempotencyKey === filter.idempotencyKey),
        )
        .sort((a, b) => b.capturedAtMs - a.capturedAtMs || (a.id < b.id ? 1 : -1))
        .map(event => event.id)
    for (const filter of [
      {},
      { companyId: 'comp_a' },
      { userId: 'user_b' },
      { companyId: 'comp_b', userId: 'user_a', subtype: 'beta' },
      { types: ['flag_check'], flagId: 'flag_alpha' },
      { types: ['flag_check', 'identify'] },
      {
        idempotencyKey: events.find(event => event.idempotencyKey && event.type === 'track')!.idempotencyKey,
      },
      { companyId: 'comp_nobody' },
    ] satisfies Partial<EventsFilter>[]) {
      const all = wanted(filter)
      for (const [limit, offset] of [
        [40, 0],
        [7, 33],
        [100, Math.max(0, all.length - 50)],
      ] as const) {
        const found = await eventsList(clickhouse, env, { ...filter, limit, offset }, nowMs)
        t.same(
          found.map(event => event.id),
          all.slice(offset, offset + limit),
          `${JSON.stringify(filter)} ${limit} from ${offset} of ${all.length}`,
        )
      }
    }
  })

  await t.test('EV-72 a question about old events is asked once when it is asked again', async t => {
    let asked = 0
    const counting = {
      select: ((...given) => {
        asked++
        return clickhouse.select(...given)
      }) as typeof clickhouse.select,
    }
    const list = (limit: number) =>
      eventsList(counting, env, { subtype: 'beta', limit, offset: 0 }, nowMs + 60 * dayMs)
    const first = await list(3)
    t.equal(first.length, 3)
    t.equal(asked, 5, 'a minute, an hour, a day, a month, everything')
    asked = 0
    t.same(await list(3), first)
    t.equal(asked, 1)
    asked = 0
    t.ok((await list(2_000)).length > 3, 'there are fewer than that')
    t.equal(asked, 5)
    asked = 0
    t.ok((await list(2_000)).length > 3)
    t.equal(asked, 1)
  })

  await t.test('EV-70, EV-73: one event, whole, in its own environment alone', async t => {
    const event = events.find(one => one.failure === null && one.sentAtMs !== null && one.companyId !== null)!
    const found = await eventById(clickhouse, env, event.id)
    t.match(found, {
      id: event.id,
      type: event.type,
      subtype: event.subtype ?? '',
      body: event.body,
      quantity: event.quantity,
      status: 'enriched',
      captured_at_ms: event.capturedAtMs,
      sent_at_ms: event.sentAtMs,
      loaded_at_ms: event.receivedAtMs,
      processed_at_ms: event.receivedAtMs,
      feature_ids: ['feat_1'],
      cost: null,
    })
    const failed = events.find(one => one.failure !== null)!
    t.match(await eventById(clickhouse, env, failed.id), {
      status: 'failed',
      error_message: 'company not found',
      processed_at_ms: null,
    })
    t.equal(await eventById(clickhouse, 'env_2', event.id), null)
    t.equal(await eventById(clickhouse, env, 'evt_nothing'), null)
  })

  await t.test('US-10: usage between bounds is exact, inside hours too', async t => {
    const bounds = [
      day0Ms + 7 * hourMs,
      day0Ms + 9 * hourMs + 12_345,
      day0Ms + 9 * hourMs + 50 * 60_000,
      day0Ms + 30 * hourMs,
      day0Ms + 77 * hourMs + 1,
      day0Ms + 120 * hourMs,
    ]
    for (const subtype of subtypes) {
      const found = await usageBetween(clickhouse, env, 'comp_a', subtype, bounds, nowMs)
      const wanted = bounds.slice(0, -1).flatMap((startMs, i) => {
        const inside = tracked.filter(
          event =>
            event.companyId === 'comp_a' &&
            event.subtype === subtype &&
            within(event, startMs, bounds[i + 1]!),
        )
        return inside.length === 0 ? [] : [{ startMs, quantity: sum(inside), events: inside.length }]
      })
      t.same(found, wanted, subtype)
    }
  })

  await t.test('US-20…24: history by company, event and period, pages that add up', async t => {
    const bounds = Array.from({ length: 10 }, (_, i) => day0Ms + 5 * hourMs + i * 20 * hourMs)
    const ask = (companyIds: string[] | null, limit: number, offset: number) =>
      usageHistory(clickhouse, env, companyIds, ['alpha', 'gamma'], bounds, { limit, offset })
    const all = await ask(null, 1_000, 0)
    for (const row of all) {
      const end = bounds[bounds.indexOf(row.startMs) + 1]!
      const inside = tracked.filter(
        event =>
          event.companyId === row.companyId &&
          event.subtype === row.subtype &&
          within(event, row.startMs, end),
      )
      if (inside.length === 0 || sum(inside) !== row.quantity) t.fail(JSON.stringify(row))
    }
    const window = tracked.filter(
      event => event.subtype !== 'beta' && within(event, bounds[0]!, bounds.at(-1)!),
    )
    t.equal(
      all.reduce((total, row) => total + Number(row.quantity), 0),
      sum(window),
      'US-24: the parts of a window add up to it',
    )
    const order = all.map(row => `${row.startMs} ${row.companyId} ${row.subtype}`)
    t.same(order, [...order].sort())
    const pages = [...(await ask(null, 7, 0)), ...(await ask(null, 1_000, 7))]
    t.same(pages, all)
    t.same(
      await ask(['comp_b'], 1_000, 0),
      all.filter(row => row.companyId === 'comp_b'),
    )
    t.same(await ask([], 10, 0), [])
  })

  await t.test('US-30, US-32, US-35: users add up to the company, for windows inside hours', async t => {
    for (const [fromMs, toMs] of [
      [day0Ms + 3 * hourMs + 77_777, day0Ms + 100 * hourMs + 1_234],
      [day0Ms + 3 * hourMs + 60_000, day0Ms + 3 * hourMs + 50 * 60_000],
      [day0Ms, day0Ms + 24 * hourMs],
    ] as const)
      for (const daily of [false, true]) {
        const found = await userUsage(clickhouse, env, 'comp_b', subtypes, { fromMs, toMs }, daily, nowMs)
        const inside = tracked.filter(event => event.companyId === 'comp_b' && within(event, fromMs, toMs))
        t.equal(
          found.reduce((total, row) => total + Number(row.quantity), 0),
          sum(inside),
        )
        for (const row of found) {
          const own = inside.filter(
            event =>
              event.userId === row.userId &&
              event.subtype === row.subtype &&
              (!daily || Math.floor(event.capturedAtMs / dayMs) * dayMs === row.dayMs),
          )
          const last = Math.max(...own.map(event => event.capturedAtMs))
          if (own.length === 0 || sum(own) !== row.quantity || last !== row.lastSeenMs)
            t.fail(JSON.stringify(row))
        }
      }
  })

  await t.test('event names with their counts; the companies that used one most', async t => {
    const all = await eventTypes(clickhouse, env, { subtypes: null, q: '' }, { limit: 10, offset: 0 })
    t.same(
      all.map(one => one.subtype),
      subtypes,
    )
    const alpha = events.filter(
      event => event.type === 'track' && event.failure === null && event.subtype === 'alpha',
    )
    t.match(all[0], {
      events: alpha.length,
      companies: 3,
      users: 2,
      lastSeenMs: Math.max(...alpha.map(event => event.capturedAtMs)),
    })
    const some = await eventTypes(
      clickhouse,
      env,
      { subtypes: ['alpha', 'beta'], q: 'ET' },
      { limit: 10, offset: 0 },
    )
    t.same(
      some.map(one => one.subtype),
      ['beta'],
    )
    const top = await usageByCompany(
      clickhouse,
      env,
      'beta',
      { fromMs: day0Ms, toMs: day0Ms + 10 * dayMs },
      { limit: 2, offset: 0 },
    )
    const wanted = companies
      .map(companyId => ({
        companyId,
        quantity: sum(tracked.filter(event => event.companyId === companyId && event.subtype === 'beta')),
      }))
      .sort((a, b) => b.quantity - a.quantity)
    t.match(top, wanted.slice(0, 2))
  })

  await t.test('credits: the ledger, days with balances, users (US-31, US-40, CR-89, CR-91)', async t => {
    const at = (days: number): number => day0Ms + days * dayMs + 3 * hourMs
    const nanos = (credits: number): number => credits * 1_000_000_000
    const c = 'bcrd_1'
    const lines = ledgerRows({
      id: 'comp_a',
      env,
      fx: [
        { t: 'credit_grant', c, seq: 1, at: at(0), g: { reason: 'free', q: nanos(100) } },
        {
          t: 'credit_draw',
          c,
          seq: 2,
          at: at(1),
          s: [[1, nanos(2.5), nanos(97.5)]],
          f: 'feat_1',
          e: 'evt_1',
          u: 'user_a',
        },
        { t: 'credit_draw', c, seq: 3, at: at(1), s: [[1, nanos(1), nanos(96.5)]], f: 'feat_2', e: 'evt_2' },
        {
          t: 'credit_hold',
          c,
          seq: 4,
          at: at(2),
          h: 'crlse_1',
          k: 'lease',
          open: true,
          s: [[1, nanos(40), nanos(56.5)]],
          exp: at(3),
        },
        {
          t: 'credit_commit',
          c,
          seq: 5,
          at: at(2),
          h: 'crlse_1',
          k: 'lease',
          s: [[1, nanos(35)]],
          cost: nanos(35),
          f: 'feat_1',
          e: 'evt_3',
          u: 'user_a',
        },
        {
          t: 'credit_release',
          c,
          seq: 6,
          at: at(2),
          h: 'crlse_1',
          k: 'lease',
          why: 'released',
          s: [[1, nanos(5), nanos(61.5)]],
        },
      ],
    })
    await clickhouse.insertRaw({
      table: 'credit_ledger',
      rows: lines.map(one => one.line).join('\n'),
      token: 'l',
    })
    const list = await creditLedgerList(clickhouse, env, { companyId: 'comp_a' }, { limit: 10, offset: 0 })
    t.same(
      list.map(entry => entry.sequence),
      [6, 5, 4, 3, 2, 1],
    )
    t.match(list[4], { amount: '-2.5', quantity_consumed: '2.5', usage_reason: 'track', user_id: 'user_a' })
    t.match(list[5], { event_type: 'grant', grant_quantity: '100', grant_expires_at_ms: null })
    t.equal(await creditLedgerCount(clickhouse, env, { companyId: 'comp_a', featureId: 'feat_1' }), 2)
    t.equal(await creditLedgerCount(clickhouse, env, { companyId: 'comp_a', fromMs: at(1), toMs: at(2) }), 2)
    const window = { fromMs: day0Ms + dayMs, toMs: day0Ms + 3 * dayMs }
    t.same(await creditByDay(clickhouse, env, 'comp_a', c, window), [
      { dayMs: day0Ms + dayMs, featureId: 'feat_1', consumed: '2.5', balance: '96.5' },
      { dayMs: day0Ms + dayMs, featureId: 'feat_2', consumed: '1', balance: '96.5' },
      { dayMs: day0Ms + 2 * dayMs, featureId: null, consumed: '0', balance: '61.5' },
      { dayMs: day0Ms + 2 * dayMs, featureId: 'feat_1', consumed: '35', balance: '61.5' },
    ])
    t.same(await userCredits(clickhouse, env, 'comp_a', window, false), [
      { userId: 'user_a', creditId: c, dayMs: 0, consumed: '37.5' },
      { userId: null, creditId: c, dayMs: 0, consumed: '1' },
    ])
    t.equal((await userCredits(clickhouse, env, 'comp_a', window, true)).length, 3)
  })

  await t.test('EV-25 the first event with a key is found among those of a span', async t => {
    // ClickHouse drops claims after two days
    const at = Date.now() - 5 * hourMs
    const line = (key: string, id: string, loadedMs: number) =>
      JSON.stringify({
        loaded_at: new Date(loadedMs).toISOString(),
        environment_id: env,
        idempotency_key: key,
        id,
        captured_at: new Date(loadedMs).toISOString(),
        print: 7,
      })
    // a mark is in front of keys that publishable API keys sent
    const lines = [line('k', 'evt_a', at), line('\0k', 'evt_b', at + 1), line('k', 'evt_c', at + hourMs)]
    await clickhouse.insertRaw({ table: 'event_claims', rows: lines.join('\n') })
    const found = await oldClaims(clickhouse, { fromMs: at, toMs: at + hourMs }, ['k', '\0k', "it's"])
    const [a, b] = found.toSorted((one, other) => one.receivedAtMs - other.receivedAtMs)
    t.same(a, { env, key: 'k', eventId: 'evt_a', capturedAtMs: at, receivedAtMs: at, print: 7 })
    t.match(b, { key: '\0k', eventId: 'evt_b' })
    t.equal(found.length, 2)
  })

  await t.test('statements read along the keys', async t => {
    const plans = {
      select: ((text, parameters) =>
        clickhouse.select(
          `EXPLAIN indexes = 1, actions = 1 ${text}`,
          parameters,
        )) as typeof clickhouse.select,
    }
    const plan = async (name: string, parameters: Record<string, unknown>): Promise<string> => {
      const rows = await ask<{ explain: string }>(plans, name, {
        environment_id: env,
        company_id: 'comp_a',
        ...parameters,
      })
      return rows.map(one => one.explain.replaceAll('│', ' ')).join('\n')
    }
    /** Columns of the primary key that the plan uses, for each table it reads. */
    const keys = (text: string): string[][] =>
      [...text.matchAll(/PrimaryKey\s+Keys:\s*((?:\s*\w+\s*\n)+)/g)].map(match =>
        match[1]!.trim().split(/\s+/),
      )
    const page = { limit: 10, offset: 0 }
    const list = { types: ['track'], since_ms: nowMs - hourMs, until_ms: nowMs, ...page }
    const ofCompany = await plan('events_list', list)
    t.match(keys(ofCompany)[0], ['environment_id', 'company_id'])
    t.match(ofCompany, /InReverseOrder/, 'read backwards until the page is full')
    t.match(keys(await plan('events_search', list))[0], ['environment_id'])
    t.match(await plan('event_by_id', { id: 'evt_x' }), /Name: by_id/)
    const bounds = { bounds_ms: [day0Ms, day0Ms + dayMs], cut_hours: [day0Ms / 1000] }
    for (const used of keys(await plan('usage_between', { ...bounds, subtype: 'alpha' })))
      t.match(used, ['environment_id', 'company_id'])
    const history = {
      company_ids: ['comp_a'],
      subtypes: ['alpha'],
      bounds_ms: [day0Ms, day0Ms + dayMs],
      cut_hours: [],
      ...page,
    }
    t.same(keys(await plan('usage_history', history))[0], ['environment_id', 'company_id', 'subtype', 'hour'])
    const window = {
      from_ms: day0Ms,
      to_ms: day0Ms + dayMs,
      whole_from: day0Ms / 1000,
      whole_to: day0Ms / 1000,
      daily: false,
      user_ids: [],
      feature_ids: [],
    }
    for (const used of keys(await plan('user_usage', { ...window, subtypes: ['alpha'] })))
      t.match(used, ['environment_id', 'company_id'])
    t.match(keys(await plan('user_credits', window))[0], ['environment_id', 'company_id'])
    t.match(keys(await plan('event_claims', { after_ms: day0Ms, after_id: '', limit: 10 }))[0], ['loaded_at'])
    const old = await plan('old_claims', { from_ms: day0Ms, to_ms: day0Ms + dayMs, keys: ['\0a', 'b'] })
    t.match(keys(old)[0], ['loaded_at'])
    t.match(old, /Name: by_idempotency_key/)
  })
})
