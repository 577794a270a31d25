import { isDeepStrictEqual } from 'node:util'
import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { RequestedUse } from '../../domain/requested-use.ts'
import { hintsOf, isSafeToRepeat, type JsonSchema, toolId } from '../../domain/tool.ts'
import { type ApprovedUse, approvedConnection, approveUse } from '../../flows/approve-use.ts'
import { withOwners } from '../../flows/owner-of-use.ts'
import { isRecord } from '../../parsing/json-record.ts'
import type { ApprovalView } from '../../services/call-approvals.ts'
import type { Release } from '../../services/release.ts'
import { approve } from '../../services/request-context.ts'
import { ApprovalMissing, type ApprovalRules, type NeededApprovals } from '../../services/use-gate.ts'
import { releasedProvider } from '../../services/used-provider.ts'
import { runDefinition } from '../definition.ts'
import { type AuthorizationRequired, ownError } from '../tool-answer.ts'
import type { ExecutionOutcome } from './execution.ts'
import {
  type CheckedToolCall,
  type FoundRunner,
  gateRefusal,
  requirementsNotMet,
  type ToolContext,
  toolContext,
  useOfTool,
} from './preconditions.ts'
import {
  authorizationRequired,
  authorizeTool,
  findToolTokens,
  type ToolNeed,
  type ToolToken,
} from './tool-tokens.ts'

// Asks people before a call, where a rule wants that. Everything else has been checked before: the tokens are there, and
// the worker is called next. No token leaves this process before the approval is spent.

/** A call with all that it needs, right before its worker is called. */
export interface ReadyCall {
  readonly runner: FoundRunner
  readonly context: Extract<ToolContext, { outcome: 'complete' }>
  readonly tokens: readonly ToolToken[]
}

interface HeldCall {
  readonly call: CheckedToolCall
  readonly needs: readonly ToolNeed[]
  readonly use: RequestedUse
  readonly executionId: string
}

/** The rules or the tokens may change between the question and the run; then the question is put again. */
const TRIES = 5

/**
 * Runs a tool in a project whose rules want calls approved: checks all else, then asks a person or finds the approval,
 * spends it, and calls `run`. Throws what `CallApprovals.ask` and the gate throw.
 */
export async function runWhenApproved(
  broker: Broker,
  rules: ApprovalRules | undefined,
  { call, needs, use, executionId }: HeldCall,
  run: (ready: ReadyCall, executionId: string) => Promise<ExecutionOutcome>,
): Promise<ExecutionOutcome> {
  const { inputFault, runner, tool } = call
  for (let tries = 0; tries < TRIES; tries++) {
    const current = tries === 0 ? rules : await broker.gate.approvals(tool.projectId)
    if (tries > 0) await broker.gate.check(use)
    const found = await findToolTokens(broker, call, needs)
    if (found.outcome === 'authorization_required') {
      await supersedeHeld(broker, call)
      return authorizationRequired(broker, found.authorization)
    }
    if (inputFault !== undefined) return ownError(inputFault)
    if (runner.outcome === 'none') return requirementsNotMet(runner.message)
    const context = await toolContext(broker, call)
    if (context.outcome === 'incomplete') return requirementsNotMet(context.message)
    const releases = found.tokens.map(({ release }) => release)
    const { metadata } = context
    const needed = neededApprovals(current, use, releases)
    const approved = await approveCall(
      broker,
      needed,
      { call, needs, use, executionId },
      { runner, releases, metadata },
    )
    if (approved.outcome === 'authorization_required') return approved
    const outcome = await approve(approved.rules, async () => {
      const acquired = await authorizeTool(broker, call, needs)
      if (acquired.outcome === 'authorization_required')
        return authorizationRequired(broker, acquired.authorization)
      const { tokens } = acquired
      if (!isDeepStrictEqual(tokens.map(connectionOf), found.tokens.map(connectionOf))) return undefined
      // before the approval is spent, which a run that a quota refuses would lose
      if (!(await mayStart(broker, use))) return undefined
      return approved.spend(executionId, (id) => run({ runner, context, tokens }, id))
    })
    if (outcome !== undefined) return outcome
  }
  throw new BrokerError(
    'store_unavailable',
    'The rules or the connection keep changing. Try again shortly.',
    {
      retryAfter: 1,
    },
  )
}

/** `false`: a person must be asked first, since a quota has been used up meanwhile. */
async function mayStart({ gate }: Broker, use: RequestedUse): Promise<boolean> {
  try {
    await gate.checkStart(use)
    return true
  } catch (error) {
    if (error instanceof ApprovalMissing) return false
    throw error
  }
}

export function connectionOf({ release }: ToolToken): string {
  return release.connection.id
}

/**
 * Asks about a run that is being scheduled, or finds its approval; nothing runs. Returns the outcome of a run that cannot be
 * scheduled, and `undefined` if it needs no approval.
 */
export async function askAhead(
  broker: Broker,
  call: CheckedToolCall,
  needs: readonly ToolNeed[],
): Promise<ApprovedUse | ExecutionOutcome | undefined> {
  const { tool, userId, input, runner } = call
  const rules = await broker.gate.approvals(tool.projectId)
  if (rules === undefined || runner.outcome === 'none') return undefined
  const executionId = newId('exec')
  const named = useOfTool(tool, needs, runner, { userId, executionId, input })
  const use = await withOwners(broker, named, needs, call)
  const found = await findToolTokens(broker, call, needs)
  if (found.outcome === 'authorization_required') return authorizationRequired(broker, found.authorization)
  const releases = found.tokens.map(({ release }) => release)
  const needed = neededApprovals(rules, use, releases)
  if (needed.rules.length === 0) return undefined
  const context = await toolContext(broker, call)
  if (context.outcome === 'incomplete') return requirementsNotMet(context.message)
  try {
    await broker.gate.check(use)
    const { metadata } = context
    return await approveCall(
      broker,
      needed,
      { call, needs, use, executionId },
      { runner, releases, metadata },
    )
  } catch (error) {
    const refused = gateRefusal(error)
    if (refused === undefined) throw error
    return ownError(refused)
  }
}

/** Ends the approval of a run whose connection is gone: a user must consent first, to what may be another account. */
async function supersedeHeld({ approvals }: Broker, { tool, later }: CheckedToolCall): Promise<void> {
  if (later?.approvalId === undefined) return
  await approvals?.withdraw(tool.projectId, later.approvalId)
  throw new BrokerError(
    'denied_by_policy',
    'The connection that the approved run was to use is gone. (approval_superseded)',
  )
}

function neededApprovals(
  rules: ApprovalRules | undefined,
  use: RequestedUse,
  releases: readonly Release[],
): NeededApprovals {
  return rules?.matching({ ...use, providers: releases.map(releasedProvider) }) ?? { rules: [], versions: [] }
}

/**
 * Finds the approval of the call, or asks for it. Throws `denied_by_policy`, `policy_check_failed`, `too_many_pending`
 * and `invalid_input`.
 */
async function approveCall(
  broker: Broker,
  needed: NeededApprovals,
  { call, use, executionId }: HeldCall,
  {
    runner,
    releases,
    metadata,
  }: {
    readonly runner: FoundRunner
    readonly releases: readonly Release[]
    readonly metadata: ReadyCall['context']['metadata']
  },
): Promise<ApprovedUse | AuthorizationRequired> {
  const { runAt, approvalId } = call.later ?? {}
  // a run that waited for an approval has spent none, also if its rule is gone since
  if (needed.rules.length === 0 && approvalId === undefined) return NOTHING_NEEDED
  const { tool, userId, input } = call
  const answer = await approveUse(broker, {
    projectId: tool.projectId,
    userId,
    use: 'tool',
    needed,
    subject: toolId(tool),
    title: tool.title,
    hints: hintsOf(tool),
    definition: runDefinition(tool, runner.workerTool),
    workerId: runner.worker.id,
    isRepeatable: isSafeToRepeat(runner.workerTool),
    hosts: use.hosts,
    // as the worker gets it
    input: isRecord(use.input) ? use.input : input,
    hidden: hiddenArguments(tool.inputSchema),
    metadata: Object.fromEntries(metadata.map(({ key, value }) => [key, value])),
    connections: releases.map(approvedConnection),
    runAt,
    ...(approvalId !== undefined && { held: { approvalId, executionId } }),
  })
  return answer.outcome === 'waiting' ? approvalRequired(answer.approval) : answer
}

const NOTHING_NEEDED: ApprovedUse = {
  outcome: 'approved',
  rules: new Set(),
  spend: (executionId, run) => run(executionId),
}

/** The names of arguments that the schema keeps from people. */
function hiddenArguments({ properties }: JsonSchema): readonly string[] {
  const described = isRecord(properties) ? Object.entries(properties) : []
  return described.flatMap(([name, property]) =>
    isRecord(property) && (property.format === 'password' || property.writeOnly === true) ? [name] : [],
  )
}

/** The outcome of a call that waits for a person, in the words of a missing consent, so that every client knows it. */
export function approvalRequired({
  id,
  url,
  userId,
  expiresAt,
}: Pick<ApprovalView, 'id' | 'url' | 'userId' | 'expiresAt'>): AuthorizationRequired {
  return {
    outcome: 'authorization_required',
    authorization: { id, url, scopes: [], status: 'pending', userId, steps: [], expiresAt },
  }
}
