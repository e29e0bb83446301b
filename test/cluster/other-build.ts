// Loaded before the service (`--import`). It changes `linkVersion` in the modules, so the process acts as a build whose
// nodes speak another version.
import { register } from 'node:module'

register('./other-build-hooks.js', import.meta.url)
