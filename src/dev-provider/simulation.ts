import type { Hono } from 'hono'
import type { Outgoing } from '../egress/outgoing.ts'

/** What plays the part of services, in development alone. */
export interface Simulation {
  /** Answers some requests of the client in this process. */
  around(outgoing: Outgoing): Outgoing
  /** Served below `/sandbox`. */
  readonly pages: Hono
}
