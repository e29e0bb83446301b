// tools/release in a clone of its own: versions, CHANGELOG head, commit and tag; refusals leave nothing behind.
import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { root } from '../house/source.js'

const files = ['package.json', 'package-lock.json', 'CHANGELOG.md', 'README.md', 'deploy', 'tools/release']

t.test('a release writes its version everywhere, once', async t => {
  const clone = t.testdir()
  for (const file of files) cpSync(join(root, file), join(clone, file), { recursive: true })
  const run = (program: string, ...args: string[]) =>
    spawnSync(program, args, {
      cwd: clone,
      encoding: 'utf8',
      env: {
        ...process.env,
        GIT_AUTHOR_NAME: 'a',
        GIT_AUTHOR_EMAIL: 'a@example.invalid',
        GIT_COMMITTER_NAME: 'a',
        GIT_COMMITTER_EMAIL: 'a@example.invalid',
      },
    })
  const read = (file: string) => readFileSync(join(clone, file), 'utf8')
  run('git', 'init', '--quiet', '--initial-branch=main')
  writeFileSync(
    join(clone, 'CHANGELOG.md'),
    '# Changelog\n\n## Unreleased\n\n- A line.\n\n## 0.1.0\n\nFirst.\n',
  )
  run('git', 'add', '--all')
  run('git', 'commit', '--quiet', '--message', 'start')

  t.match(run('tools/release', 'next').stderr, /name a version/)
  writeFileSync(join(clone, 'stray'), '')
  t.match(run('tools/release', '9.8.7', '--no-pack').stderr, /has changes/)
  run('git', 'clean', '--quiet', '--force')

  const made = run('tools/release', '9.8.7', '--no-pack')
  t.equal(made.status, 0, made.stderr)
  t.equal(JSON.parse(read('package.json')).version, '9.8.7')
  t.equal(JSON.parse(read('package-lock.json')).version, '9.8.7')
  t.match(
    read('CHANGELOG.md'),
    /^# Changelog\n\n## Unreleased\n\n## 9\.8\.7 \(\d{4}-\d\d-\d\d\)\n\n- A line\./,
  )
  t.match(read('deploy/helm/tollgate/Chart.yaml'), /^appVersion: "9\.8\.7"$/m)
  t.match(read('deploy/helm/tollgate/values.yaml'), /tag: "9\.8\.7"/)
  t.match(read('README.md'), /tollgate-9\.8\.7\.tgz/)
  t.equal(run('git', 'tag', '--list').stdout.trim(), 'v9.8.7')
  t.equal(run('git', 'status', '--porcelain').stdout, '')

  t.match(run('tools/release', '9.8.7', '--no-pack').stderr, /exists already/)
  t.match(run('tools/release', '9.8.8', '--no-pack').stderr, /nothing under "Unreleased"/)
})
