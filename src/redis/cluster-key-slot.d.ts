// The package has no types of its own.
declare module 'cluster-key-slot' {
  /** The slot of a key in a Redis Cluster, from 0. */
  export default function calculateSlot(key: string): number
}
