// Loaded before tap in every process of a test run (tools/run-tests.mjs). tap follows every promise and socket of a process
// by a hook, to know the test that an uncaught error belongs to. That is a fifth of the CPU time of a file that starts the
// service. One file at a time runs in a process, so such an error belongs to it.
import asyncHooks from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'

const { createHook } = asyncHooks
const none = { enable: () => none, disable: () => none }
asyncHooks.createHook = hooks => (new Error().stack?.includes('async-hook-domain') ? none : createHook(hooks))
syncBuiltinESMExports()
