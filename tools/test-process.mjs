// Runs compiled test files one after the other in this process, which loads what they share once; part of
// tools/run-tests.mjs, which writes the path of each file to the standard input, and reads the results as one group of
// TAP per file. Ends when its input does.
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const timeout = Number(process.env.TEST_FILE_TIMEOUT_MS)

/** The root of all groups, from tap's CommonJS half. */
const root = createRequire(import.meta.url)('tap').t
let current = root
/** A file's `import t from 'tap'` gives the file's group: the other half of tap takes its root from here. */
globalThis[Symbol.for('TAP private constructor')] = new Proxy(
  {},
  {
    get: (_, name) => {
      const value = Reflect.get(current, name, current)
      return typeof value === 'function' ? value.bind(current) : value
    },
    set: (_, name, value) => Reflect.set(current, name, value, current),
    has: (_, name) => Reflect.has(current, name),
  },
)

process.on('uncaughtException', error => current.threw(error))

for await (const file of createInterface({ input: process.stdin })) {
  await root.test(file, { timeout }, async t => {
    current = t
    await import(pathToFileURL(resolve(file)).href)
  })
  current = root
  // a reader knows that a result is whole when the next line comes that is no comment
  root.pragma({ strict: false })
}
