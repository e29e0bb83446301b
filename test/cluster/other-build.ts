// Loaded before the service (`--import`): the process acts as another build (other-build-hooks.ts).
import { register } from 'node:module'

register('./other-build-hooks.js', import.meta.url)
