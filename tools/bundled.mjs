// Copies into dist/bundled the few files of large packages that a running Tollgate needs: the helpers that its compiled
// parsers call, and the page that shows the interface; and the guides and tasks as HTML. The packages themselves are for development
// alone.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'

/** Folders of dist that run without development dependencies. */
const running = ['src', 'schemas', 'workers']
const page = [
  'swagger-ui-bundle.js',
  'swagger-ui-bundle.js.LICENSE.txt',
  'swagger-ui.css',
  'favicon-32x32.png',
  'LICENSE',
  'NOTICE',
]
const helperImport = /(from )["']typia\/lib\/internal\/(\w+)["']/g
/** The import that remains after the compiler has replaced its uses. */
const emptyImport = /^import typia from 'typia';$/m

/** Do it, in the output of a compilation; again does no harm. */
export function bundle(root, dist) {
  const require = createRequire(join(root, 'package.json'))
  copyPage(dirname(require.resolve('swagger-ui-dist/package.json')), join(dist, 'bundled', 'swagger-ui'))
  for (const folder of ['guides', 'tasks'])
    writePages(require, join(root, 'docs', folder), join(dist, 'bundled', folder))
  const typia = dirname(require.resolve('typia/package.json'))
  const to = join(dist, 'bundled', 'typia')
  mkdirSync(to, { recursive: true })
  copyFileSync(join(typia, 'LICENSE'), join(to, 'LICENSE'))
  const helpers = new Set()
  for (const folder of running) for (const path of outputs(join(dist, folder))) rewrite(path, to, helpers)
  for (const name of helpers) copyHelper(join(typia, 'lib', 'internal'), to, name)
}

function copyPage(from, to) {
  mkdirSync(to, { recursive: true })
  for (const name of page) copyFileSync(join(from, name), join(to, name))
}

/** Pages of a folder as HTML. Links among guides and tasks stay; what they say of other files of a clone is text there. */
function writePages(require, from, to) {
  const { Marked } = require('marked')
  const renderer = {
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens)
      if (href.startsWith('https://')) return `<a href="${href}">${text}</a>`
      return /^(\.\.\/(guides|tasks)\/)?[a-z-]+\.md$/.test(href)
        ? `<a href="${href.slice(0, -'.md'.length)}">${text}</a>`
        : text
    },
  }
  const marked = new Marked({ renderer })
  mkdirSync(to, { recursive: true })
  for (const name of readdirSync(from)) {
    if (name === 'README.md') continue
    const html = marked.parse(readFileSync(join(from, name), 'utf8'))
    writeFileSync(join(to, name.replace(/\.md$/, '.html')), html)
  }
}

function outputs(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter(entry => entry.isFile() && entry.name.endsWith('.js'))
    .map(entry => join(entry.parentPath, entry.name))
}

/** Have one output import its helpers from the copies. Lines keep their numbers, for the source maps. */
function rewrite(path, to, helpers) {
  const text = readFileSync(path, 'utf8')
  if (!text.includes('typia')) return
  const near = relative(dirname(path), to)
  const changed = text
    .replaceAll(helperImport, (_, from, name) => {
      helpers.add(name)
      return `${from}"${near}/${name}.mjs"`
    })
    .replace(emptyImport, '')
  if (changed !== text) writeFileSync(path, changed)
}

/** A helper, and the helpers that it imports. */
function copyHelper(from, to, name) {
  const text = readFileSync(join(from, `${name}.mjs`), 'utf8')
  const imports = [...text.matchAll(/\bfrom ['"]([^'"]+)['"]/g)].map(match => match[1])
  writeFileSync(join(to, `${name}.mjs`), text.replace(/^\/\/# sourceMappingURL=.*$/m, ''))
  for (const target of imports) {
    const [, next] = /^\.\/(\w+)\.mjs$/.exec(target) ?? []
    if (next === undefined) throw new Error(`the helper ${name} imports ${target}, which is not copied`)
    if (!existsSync(join(to, `${next}.mjs`))) copyHelper(from, to, next)
  }
}
