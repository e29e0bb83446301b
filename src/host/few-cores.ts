// Mechanisms for a machine with few cores, each behind a setting; a mechanism is off where no measured figure of the
// population pays for it. The first thread chooses; threads that start later read its choice.
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'

/** The mechanisms that each thread begins for itself. */
interface Mechanisms {
  /** The projector yields to request threads. */
  readonly threadPriorities: boolean
  /** A thread that grew and became idle collects its heap. */
  readonly idleCollections: boolean
}

const name = 'tollgate mechanisms'
const off: Mechanisms = { threadPriorities: false, idleCollections: false }

/** Choose for this thread, and for those that start after this call. */
export function chooseMechanisms({ threadPriorities, idleCollections }: Mechanisms): void {
  setEnvironmentData(name, { threadPriorities, idleCollections })
}

/** The choice; all off where nobody chose. */
export function mechanisms(): Mechanisms {
  return (getEnvironmentData(name) as Mechanisms | undefined) ?? off
}
