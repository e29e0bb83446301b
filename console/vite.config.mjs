// Builds the console into dist/console, and serves it with hot reload against a running Tollgate (npm run console).
import { fileURLToPath } from 'node:url'
import tailwindcss from '@tailwindcss/vite'
import { defineConfig } from 'vite'

const here = path => fileURLToPath(new URL(path, import.meta.url))
const target = process.env.TOLLGATE_URL ?? 'http://127.0.0.1:8080'

/** The console is written for React. Without these lines it runs on React itself, some 60 kB heavier. */
const preact = [
  { find: /^react\/jsx-(dev-)?runtime$/, replacement: 'preact/jsx-runtime' },
  { find: /^react-dom\/test-utils$/, replacement: 'preact/test-utils' },
  { find: /^react-dom\/client$/, replacement: 'preact/compat/client' },
  { find: /^react-dom$/, replacement: 'preact/compat' },
  { find: /^react$/, replacement: 'preact/compat' },
]

export default defineConfig({
  root: here('./'),
  // relative addresses: one build works behind any prefix
  base: './',
  plugins: [tailwindcss()],
  resolve: { alias: process.env.TOLLGATE_CONSOLE_REACT ? [] : preact },
  build: {
    outDir: here('../dist/console'),
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: 'licenses.md' },
    // the directive means nothing in a browser
    rolldownOptions: { checks: { moduleLevelDirective: false } },
  },
  server: {
    host: '127.0.0.1',
    port: 5173,
    // the browser's own origin is passed on, so that changes are taken from here
    proxy: {
      ...Object.fromEntries(
        ['/api', '/session', '/sign-on', '/sign-on-done', '/datastream'].map(path => [
          path,
          {
            target: `${target}/console`,
            ws: path === '/datastream',
            headers: { origin: target },
            changeOrigin: true,
          },
        ]),
      ),
      '/events': { target, changeOrigin: true },
    },
  },
})
