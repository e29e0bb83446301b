// The Dockerfile copies everything that the build reads and that a running service needs.
import t from 'tap'
import { read } from './source.js'

const stages = read('deploy/Dockerfile')
  .split(/^FROM /m)
  .slice(1)
const copied = stages.map(stage =>
  [...stage.matchAll(/^COPY (?:--from=build )?(.*) \S+$/gm)].flatMap(([, names]) =>
    names!.split(' ').map(name => name.replace(/^\/app\//, '')),
  ),
)
const top = (path: string) => path.split('/')[0]!

t.test('the image is built from every folder that the compiler is given', async t => {
  const { include } = JSON.parse(read('tsconfig.json')) as { readonly include: readonly string[] }
  const missing = [...new Set(include.map(top))].filter(folder => !copied[0]!.includes(folder))
  t.same(missing, [])
})

t.test('the image runs with every folder of the package', async t => {
  const { files } = JSON.parse(read('package.json')) as { readonly files: readonly string[] }
  // Types and documents are for those who import the package.
  const needed = files.map(top).filter(name => name !== 'types' && !name.endsWith('.md'))
  t.same(
    needed.filter(name => !copied[1]!.includes(name)),
    [],
  )
})

t.test(
  'all that start a service of its own set the thresholds of the C library that give memory back',
  async t => {
    const given = ['package.json', 'deploy/Dockerfile', 'bench/product.ts', 'docs/settings.md'].map(file => ({
      file,
      thresholds: [...read(file).matchAll(/(MALLOC_\w+_)(?:=|: ')(\d+)/g)].map(([, name, value]) => [
        name,
        value,
      ]),
    }))
    const thresholds = [
      ['MALLOC_MMAP_THRESHOLD_', '262144'],
      ['MALLOC_TRIM_THRESHOLD_', '1048576'],
    ]
    for (const one of given) t.same(one.thresholds, thresholds, one.file)
  },
)
