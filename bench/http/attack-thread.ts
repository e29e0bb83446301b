// The thread that attacks: its own work delays no request that the bench measures, and the service goes before it, since an
// attacker has a machine of its own.
import { parentPort, workerData } from 'node:worker_threads'
import { afterRequests, lowerThread } from '../../src/host/thread-priority.js'
import { attack, type Callers } from './attack-kinds.js'

/** The task of the thread. */
export interface AttackJob {
  readonly kind: string
  readonly callers: Callers
  readonly forMs: number
}

lowerThread(afterRequests)
const { kind, callers, forMs } = workerData as AttackJob
parentPort!.postMessage(await attack(kind, callers, performance.now() + forMs))
