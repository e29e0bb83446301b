// Loaded before the service (`--import`): its modules are read as those of a build whose nodes speak another version.
import { register } from 'node:module'

register('./other-build-hooks.js', import.meta.url)
