import pg from 'pg'
import { vi } from 'vitest'

// Statements about the two tables whose rows belong to an owner (`src/store/partitions.ts`).

export const OF_OWNERS = /\b(connections|authorizations)\b/

/** Statements that know no owner: they read or write all partitions or shards. */
export const OF_ALL_OWNERS: readonly { readonly statement: RegExp; readonly reason: string }[] = [
  {
    statement:
      /^select .+ from "connections" where .*"project_id" = \$1(?! and \(?"connections"."user_id" =)/s,
    reason: 'a list of the connections of a project or a provider, and its count',
  },
  {
    statement: /^select count\(\*\) from "authorizations" where \("authorizations"."project_id" = \$1 and/,
    reason: 'the metric of pending authorizations',
  },
  {
    statement: /^select .+ from "connections" where \("connections"."status" = 'active' and/,
    reason: 'background: what is due for a refresh',
  },
  {
    statement: /^select "(id|poll_at)" from "authorizations" where \(?"authorizations"."poll_at" <= \$1/,
    reason: 'background: device codes that are due',
  },
  {
    statement:
      /^select .+ from "authorizations" where \("authorizations"."response" is not null and "authorizations"."deadline" <= \$1\)/,
    reason: 'background: responses that no user has answered in time',
  },
  {
    statement:
      /^select "id", "user_id", "status", .+ from "authorizations" where .*"project_id" = \$1.* limit/,
    reason: 'pages of the console: the latest authorizations of a project, in the order of the index',
  },
  {
    statement:
      /^select "id" from "connections" where \("connections"."provider_uid" = \$1 and "connections"."provider_identity" = \$2\) limit 1/,
    reason: 'whether a provider entry has a connection: only `explain` and starts need it, and one is enough',
  },
  {
    statement:
      /^select .+ from "authorizations" where \("authorizations"."expires_at" > \$1 and .+"project_id"/,
    reason: 'what `doctor` reads: the latest that have ended',
  },
  {
    statement:
      /^select "id", "expires_at" from "authorizations" where .+ in \(select "project_id" from "webhooks"\)/,
    reason: 'background: those that have expired in projects with a webhook',
  },
  {
    statement: /"claimed_by" not in \(select "processes"."id"/,
    reason: 'background: claims of processes that have died',
  },
  {
    statement: /^(update|delete from) "authorizations" .*where \("authorizations"."id" in \(select/,
    reason: 'background: the sweep',
  },
  {
    statement: /^delete from "connections" where "connections"."id" in \(select .+"provider_uid" = \$1/s,
    reason: 'an administrator deletes a provider',
  },
  {
    statement:
      /^select .+ from "authorizations" where \("authorizations"."response" is not null and "authorizations"."deadline" > '0'/,
    reason: 'an administrator deletes a provider: what is held at it is revoked',
  },
]

export interface SentStatement {
  readonly text: string
  readonly values: readonly unknown[]
}

/** Every statement, in the order in which they were sent. */
export function watchStatements(): readonly SentStatement[] {
  const watched: SentStatement[] = []
  const query: (...args: unknown[]) => unknown = pg.Client.prototype.query
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    const [asked] = args as [string | { readonly text: string; readonly values?: readonly unknown[] }]
    if (typeof asked !== 'string') watched.push({ text: asked.text, values: [...(asked.values ?? [])] })
    return query.apply(this, args)
  } as typeof pg.Client.prototype.query)
  return watched
}
