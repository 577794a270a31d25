import type { Broker } from '../../broker.ts'

/** What the feature needs of a broker that is being opened. */
export type ApprovalParts = Pick<Broker, 'store' | 'sealer' | 'audit' | 'now' | 'usersUrl' | 'liveness'>
