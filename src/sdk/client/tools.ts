import type { DescribedTool, JsonObject, JsonValue } from '../generated/wire.ts'
import type { Authorization, PendingAuthorization } from './authorization.ts'
import { toAuthorization } from './authorizations.ts'
import { type ChainOptions, type ChainResult, type ChainStep, runChain } from './chain.ts'
import { AuthorizationRequired, GatepassError } from './errors.ts'
import { createList, type List } from './pages.ts'
import { type SharedRequirements, toSharedRequirements } from './requirements.ts'
import { TOOL_FORMATS, type Tool, toTool } from './tool.ts'
import {
  type CallOptions,
  callBody,
  callRepetition,
  type NamesUser,
  type OnceOptions,
  type UserBinding,
} from './tool-call.ts'
import { type Artifact, type ScheduledOutcome, type ToolOutcome, toOutcome } from './tool-outcome.ts'
import { createToolStream, type ToolStream } from './tool-stream.ts'
import type { RequestOptions, Transport } from './transport.ts'

/** Which tools a list has: those that match all members. */
export interface ToolFilter {
  /** Words that must all occur in the tool's names, its description or its tags. */
  readonly q?: string | undefined
  /** Any of these tags. */
  readonly tag?: string | readonly string[] | undefined
  /** Tools that need this provider. */
  readonly provider?: string | undefined
  /** Whether all requirements are met, for `user` if one is named. */
  readonly met?: boolean | undefined
  /** Tools of this toolkit. */
  readonly toolkit?: string | undefined
  /** Tools of this toolset, one version of each. */
  readonly toolset?: string | undefined
  /** Every version of each tool; only the newest otherwise. */
  readonly allVersions?: boolean | undefined
}

export interface ExecuteOptions extends CallOptions, OnceOptions {
  /**
   * `run`: a call that a policy wants approved is kept, and runs when it is approved. The outcome is then
   * `requires_authorization`, and `gatepass.executions.get(executionId)` has the result later.
   */
  readonly whenApproved?: 'run' | undefined
}

export interface RunOptions extends ExecuteOptions {
  /** Not allowed: `run` waits for the result. `execute` schedules a run. */
  readonly runAt?: undefined
  /** Not allowed either: `execute` has a call kept. */
  readonly whenApproved?: undefined
  /**
   * Called when the user must approve first: show them `authorization.url`. The run then waits until they have
   * approved, and continues. Without it `run` throws `AuthorizationRequired`.
   */
  readonly consent?: ((authorization: PendingAuthorization) => unknown) | undefined
  /** The same when a person must approve exactly this call; `consent` by default. */
  readonly approval?: ((approval: PendingAuthorization) => unknown) | undefined
}

/** Options of `authorize` for one tool. */
export type AuthorizeToolOptions = RequestOptions & Pick<CallOptions, 'account' | 'accounts' | 'nextUri'>

/** How often one `run` asks for consent: a user may approve a part each time. */
const MAX_CONSENTS = 3

/** Lists, authorizes and runs the tools of all sources. */
export interface Tools<Who extends UserBinding = NamesUser> {
  /** The known tools; with a user, whether the requirements of each are met for them. */
  list(filter?: ToolFilter & Who): List<Tool>
  /** One tool, by any of its names. */
  get(name: string, options?: RequestOptions & Who): Promise<Tool>
  /** What several tools need together, and whether it is met, for the user if one is named. */
  requirements(names: readonly string[], options?: RequestOptions & Who): Promise<SharedRequirements>
  /**
   * Begins the authorization that a tool needs, for all its providers. The status is `completed` already when nothing
   * is missing.
   */
  authorize(name: string, options?: AuthorizeToolOptions & Who): Promise<Authorization>
  /**
   * Begins one authorization, with one link, for all that several tools need. `undefined` when nothing is missing.
   * @throws GatepassError `provider_incomplete` when a provider is not set up, so that there is no link
   */
  authorize(
    names: readonly string[],
    options?: RequestOptions & Who,
  ): Promise<PendingAuthorization | undefined>
  /** Schedules a run of a tool. */
  execute(
    name: string,
    input: object,
    options: ExecuteOptions & Who & { readonly runAt: Date | string },
  ): Promise<ScheduledOutcome | Exclude<ToolOutcome<never>, { outcome: 'value' | 'artifact' }>>
  /**
   * Runs a tool. Failures of the tool, a missing consent and the refusal of a policy (an error of the kind
   * `CONTEXT_DENIED`) are outcomes, not errors: switch on `outcome`.
   * @throws GatepassError when Gatepass refuses the request: an unknown tool, a malformed request
   */
  execute<Value = JsonValue>(
    name: string,
    input?: object,
    options?: ExecuteOptions & Who & { readonly runAt?: undefined },
  ): Promise<ToolOutcome<Value>>
  /**
   * Runs a tool and returns its value.
   * @throws ToolError when the tool fails
   * @throws AuthorizationRequired when the user must approve first and there is no `consent`, or three consents were not
   * enough
   * @throws AuthorizationFailed, AuthorizationTimeout when there is a `consent` and the user does not approve
   * @throws TypeError when there is a `runAt` or a `whenApproved`
   */
  run<Value = JsonValue>(name: string, input?: object, options?: RunOptions & Who): Promise<Value>
  /**
   * Runs a tool and streams its progress and partial results. Not repeated once it has begun, because Gatepass does not keep
   * a stream.
   */
  stream<Value = JsonValue>(name: string, input?: object, options?: CallOptions & Who): ToolStream<Value>
  /** Runs tools one after the other; the first that fails ends the chain. Switch on `status`. */
  chain<Value = JsonValue>(
    steps: readonly ChainStep[],
    options?: ChainOptions & Who,
  ): Promise<ChainResult<Value>>
  /** Continues a chain by its `resumeToken`, in the process that began it or in another one. */
  resumeChain<Value = JsonValue>(
    resumeToken: string,
    options?: ChainOptions & Who,
  ): Promise<ChainResult<Value>>
}

export function createTools<Who extends UserBinding>(
  transport: Transport,
  user: string | undefined,
): Tools<Who> {
  const userOf = (options: UserBinding) => user ?? options.user

  async function execute(
    name: string,
    input: object = {},
    options: ExecuteOptions & UserBinding & { readonly runAt?: Date | string | undefined } = {},
  ): Promise<ToolOutcome | ScheduledOutcome> {
    const { runAt } = options
    const answer = await transport.callWithHeaders('executeTool', {
      body: {
        tool_name: name,
        input: input as JsonObject, // what is not JSON is left out or refused
        run_at: runAt instanceof Date ? runAt.toISOString() : runAt,
        when_approved: options.whenApproved,
        ...callBody(options, user),
      },
      ...callRepetition(options),
      options,
    })
    const { execution_id: executionId, output } = answer.body
    // only a scheduled run has no output yet
    if (runAt !== undefined && output === undefined) return { outcome: 'scheduled', executionId }
    return toOutcome(transport, answer)
  }

  async function run(
    name: string,
    input: object = {},
    options: RunOptions & UserBinding = {},
  ): Promise<unknown> {
    const { consent, approval = consent, signal } = options
    // callers without types can pass them: each pass of the loop would keep one more run
    for (const option of ['runAt', 'whenApproved'] as const)
      if (options[option] !== undefined)
        throw new TypeError(`run waits for the result: use execute with ${option}.`)
    async function showAndWait(missing: PendingAuthorization, consents: number): Promise<void> {
      const show = missing.kind === 'approval' ? approval : consent
      if (show === undefined || consents >= MAX_CONSENTS) throw new AuthorizationRequired(missing)
      await show(missing)
      await missing.wait({ signal })
    }
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
          await showAndWait(result.authorization, consents)
      }
    }
  }

  async function requirements(
    names: readonly string[],
    options: RequestOptions & UserBinding,
    authorize: boolean,
  ): Promise<SharedRequirements> {
    const wire = await transport.call('getToolRequirements', {
      body: { tool_names: names, user_id: userOf(options), authorize },
      options,
    })
    return toSharedRequirements(transport, wire)
  }

  async function authorize(
    tool: string | readonly string[],
    options: AuthorizeToolOptions & UserBinding = {},
  ): Promise<Authorization | undefined> {
    if (typeof tool === 'object') {
      const { authorization, authorizations } = await requirements(tool, options, true)
      const missing = authorizations.find(({ met }) => !met)
      if (authorization !== undefined || missing === undefined) return authorization
      throw new GatepassError(
        'provider_incomplete',
        missing.statusReason ?? `The provider "${missing.provider}" cannot be authorized.`,
      )
    }
    const { user_id, account, accounts, next_uri } = callBody(options, user)
    const wire = await transport.call('authorizeTool', {
      body: { tool_name: tool, user_id, account, accounts, next_uri },
      options,
    })
    return toAuthorization(transport, wire)
  }

  return {
    list: (filter = {} as ToolFilter & Who) =>
      createList<DescribedTool, Tool>((part, options) => {
        const { q, tag, provider, met, toolkit, toolset, allVersions } = filter
        const query = {
          q,
          tag: typeof tag === 'object' ? tag.join(',') : tag,
          provider,
          met: toFlag(met),
          toolkit,
          toolset,
          include_all_versions: toFlag(allVersions),
          user_id: userOf(filter),
          include_format: TOOL_FORMATS,
          ...part,
        }
        return transport.call('listTools', { query, options })
      }, toTool),
    async get(name, options = {} as RequestOptions & Who) {
      const query = { user_id: userOf(options), include_format: TOOL_FORMATS }
      return toTool(await transport.call('getTool', { params: { name }, query, options }))
    },
    requirements: (names, options = {} as RequestOptions & Who) => requirements(names, options, false),
    authorize: authorize as Tools<Who>['authorize'], // its overloads tell one tool from several
    execute: execute as Tools<Who>['execute'], // its overloads state which outcomes are possible
    run: run as Tools<Who>['run'], // the caller names the type of the value
    stream: (name, input = {}, options = {} as CallOptions & Who) =>
      createToolStream(
        transport,
        () =>
          transport.open('streamTool', {
            body: { toolId: name, args: input as JsonObject, ...callBody(options, user) },
            options,
          }),
        options.signal,
      ),
    chain: (steps, options = {} as ChainOptions & Who) => runChain(transport, { steps }, options, user),
    resumeChain: (resume, options = {} as ChainOptions & Who) =>
      runChain(transport, { resume }, options, user),
  }
}

function toFlag(value: boolean | undefined): 'true' | 'false' | undefined {
  return value === undefined ? undefined : value ? 'true' : 'false'
}
