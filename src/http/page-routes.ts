import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Broker } from '../broker.ts'
import type { PageLogin } from '../flows/login.ts'

/** Routes of a feature outside the API and the console. They are added before the core's. */
export interface PageRoutes {
  /** The patterns of the paths, by which their requests are counted and logged. */
  readonly paths: readonly string[]
  /** Those that are served at the sites of projects too; with `/*` at the end, all below. */
  readonly usersPaths?: readonly string[]
  /** Keeps the session of a user who has logged in for pages of these routes. */
  readonly keepLogin?: (c: Context, broker: Broker, login: PageLogin) => Promise<void>
  readonly add: (app: OpenAPIHono, broker: Broker) => void
}
