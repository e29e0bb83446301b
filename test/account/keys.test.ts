import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { type BootstrapConfig, bootstrap } from '../../src/account/bootstrap.js'
import { hashKey, lastFour, mayBeOurs, newKeyValue } from '../../src/account/key-value.js'
import { KeyRing } from '../../src/account/keys.js'
import type { KeyRecord } from '../../src/kit/call.js'
import { openPostgres } from '../../src/storage/postgres.js'
import { freeLimits } from '../front/http/make.js'
import { silent, startStores } from '../stores.js'

const record = (over: Partial<KeyRecord> & { id: string }): KeyRecord => ({
  accountId: 'acct_1',
  name: over.id,
  description: null,
  kind: 'secret',
  scopes: ['read'],
  readonly: false,
  environmentId: null,
  rateLimitPercent: null,
  ...over,
})

t.test('AL-2 a value has the prefix of its kind and environment, and 256 random bits', async t => {
  const prefixes = [
    [newKeyValue('secret', 'production'), 'sk_prod_'],
    [newKeyValue('secret', 'staging'), 'sk_stag_'],
    [newKeyValue('secret', 'development'), 'sk_dev_'],
    [newKeyValue('secret', null), 'sk_acct_'],
    [newKeyValue('publishable', 'production'), 'pk_prod_'],
  ] as const
  for (const [value, prefix] of prefixes) {
    t.ok(value.startsWith(prefix), prefix)
    t.equal(Buffer.from(value.slice(prefix.length, -6), 'base64url').length, 32)
  }
  t.not(newKeyValue('secret', null), newKeyValue('secret', null))
})

t.test('security 18 a checksum distinguishes a key from chance and from a typing error', async t => {
  const value = newKeyValue('secret', 'production')
  t.ok(mayBeOurs(value))
  for (let at = 0; at < value.length; at++) {
    const other = value[at] === 'a' ? 'b' : 'a'
    if (mayBeOurs(value.slice(0, at) + other + value.slice(at + 1))) t.fail(`an error at ${at} is not told`)
  }
  t.ok(mayBeOurs(`sk_dev_${'A1b2C3'.repeat(7)}x`), 'values made before have none')
  t.equal(lastFour(value), value.slice(-4))
  t.equal(lastFour('sixteen letters.'), null)
})

t.test('bootstrap and the ring over a real Postgres', async t => {
  const { sql, dataDir } = await startStores(t)
  const config: BootstrapConfig = { dataDir, bootstrapKey: null, pepper: null, membersFile: null }
  const chosen = 'c4f1a9d27be85063f9e2b7a14d6c830597fb2e6d18a3c05b94e7d1f06a82c3b5'
  const count = async (table: string) => {
    const [row] = await sql<{ count: number }[]>`select count(*)::int as count from ${sql(table)}`
    return row!.count
  }
  const ring = async (pepper: Buffer, nowMs?: () => number) => {
    const made = new KeyRing({ sql, pepper, log: silent, ...(nowMs && { nowMs }) })
    await made.load()
    return made
  }

  const starts = await Promise.all([bootstrap(sql, config), bootstrap(sql, config), bootstrap(sql, config)])
  const { accountId, pepper } = starts[0]!
  const made = starts.map(start => start.madeKey).filter(key => key !== null)

  await t.test('several first starts at once make one account, two environments, three keys', async t => {
    t.same(new Set(starts.map(start => start.accountId)).size, 1)
    t.same(
      starts.map(start => start.pepper),
      [pepper, pepper, pepper],
    )
    t.equal(made.length, 1, 'the bootstrap key is told once')
    t.equal(await count('accounts'), 1)
    t.equal(await count('environments'), 2)
    t.equal(await count('api_keys'), 3)
    for (const name of ['pepper', 'bootstrap-key'])
      t.equal((await stat(join(dataDir, name))).mode & 0o777, 0o600, name)
    t.equal((await readFile(join(dataDir, 'bootstrap-key'), 'utf8')).trim(), made[0])
  })

  await t.test('decision 14 the bootstrap key has all scopes and is bound to Development', async t => {
    const keys = await ring(pepper)
    const key = await keys.find(made[0]!)
    const [development, production] = keys.environments(accountId)
    t.match(development, { name: 'Development', environmentType: 'development' })
    t.match(production, { name: 'Production', environmentType: 'production' })
    t.match(key, { kind: 'secret', environmentId: development!.id, readonly: false })
    t.same([...key!.scopes].sort(), ['admin', 'capture', 'read', 'write'])
  })

  await t.test('a later start changes nothing; a configured key replaces the secret', async t => {
    t.same(await bootstrap(sql, config), { accountId, pepper, formerPepper: null, madeKey: null, notes: [] })
    t.equal(await count('api_keys'), 3)
    await bootstrap(sql, { ...config, bootstrapKey: chosen })
    t.equal(await count('api_keys'), 3)
    const keys = await ring(pepper)
    t.match(await keys.find(chosen), { name: 'Bootstrap key' })
    t.equal(await keys.find(made[0]!), null, 'the former secret opens nothing')
    await t.rejects(readFile(join(dataDir, 'bootstrap-key')), { code: 'ENOENT' }, 'a setting lies in no file')
  })

  await t.test('AL-2 no secret is stored, and another pepper knows no key', async t => {
    const rows = await sql`select * from api_keys where kind = 'secret'`
    t.notOk(JSON.stringify(rows).includes(chosen))
    t.equal(await (await ring(Buffer.from('another'))).find(chosen), null)
  })

  await t.test('the members are those of the file', async t => {
    const file = join(dataDir, 'members.json')
    const names = async () =>
      (await sql`select email, role from account_members order by email`).map(row => ({ ...row }))
    await writeFile(file, JSON.stringify([{ email: 'a@x' }, { email: 'b@x', role: 'admin' }]))
    await bootstrap(sql, { ...config, membersFile: file })
    t.same(await names(), [
      { email: 'a@x', role: 'member' },
      { email: 'b@x', role: 'admin' },
    ])
    const before = await sql`select id, created_at, updated_at from account_members where email = 'b@x'`
    await writeFile(file, JSON.stringify([{ email: 'b@x', role: 'admin' }]))
    await bootstrap(sql, { ...config, membersFile: file })
    t.same(await names(), [{ email: 'b@x', role: 'admin' }])
    t.same(
      await sql`select id, created_at, updated_at from account_members`,
      before,
      'one that stays is not touched',
    )
    await writeFile(file, JSON.stringify([{ email: 'c@x', role: 'owner' }]))
    await t.rejects(bootstrap(sql, { ...config, membersFile: file }), /members\.json: member 0: role/)
  })

  await t.test('a known value is found without a statement, an unknown one once in five seconds', async t => {
    let nowMs = 1_000_000
    const keys = await ring(pepper, () => nowMs)
    t.match(keys.find(chosen), { name: 'Bootstrap key' }, 'no promise: memory alone')
    const stranger = newKeyValue('secret', null)
    t.equal(await keys.find(stranger), null)
    t.equal(keys.find(stranger), null, 'remembered: no promise')
    t.equal(keys.find('not of our form'), null, 'no statement for what no server of ours made')
    t.equal(keys.find('x'.repeat(10_000)), null)

    await sql`insert into api_keys ${sql({
      id: 'apik_elsewhere',
      account_id: accountId,
      name: 'made by another process',
      kind: 'secret',
      scopes: sql.json(['read']),
      secret_hash: hashKey(pepper, stranger),
      created_at: new Date(),
      updated_at: new Date(),
    })}`
    t.equal(keys.find(stranger), null)
    nowMs += 5_001
    t.match(await keys.find(stranger), { id: 'apik_elsewhere' })
    keys.forget('apik_elsewhere')
    await sql`delete from api_keys where id = 'apik_elsewhere'`
    t.equal(await keys.find(stranger), null, 'AL-3 deletion is immediate')
  })

  await t.test(
    'security 14 keys asked for in one tick share one statement; some callers are not asked for',
    async t => {
      const keys = await ring(pepper)
      let statements = 0
      const counted = new Proxy(sql, {
        apply(target, self, given) {
          if (String(given[0]).includes('secret_hash in')) statements++
          return Reflect.apply(target, self, given)
        },
      })
      const counting = new KeyRing({ sql: counted, pepper, log: silent })
      await Promise.all(Array.from({ length: 10 }, () => counting.find(newKeyValue('secret', null))))
      t.equal(statements, 1)
      t.equal(
        keys.find(newKeyValue('secret', null), { mayAsk: () => false }),
        null,
        'no promise: no statement',
      )
    },
  )

  await t.test('a thousand strangers cost a few statements', async t => {
    let statements = 0
    const counting = new Proxy(sql, {
      apply(target, self, given) {
        statements++
        return Reflect.apply(target, self, given)
      },
    })
    const keys = new KeyRing({ sql: counting, pepper, log: silent })
    await keys.load()
    statements = 0
    const found = await Promise.all(
      Array.from({ length: 1_000 }, () => keys.find(newKeyValue('secret', null))),
    )
    t.ok(found.every(key => key === null))
    t.ok(statements > 0 && statements < 20, `${statements}`)
  })

  await t.test('AL-1 each value finds its own key, whichever was shown before', async t => {
    const keys = await ring(pepper)
    for (const name of ['x', 'y']) keys.put(record({ id: `apik_${name}`, accountId }), keys.hash(name))
    for (const value of 'xxyyxyyxx') t.match(keys.find(value), { id: `apik_${value}` })
    keys.forget('apik_x')
    t.equal(keys.find('x'), null)
    t.match(keys.find('y'), { id: 'apik_y' })
  })

  await t.test('AL-4 last_used_at is written at most once a minute', async t => {
    const start = Date.UTC(2026, 0, 1)
    let nowMs = start
    const keys = await ring(pepper, () => nowMs)
    const id = (await keys.find(chosen))!.id
    const read = async () => {
      const [row] = await sql<
        { last_used_at: Date | null }[]
      >`select last_used_at from api_keys where id = ${id}`
      return row!.last_used_at?.getTime() ?? null
    }
    keys.used(id, 7)
    await keys.flush()
    t.equal(await read(), start)
    nowMs += 60_000
    keys.used(id, 60_006)
    await keys.flush()
    t.equal(await read(), start)
    keys.used(id, 60_007)
    await keys.flush()
    t.equal(await read(), start + 60_000)
    // another key was found last, and used lately
    keys.put(record({ id: 'apik_other', accountId }), keys.hash('other'))
    for (let times = 0; times < 2; times++) await keys.find('other')
    keys.used('apik_other', 120_000)
    nowMs += 60_000
    keys.used(id, 120_007)
    await keys.flush()
    t.equal(await read(), start + 120_000)
  })

  await t.test('a change given to the ring holds at once', async t => {
    const keys = await ring(pepper)
    const gone: string[] = []
    keys.onEnvironmentRemoved(id => gone.push(id))
    keys.putEnvironment({
      id: 'env_x',
      accountId,
      name: 'x',
      environmentType: 'staging',
      requireContextSignature: false,
      publishable: freeLimits,
      contextSecrets: null,
      lowercaseKeys: null,
      createdAtMs: 0,
      updatedAtMs: 5,
    })
    keys.put(record({ id: 'apik_x', accountId, environmentId: 'env_x' }), keys.hash('v'))
    t.match(keys.find('v'), { id: 'apik_x', rateLimitPercent: null })
    keys.put(record({ id: 'apik_x', accountId, environmentId: 'env_x', rateLimitPercent: 5 }), null)
    t.match(keys.find('v'), { rateLimitPercent: 5 })
    t.equal(keys.environments(accountId)[0]!.id, 'env_x', 'oldest first')
    keys.putEnvironment({ ...keys.environment('env_x')!, name: 'older news', updatedAtMs: 4 })
    t.equal(keys.environment('env_x')!.name, 'x')
    keys.forgetEnvironment('env_x')
    t.equal(keys.find('v'), null)
    t.equal(keys.environment('env_x'), null)
    t.same(gone, ['env_x'])
    await keys.load()
    t.equal(keys.environments(accountId).length, 2)
  })

  await t.test('security 18 a key that SQL deletes or disables is noticed', async t => {
    const keys = await ring(pepper)
    const insert = async (id: string) => {
      const value = newKeyValue('secret', null)
      await sql`insert into api_keys ${sql({
        id,
        account_id: accountId,
        name: id,
        kind: 'secret',
        scopes: sql.json(['read']),
        secret_hash: hashKey(pepper, value),
        created_at: new Date(),
        updated_at: new Date(),
      })}`
      return value
    }
    const [doomed, paused] = [await insert('apik_doomed'), await insert('apik_paused')]
    t.match(await keys.find(doomed), { id: 'apik_doomed', conditions: null })
    t.match(await keys.find(paused), { id: 'apik_paused', conditions: null })
    await sql`delete from api_keys where id = 'apik_doomed'`
    await keys.lookAgain()
    t.equal(await keys.find(doomed), null)
    await sql`update api_keys set disabled = true where id = 'apik_paused'`
    await keys.lookAgain()
    t.match(await keys.find(paused), { conditions: { disabled: true } })
    await sql`delete from api_keys where id = 'apik_paused'`
  })

  await t.test('security 18 a value that was shown is forgotten, and found again by its hash', async t => {
    const keys = await ring(pepper)
    const value = chosen
    t.ok(keys.find(value))
    keys.forgetValues()
    t.match(keys.find(value), { name: 'Bootstrap key' }, 'without a statement')
  })

  await t.test('security 18 the former pepper is tried on a miss, and its keys are hashed anew', async t => {
    const value = newKeyValue('secret', null)
    const publishable = newKeyValue('publishable', 'development')
    const row = (id: string, hash: Buffer) => ({
      id,
      account_id: accountId,
      name: id,
      kind: 'secret',
      scopes: sql.json(['read']),
      secret_hash: hash,
      created_at: new Date(),
      updated_at: new Date(),
    })
    await sql`insert into api_keys ${sql(row('apik_old', hashKey(pepper, value)))}`
    await sql`
      update api_keys set previous_hash = ${hashKey(pepper, publishable)}, previous_until = now() + interval '1 hour'
      where id = 'apik_old'`
    const next = Buffer.from('the next pepper')
    const rotated = new KeyRing({ sql, pepper: next, formerPepper: pepper, log: silent })
    await rotated.load()
    t.match(await rotated.find(value), { id: 'apik_old' })
    t.match(await rotated.find(publishable), { id: 'apik_old' }, 'a value that a roll replaced, too')
    await rotated.inOrder(async () => {})
    const after = await ring(next)
    t.match(await after.find(value), { id: 'apik_old' }, 'the new pepper alone knows it')
    t.match(await after.find(publishable), { id: 'apik_old' })
    t.equal(await (await ring(pepper)).find(value), null, 'the former one no longer does')
    t.equal(await rotated.find(newKeyValue('secret', null)), null)
    await sql`delete from api_keys where id = 'apik_old'`
  })

  await t.test(
    'security 13 (D20) a value makes the first key once: deleted or replaced, it stays so',
    async t => {
      const [row] = await sql<{ id: string }[]>`select id from api_keys where bootstrap`
      const second = newKeyValue('secret', 'development')
      const opens = async (value: string) => (await (await ring(pepper)).find(value)) !== null
      await bootstrap(sql, { ...config, bootstrapKey: second })
      t.same([await opens(chosen), await opens(second)], [false, true])
      const back = await bootstrap(sql, { ...config, bootstrapKey: chosen })
      t.match(back.notes, [/was deleted or replaced and opens nothing/])
      t.same(
        [await opens(chosen), await opens(second)],
        [false, true],
        'a value that was replaced is not put back',
      )
      await sql`delete from api_keys where id = ${row!.id}`
      const after = await bootstrap(sql, { ...config, bootstrapKey: second })
      t.match(after.notes, [/opens nothing/, /No admin key is left/])
      t.equal((await bootstrap(sql, config)).madeKey, null, 'nor is another made without the setting')
      t.equal((await sql`select 1 from api_keys where bootstrap`).length, 0)
      const third = newKeyValue('secret', 'development')
      t.same((await bootstrap(sql, { ...config, bootstrapKey: third })).notes, [])
      t.same([await opens(second), await opens(third)], [false, true], 'a new value makes another')
      for (const weak of [
        'aaaaaaaaaaaaaaaa',
        'correct-horse-battery-staple',
        'sk_dev_test_key_of_the_harness_0001',
      ])
        await t.rejects(
          bootstrap(sql, { ...config, bootstrapKey: weak }),
          /TOLLGATE_BOOTSTRAP_KEY: .*128 random bits/,
        )
      await sql`delete from bootstrap_values where secret_hash = ${hashKey(pepper, chosen)}`
      await bootstrap(sql, { ...config, bootstrapKey: chosen })
      const old = 'a weak one of an older version'
      await sql`insert into bootstrap_values values (${hashKey(pepper, old)}, ${accountId}, now())`
      await sql`update api_keys set secret_hash = ${hashKey(pepper, old)} where bootstrap`
      t.match((await bootstrap(sql, { ...config, bootstrapKey: old })).notes, [/easy to guess/])
      t.ok(await opens(old), 'one that is in force stays')
      await sql`update api_keys set secret_hash = ${hashKey(pepper, chosen)} where bootstrap`
    },
  )

  await t.test('security 18 another pepper with the former one beside it knows every key', async t => {
    const next = 'the pepper after the first, long enough'
    const [open] = await sql<{ publishable_value: string }[]>`
      select publishable_value from api_keys where kind = 'publishable' limit 1`
    const rotating = { ...config, pepper: next, pepperPrevious: pepper.toString(), bootstrapKey: chosen }
    await bootstrap(sql, rotating)
    const alone = await ring(Buffer.from(next))
    t.match(await alone.find(open!.publishable_value), { kind: 'publishable' }, 'hashed anew at the start')
    t.match(await alone.find(chosen), { name: 'Bootstrap key' })
    t.match((await bootstrap(sql, rotating)).notes, [/unset it/])
    const back = { ...rotating, pepper: null, pepperPrevious: next }
    await bootstrap(sql, back)
    t.match(await (await ring(pepper)).find(chosen), { name: 'Bootstrap key' })
    t.match((await bootstrap(sql, { ...config, pepper: 'an unknown one' })).notes[0], /no key .* is known/)
    await bootstrap(sql, config)
  })

  await t.test('decision 5 an unknown key is 503 while Postgres is away; known ones go on', async t => {
    const keys = await ring(pepper)
    t.match(keys.find(chosen), { name: 'Bootstrap key' })
    const away = openPostgres({ host: join(dataDir, 'nowhere'), port: 5432, user: 'x', database: 'x' })
    const broken = new KeyRing({ sql: away, pepper, log: silent })
    await t.rejects(Promise.resolve(broken.find(newKeyValue('secret', null))), { code: 'store_away' })
  })
})
