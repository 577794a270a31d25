import { perBroker } from '../../flows/per-broker.ts'

/** Sends events. It has its own connections, so that slow receivers take none from providers and workers. */
export const receiversOf = perBroker((broker) => broker.createOutgoing())
