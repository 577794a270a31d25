import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Broker } from '../broker.ts'
import type { PageLogin } from '../flows/login/login.ts'
import type { AddEndpoint } from './endpoint/endpoint.ts'
import type { RequestLimits } from './endpoint/rate-limit.ts'
import type { Html } from './pages/layout.ts'
import type { Words } from './pages/texts/words.ts'

/** Routes of a feature outside the API and the console. They are added before the core's. */
export interface PageRoutes {
  /** The patterns of the paths, by which their requests are counted and logged. */
  readonly paths: readonly string[]
  /** Those that are served at the sites of projects too; with `/*` at the end, all below. */
  readonly usersPaths?: readonly string[]
  /** Begins the session of a user who has logged in for pages of these routes. */
  readonly beginSession?: (c: Context, broker: Broker, login: PageLogin) => Promise<void>
  /** What the users' own page (`/me`) shows of the feature. */
  readonly ownPage?: OwnPagePart
  /** @param parts what the features show on the users' own page. */
  readonly add: (
    app: OpenAPIHono,
    broker: Broker,
    limits: RequestLimits,
    parts: readonly OwnPagePart[],
  ) => void
}

/** A part of the users' own page, which the feature that has that page shows. */
export interface OwnPagePart {
  /** What needs the user now, and the rest; each is empty where there is nothing. */
  readonly show: (
    broker: Broker,
    user: OwnPageUser,
  ) => Promise<{ readonly first: Html | ''; readonly rest: Html | '' }>
  /** A form of the part, posted to `/me/<path>/:id`. Returns what the page then says; `undefined`: nothing was changed. */
  readonly form: {
    readonly path: string
    readonly send: (broker: Broker, user: OwnPageUser, id: string) => Promise<OwnPageNote | undefined>
  }
}

export interface OwnPageUser {
  readonly projectId: string
  readonly userId: string
  /** The rights of the session. */
  readonly may: readonly string[]
  readonly words: Words
  readonly csrf: string
}

/** Names a sentence of the page. */
export type OwnPageNote = 'approval_removed' | 'agent_unblocked'

/** Adds endpoints of the API that are called with another token than an API key. */
export type AddEndpoints = (api: {
  readonly app: OpenAPIHono
  readonly add: AddEndpoint
  readonly broker: Broker
  readonly limits: RequestLimits
}) => void
