// Runs the commands of a page of documentation as they stand, and holds what they print to what the page says.
import { spawn } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { root } from '../house/source.js'

/** A line that says what comes back, `…` standing for what differs. */
const asPattern = (line: string): RegExp =>
  new RegExp(
    `^${line
      .slice(2)
      .split('…')
      .map(part => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
      .join('.*')}`,
  )

/** Answers begin so, and what programs print does not look like a sentence about the next command. */
const isPromise =
  /^# (\{|\[|\d+$|remaining |plan\.created |refused: |companies: |Nothing differs|tollgate_build_info)/

/**
 * Run the `sh` blocks of a page in one shell. Lines that begin with `# ` and look like an answer say what comes back. A block
 * of another language with a file name is written to that file before.
 *
 * page  its text.
 * at    the address of a Tollgate, for `localhost:8080`; its data directory is `data` in the directory.
 */
export async function runPage(t: Test, page: string, directory: string, at: string): Promise<void> {
  for (const [, name, text] of page.matchAll(/```\w+ (\S+)\n(.*?)```/gs))
    writeFileSync(join(directory, name!), text!)
  await mkdir(join(directory, 'node_modules', '@tollgate'), { recursive: true })
  symlinkSync(join(root, 'clients', 'typescript'), join(directory, 'node_modules', '@tollgate', 'client'))
  const blocks = [...page.matchAll(/```sh\n(.*?)```/gs)].map(match => match[1]!)
  const script = blocks
    .join('\n')
    .replaceAll('localhost:8080', new URL(at).host)
    .replaceAll('npx tollgate', join(root, 'bin', 'tollgate'))
  const { status, stdout, stderr } = await bash(script, directory)
  t.equal(status, 0, `${stderr}\n${stdout.slice(-2_000)}`)
  const answers = stdout.split('\n').filter(line => line !== '')
  let next = 0
  for (const line of script.split('\n').filter(one => isPromise.test(one))) {
    const found = answers.findIndex((answer, index) => index >= next && asPattern(line).test(answer))
    t.ok(
      found >= 0,
      `${line}\n${answers
        .slice(next, next + 3)
        .join('\n')
        .slice(0, 1_500)}`,
    )
    next = found < 0 ? next : found + 1
  }
}

function bash(script: string, cwd: string) {
  return new Promise<{ status: number | null; stdout: string; stderr: string }>(resolve => {
    const child = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
      cwd,
      timeout: 120_000,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', piece => {
      stdout += piece
    })
    child.stderr.on('data', piece => {
      stderr += piece
    })
    child.on('close', status => resolve({ status, stdout, stderr }))
  })
}
