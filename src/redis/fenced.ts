// The refusal of a write by an owner that was replaced. Shard threads know it without loading the Redis client.

/** Redis refused the write: another node owns what was to be written. */
export class Fenced extends Error {
  override readonly name = 'Fenced'
}
