// The error of a write by an owner that was replaced. Shard threads use it without loading the Redis client.

/** Redis refused the write: another node owns the data. */
export class Fenced extends Error {
  override readonly name = 'Fenced'
}
