// Trust of a restore in a backup that somebody else edited: none (security 9, 25).

import { existsSync } from 'node:fs'
import { chmod, cp, mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { ArchiveReader, ArchiveWriter, type Trust } from '../../src/cli/archive.js'
import { checkedContents, mustFitSchema, seal } from '../../src/cli/contents.js'
import { Failure } from '../../src/cli/io.js'
import { command } from '../command.js'
import { temporaryDirectory } from '../stores.js'

const fixture = fileURLToPath(new URL('../../../test/fixtures/upgrade-0.1.0/backup/', import.meta.url))
const original = await readFile(join(fixture, 'backup.json'), 'utf8')
const pepper = gunzipSync(await readFile(join(fixture, 'pepper.gz')))
  .toString()
  .trim()
const contents = JSON.parse(original)
/** The pepper of the fixture, as its owner has it. */
const own = { TOLLGATE_PEPPER: pepper }
const known: Trust = { secrets: [['pepper', pepper]], unsealed: false }

/** Copy the fixture with the given table of contents, sealed with `secret`; null leaves it without a seal. */
async function copyOf(t: Test, given: unknown, secret: string | null = pepper): Promise<string> {
  const directory = join(await temporaryDirectory(t), 'backup')
  await cp(fixture, directory, { recursive: true })
  const text = typeof given === 'string' ? given : JSON.stringify(given)
  await writeFile(join(directory, 'backup.json'), text)
  const mac = join(directory, 'backup.mac')
  if (secret === null) await rm(mac)
  else await writeFile(mac, seal(text, 'pepper', secret))
  return directory
}

interface Place {
  readonly path: readonly (string | number)[]
  readonly value: string | number
}

/** Every string and number of a JSON value, names of members too. */
function places(value: unknown, path: readonly (string | number)[] = []): Place[] {
  if (typeof value === 'string' || typeof value === 'number') return [{ path, value }]
  if (Array.isArray(value)) return value.flatMap((one, n) => places(one, [...path, n]))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, one]) => places(one, [...path, name]))
}

/** The same contents with another value at a place. */
function withValue(path: readonly (string | number)[], value: unknown): unknown {
  const copy = structuredClone(contents)
  let at = copy
  for (const step of path.slice(0, -1)) at = at[step]
  at[path.at(-1)!] = value
  return copy
}

t.test(
  'security 9: any string or number that was changed is refused before anything else is read',
  async t => {
    const directory = await copyOf(t, original)
    await t.resolves(ArchiveReader.open(directory, known), 'as it was written it is taken')
    const all = places(contents)
    t.ok(all.length > 500, `${all.length} places`)
    const taken: string[] = []
    for (const { path, value } of all) {
      const changed = typeof value === 'number' ? value + 1 : `${value}x`
      await writeFile(join(directory, 'backup.json'), JSON.stringify(withValue(path, changed)))
      const refused = await ArchiveReader.open(directory, known).then(
        () => null,
        (error: unknown) => error,
      )
      if (!(refused instanceof Failure)) taken.push(path.join('.'))
    }
    t.same(taken, [], 'each is refused')
  },
)

t.test('security 9: even with the secret a backup contains only names that Tollgate writes', async t => {
  const hostile = [
    '../../../../somewhere/authorized_keys',
    '/etc/passwd',
    '..',
    '',
    'a\0b',
    'x; drop table accounts',
    '"; drop table accounts; --',
    "environment_id, subtype) SELECT 'stolen', line FROM file('/etc/passwd','LineAsString','line String') -- ",
    '`a`',
    '__proto__',
    'restoring',
  ]
  const schemas = { Postgres: contents.postgres.tables, ClickHouse: contents.clickhouse.tables }
  const taken: string[] = []
  for (const { path, value } of places(contents))
    for (const other of typeof value === 'string' ? [...hostile, 7, null] : [-1, 0.5, 1e300, '1', null])
      try {
        const checked = checkedContents(JSON.stringify(withValue(path, other)))
        mustFitSchema('Postgres', checked.postgres.tables, schemas.Postgres)
        mustFitSchema('ClickHouse', checked.clickhouse.tables, schemas.ClickHouse)
        // a value in a file of its own, never a name
        if (path.join('.') === 'journal.generation') continue
        taken.push(`${path.join('.')} as ${JSON.stringify(other)}`)
      } catch (error) {
        if (!(error instanceof Failure)) throw error
      }
  t.same(taken, [])
  for (const file of ['../x', 'journal/0-1/../../x', 'postgres/accounts.gz', 'backup.json']) {
    const copy = structuredClone(contents)
    copy.files[file] = copy.files.pepper
    t.throws(() => checkedContents(JSON.stringify(copy)), Failure, file)
  }
})

t.test(
  'security 9: the archives that wrote files and ran statements are refused, and leave nothing',
  async t => {
    const directory = await temporaryDirectory(t)
    const outside = join(directory, 'authorized_keys')
    const stolen = structuredClone(contents)
    stolen.secrets = [...contents.secrets, '../authorized_keys']
    stolen.files['../authorized_keys'] = contents.files.pepper
    const first = await copyOf(t, stolen)
    await cp(join(first, 'pepper.gz'), join(first, '..', 'authorized_keys.gz'))
    const data = join(directory, 'data')
    t.match(await command(data, ['restore', first], own), {
      code: 1,
      said: /not one that Tollgate wrote: secrets/,
    })
    t.notOk(existsSync(outside), 'nothing is written outside of the data directory')
    t.notOk(existsSync(data), 'nor is the data directory made')

    const injected = structuredClone(contents)
    const table = injected.clickhouse.tables.find((one: { name: string }) => one.name === 'event_types')
    table.columns = [
      "environment_id, subtype) SELECT 'stolen', line FROM file('/etc/passwd','LineAsString','line String') -- ",
    ]
    t.match(await command(data, ['restore', await copyOf(t, injected)], own), {
      code: 1,
      said: /not one that Tollgate wrote: columns/,
    })
    t.notOk(existsSync(data))
    // a name that is well made, and of no column
    table.columns = ['environment_id', 'subtype', 'other']
    t.match(await command(data, ['restore', await copyOf(t, injected)], own), {
      code: 1,
      said: /the columns of event_types are not those of its schema/,
    })
  },
)

t.test('security 9: links are not followed, and no file holds more than is listed', async t => {
  const directory = await copyOf(t, original)
  const archive = await ArchiveReader.open(directory, known)
  const read = async (path: string): Promise<number> => {
    let bytes = 0
    for await (const piece of archive.read(path)) bytes += piece.length
    return bytes
  }
  t.equal(await read('pepper'), contents.files.pepper.bytes)
  const file = join(directory, 'postgres', 'accounts.gz')
  await cp(file, `${file}.other`)
  await rm(file)
  await symlink(`${file}.other`, file)
  await t.rejects(read('postgres/accounts'), Failure, 'a link in place of a file')
  await writeFile(join(directory, 'pepper.gz'), gzipSync(Buffer.alloc(64 << 20)))
  await t.rejects(read('pepper'), /holds more than is listed/, 'a file that inflates beyond its size')
  const linked = await copyOf(t, original)
  await cp(join(linked, 'postgres'), join(linked, 'elsewhere'), { recursive: true })
  await rm(join(linked, 'postgres'), { recursive: true })
  await symlink(join(linked, 'elsewhere'), join(linked, 'postgres'))
  await t.rejects(ArchiveReader.open(linked, known), /is no directory/, 'nor a link in place of a directory')
})

t.test('security 9: signature of a backup', async t => {
  const whole = await copyOf(t, original)
  const open = (directory: string, trust: Partial<Trust>) =>
    ArchiveReader.open(directory, { secrets: [], unsealed: false, ...trust })
  t.equal((await open(whole, { secrets: [['pepper', pepper]] })).vouched, 'known')
  await t.rejects(open(whole, {}), /not vouched for/, 'L1 the pepper inside vouches for nothing')
  t.equal((await open(whole, { unsealed: true })).vouched, 'nobody')
  await t.rejects(
    open(whole, { unsealed: true, secrets: [['pepper', 'another']] }),
    /not vouched for/,
    'a secret that is given counts',
  )
  await t.rejects(open(whole, { secrets: [['pepper', 'another']] }), /not vouched for/)
  await t.rejects(open(whole, { secrets: [['TOLLGATE_BACKUP_KEY', pepper]] }), /not vouched for/)
  const forged = await copyOf(t, withValue(['tollgate'], '9.9.9'), 'of somebody else')
  await t.rejects(open(forged, {}), Failure)
  await t.rejects(open(forged, { unsealed: true }), /was changed/, 'damage is noticed')
  await t.rejects(open(forged, { secrets: [['pepper', pepper]] }), /not vouched for/)

  const unsealed = await copyOf(t, original, null)
  await t.rejects(open(unsealed, { secrets: [['pepper', pepper]] }), /nothing says who wrote it/)
  t.equal((await open(unsealed, { unsealed: true })).vouched, 'nobody')

  const keyed = await copyOf(t, original, null)
  const key = 'a key that is kept away from backups'
  await writeFile(join(keyed, 'backup.mac'), seal(original, 'TOLLGATE_BACKUP_KEY', key))
  t.equal((await open(keyed, { secrets: [['TOLLGATE_BACKUP_KEY', key]] })).vouched, 'known')
  await t.rejects(open(keyed, {}), /TOLLGATE_BACKUP_KEY/)
  await t.rejects(open(keyed, { secrets: [['pepper', pepper]] }), /TOLLGATE_BACKUP_KEY/)
  t.equal((await open(keyed, { unsealed: true })).vouched, 'nobody', 'its secret is lost')
  const { createHash } = await import('node:crypto')
  const fingerprint = createHash('sha256').update(original).digest('hex')
  t.equal((await open(keyed, { fingerprint })).vouched, 'known', 'the fingerprint needs no secret')
  await t.rejects(open(forged, { fingerprint }), /another backup/)
})

t.test('security 25: a backup is not written where others may change it', async t => {
  const directory = join(await temporaryDirectory(t), 'open')
  await mkdir(directory)
  await chmod(directory, 0o777)
  await t.rejects(ArchiveWriter.create(directory), /may be written by others/)
  await chmod(directory, 0o755)
  const archive = await ArchiveWriter.create(directory)
  await archive.write('pepper', [Buffer.from('x')])
  t.equal((await stat(join(directory, 'pepper.gz'))).mode & 0o777, 0o600)
})
