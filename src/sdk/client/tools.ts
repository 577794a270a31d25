import type { Authorization, PendingAuthorization } from './authorization.ts'
import { type AuthorizationWire, toAuthorization } from './authorizations.ts'
import { AuthorizationRequired } from './errors.ts'
import { createList, type List, type PageWire } from './pages.ts'
import { TOOL_FORMATS, type Tool, type ToolWire, toTool } from './tool.ts'
import {
  type By,
  type CallOptions,
  callBody,
  callRepetition,
  type NamesUser,
  type OnceOptions,
} from './tool-call.ts'
import {
  type Artifact,
  type ExecuteWire,
  type ScheduledOutcome,
  type ToolOutcome,
  toOutcome,
} from './tool-outcome.ts'
import type { RequestOptions, Transport } from './transport.ts'

/** Which tools. */
export interface ToolFilter {
  /** Words that all stand in the tool's names, its description or its tags. */
  readonly q?: string | undefined
  /** Any of these tags. */
  readonly tag?: string | readonly string[] | undefined
  /** Tools that need this provider. */
  readonly provider?: string | undefined
  /** Whether all requirements are met, for `user` if one is named. */
  readonly met?: boolean | undefined
  /** Tools of this toolkit. */
  readonly toolkit?: string | undefined
  /** Every version of each tool; only the newest otherwise. */
  readonly allVersions?: boolean | undefined
}

export interface ExecuteOptions extends CallOptions, OnceOptions {}

export interface RunOptions extends ExecuteOptions {
  /**
   * Called when the user must approve first: show them `authorization.url`. The run then waits until they have approved,
   * and goes on. Without it `run` throws `AuthorizationRequired`.
   */
  readonly consent?: ((authorization: PendingAuthorization) => unknown) | undefined
}

/** What the user of `authorize` may choose. */
export type AuthorizeToolOptions = RequestOptions & Pick<CallOptions, 'account' | 'accounts' | 'nextUri'>

/** How often `run` asks for consent: a user who approves a part is asked once more for the rest. */
const MAX_CONSENTS = 3

/** The tools of all sources. */
export interface Tools<Who extends By = NamesUser> {
  /** The known tools; with a user, whether the requirements of each are met for them. */
  list(filter?: ToolFilter & Who): List<Tool>
  /** One tool, by any of its names. */
  get(name: string, options?: RequestOptions & Who): Promise<Tool>
  /** Begins the authorization that a tool needs, at all its providers. It is `completed` when nothing is missing. */
  authorize(name: string, options?: AuthorizeToolOptions & Who): Promise<Authorization>
  /** Schedules a run. */
  execute(
    name: string,
    input: object,
    options: ExecuteOptions & Who & { readonly runAt: Date | string },
  ): Promise<ScheduledOutcome | Exclude<ToolOutcome<never>, { outcome: 'value' | 'artifact' }>>
  /**
   * Runs a tool. Failures of the tool and a missing consent are outcomes, not errors: switch on `outcome`.
   * @throws GatepassError when Gatepass refuses the request: an unknown tool, a policy
   */
  execute<Value = unknown>(
    name: string,
    input?: object,
    options?: ExecuteOptions & Who & { readonly runAt?: undefined },
  ): Promise<ToolOutcome<Value>>
  /**
   * Runs a tool and returns its value.
   * @throws ToolError when the tool fails
   * @throws AuthorizationRequired when the user must approve first and there is no `consent`
   * @throws AuthorizationFailed, AuthorizationTimeout when there is a `consent` and the user does not approve
   */
  run<Value = unknown>(name: string, input?: object, options?: RunOptions & Who): Promise<Value>
}

export function createTools<Who extends By>(transport: Transport, user: string | undefined): Tools<Who> {
  const userOf = (options: By) => user ?? options.user

  async function execute(
    name: string,
    input: object = {},
    options: ExecuteOptions & By & { readonly runAt?: Date | string | undefined } = {},
  ): Promise<ToolOutcome | ScheduledOutcome> {
    const { runAt } = options
    const answer = await transport.json<ExecuteWire>({
      method: 'POST',
      path: '/v1/tools/execute',
      body: {
        tool_name: name,
        input,
        run_at: runAt instanceof Date ? runAt.toISOString() : runAt,
        ...callBody(options, user),
      },
      ...callRepetition(options),
      options,
    })
    const { execution_id: executionId, output } = answer.body
    // only a run that was put off has neither an output nor an end yet
    if (runAt !== undefined && output === undefined) return { outcome: 'scheduled', executionId }
    return toOutcome(transport, answer)
  }

  async function run(name: string, input: object = {}, options: RunOptions & By = {}): Promise<unknown> {
    const { consent, signal } = options
    for (let consents = 0; ; consents++) {
      const result = await execute(name, input, options)
      switch (result.outcome) {
        case 'value':
          return result.value
        case 'artifact':
          return result.artifact satisfies Artifact
        case 'error':
          throw result.error
        case 'requires_authorization':
          if (consent === undefined || consents >= MAX_CONSENTS)
            throw new AuthorizationRequired(result.authorization)
          await consent(result.authorization)
          await result.authorization.wait({ signal })
      }
    }
  }

  return {
    list: (filter = {} as ToolFilter & Who) =>
      createList<ToolWire, Tool>(async (part, options) => {
        const { q, tag, provider, met, toolkit, allVersions } = filter
        const query = {
          q,
          tag: typeof tag === 'object' ? tag.join(',') : tag,
          provider,
          met,
          toolkit,
          include_all_versions: allVersions,
          user_id: userOf(filter),
          include_format: TOOL_FORMATS,
          ...part,
        }
        const request = { method: 'GET', path: '/v1/tools', query, repetition: 'safe', options } as const
        return (await transport.json<PageWire<ToolWire>>(request)).body
      }, toTool),
    async get(name, options = {} as RequestOptions & Who) {
      const { body } = await transport.json<ToolWire>({
        method: 'GET',
        path: `/v1/tools/${encodeURIComponent(name)}`,
        query: { user_id: userOf(options), include_format: TOOL_FORMATS },
        repetition: 'safe',
        options,
      })
      return toTool(body)
    },
    async authorize(name, options = {} as AuthorizeToolOptions & Who) {
      const { user_id, account, accounts, next_uri } = callBody(options, user)
      const { body } = await transport.json<AuthorizationWire>({
        method: 'POST',
        path: '/v1/tools/authorize',
        body: { tool_name: name, user_id, account, accounts, next_uri },
        repetition: 'safe',
        options,
      })
      return toAuthorization(transport, body)
    },
    execute: execute as Tools<Who>['execute'], // its overloads state which outcomes are possible
    run: run as Tools<Who>['run'], // the caller names the type of the value
  }
}
