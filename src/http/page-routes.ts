import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Broker } from '../broker.ts'
import type { PageLogin } from '../flows/login/login.ts'
import type { AddEndpoint } from './endpoint/endpoint.ts'
import type { RequestLimits } from './endpoint/rate-limit.ts'

/** Routes of a feature outside the API and the console. They are added before the core's. */
export interface PageRoutes {
  /** The patterns of the paths, by which their requests are counted and logged. */
  readonly paths: readonly string[]
  /** Those that are served at the sites of projects too; with `/*` at the end, all below. */
  readonly usersPaths?: readonly string[]
  /** Begins the session of a user who has logged in for pages of these routes. */
  readonly beginSession?: (c: Context, broker: Broker, login: PageLogin) => Promise<void>
  readonly add: (app: OpenAPIHono, broker: Broker, limits: RequestLimits) => void
}

/** Adds endpoints of the API that are called with another token than an API key. */
export type AddEndpoints = (api: {
  readonly app: OpenAPIHono
  readonly add: AddEndpoint
  readonly broker: Broker
  readonly limits: RequestLimits
}) => void
