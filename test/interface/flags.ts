// Flags and their rules, as tests over HTTP make them.
import type { Client } from '../harness.js'

/** A flag named by its key, and its rules if it has any; returns the flag. */
export async function makeFlag(client: Client, key: string, value: boolean, rules: readonly object[] = []) {
  const made = await client.ok('POST', '/flags', {
    key,
    name: key,
    description: '',
    flag_type: 'boolean',
    default_value: value,
  })
  if (rules.length > 0) await client.ok('PUT', `/flags/${made.id}/rules`, { rules })
  return made
}

/** A rule that answers true. */
export const rule = (name: string, conditions: readonly object[], more: object = {}) => ({
  name,
  priority: 0,
  value: true,
  rule_type: 'standard',
  conditions,
  condition_groups: [],
  ...more,
})
