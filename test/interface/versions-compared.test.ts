// Conditions that compare a trait as a version (FE-69): checks, the explanation, the catalogue as a file.
import t from 'tap'
import { startHere } from '../harness.js'

t.test('FE-69 a rule by the version of a client', async t => {
  const { client } = await startHere(t)
  const company = (slug: string, app_version?: string) =>
    client.ok('POST', '/companies', {
      keys: { slug },
      traits: app_version === undefined ? {} : { app_version },
    })
  await company('old', '1.9')
  await company('new', 'v1.10.0')
  await company('candidate', '1.10.0-rc.1')
  await company('odd', 'nightly')
  await company('none')
  const [trait] = await client.ok('GET', '/entity-trait-definitions?q=app_version')
  const flag = await client.ok('POST', '/flags', { key: 'gate', default_value: false })
  const rules = (more: object) =>
    client.put(`/flags/${flag.id}/rules`, {
      rules: [
        {
          name: 'by version',
          priority: 1,
          value: true,
          conditions: [
            { condition_type: 'trait', operator: 'gte', trait_id: trait.id, trait_value: '1.10', ...more },
          ],
        },
      ],
    })
  const on = async () => {
    const found: string[] = []
    for (const slug of ['old', 'new', 'candidate', 'odd', 'none'])
      if ((await client.ok('POST', '/flags/gate/check', { company: { slug } })).value) found.push(slug)
    return found
  }
  const as = { comparable_type: 'version' }
  const put = await rules(as)
  t.equal(put.status, 200)
  t.match(JSON.stringify(put.body), '"comparable_type":"version"')
  t.same(await on(), ['new'])
  await rules({ ...as, operator: 'lt' })
  t.same(await on(), ['old', 'candidate'])
  await rules({ ...as, operator: 'ne' })
  t.same(await on(), ['old', 'candidate', 'odd', 'none'])
  await rules({ ...as, operator: 'is_empty' })
  t.same(await on(), ['odd', 'none'])
  await rules({})
  t.same(await on(), ['old', 'new', 'candidate', 'odd'], 'as texts, byte by byte')
  t.equal((await rules({ comparable_type: 'semver' })).status, 400)

  await rules(as)
  const told = await client.ok('POST', '/flags/gate/explain', { company: { slug: 'new' } })
  t.match(JSON.stringify(told), /trait app_version as version/)
  const catalog = await client.ok('GET', '/catalog')
  t.match(JSON.stringify(catalog), '"comparable_type":"version"')
  const diff = await client.ok('POST', '/catalog/diff', { catalog })
  t.same(diff.changes, [], 'the file says the same')
})
