// The monotonic clock shared by all threads of the process.

/** Its milliseconds; only differences mean something. `performance.now()` counts from another zero in each thread. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6
