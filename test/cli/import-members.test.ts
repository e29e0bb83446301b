// Members of records of an import that have the names of members that every object has.
import t from 'tap'
import { companies } from '../../src/cli/import/entities.js'
import { compile, noMapping } from '../../src/cli/import/mapping.js'
import type { RawRecord } from '../../src/cli/import/read.js'

const record = (given: Partial<RawRecord>): RawRecord => ({
  line: 1,
  lastLine: 1,
  text: '',
  cells: null,
  bytes: 0,
  ...given,
})

t.test('a member that companies do not have is named, whatever its name', t => {
  const { toRow } = compile(noMapping, 'companies', companies.members, null)
  for (const name of ['constructor', 'toString', '__proto__', 'unknown']) {
    const line = (member: string) => record({ text: `{"keys":{"slug":"a"},"${member}":"x"}` })
    t.throws(() => toRow(line(name)), { message: new RegExp(`^${name}: not a member`) }, name)
    const header = ['keys.slug', name]
    const opened = () => compile(noMapping, 'companies', companies.members, header)
    t.throws(opened, { message: /is no member of companies/ }, `the column ${name}`)
  }
  t.end()
})

t.test('a key of any name is kept', t => {
  const header = ['keys.slug', 'keys.__proto__', 'keys.constructor']
  const { toRow } = compile(noMapping, 'companies', companies.members, header)
  const { keys } = toRow(record({ cells: ['a', 'b', 'c'] }))
  t.strictSame(Object.entries(keys as object), [
    ['slug', 'a'],
    ['__proto__', 'b'],
    ['constructor', 'c'],
  ])
  t.end()
})
