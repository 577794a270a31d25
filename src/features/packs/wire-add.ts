import { isDeepStrictEqual } from 'node:util'
import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { BrokerError, invalidMember } from '../../domain/errors.ts'
import { findOperation, type PerformedBy, performOperation } from '../../operations/perform-operation.ts'
import {
  createAuthProvider,
  deleteAuthProvider,
  getAuthProvider,
  listAuthProviders,
} from '../../operations/providers/auth-providers.ts'
import { isRecord } from '../../parsing/json-record.ts'
import type { Pack } from './wire-format.ts'
import { approvalsOfPack, chosenTools, type PackChoice, workerOfPack } from './wire-worker.ts'

export interface PackAddition extends PackChoice {
  /** Who approves calls that destroy something or reach others; `false`: calls are made without asking. */
  readonly approvals: 'user' | { readonly group: string } | false
}

const toolsetAnswer = z.object({ id: z.string(), url: z.string() })
const policyAnswer = z.object({ id: z.string() })
const workerAnswer = z.object({ sync_error: z.string().optional() })
type Provider = z.output<typeof getAuthProvider.output & object>

export interface AddedPack {
  readonly providers: readonly Provider[]
  /** Absent where this Gatepass has no toolsets. */
  readonly toolset: z.output<typeof toolsetAnswer> | undefined
  readonly policy: z.output<typeof policyAnswer> | undefined
  /** What was there already is not among them. */
  readonly made: readonly string[]
}

/**
 * Adds the chosen tools of a pack. The policy is made first, so that no call goes without the approval that was wanted, then
 * provider entries and the toolset, and last the worker, from which the tools come. So a repeat completes what a crash
 * left. When a step fails, what the earlier ones made is deleted again. Throws `invalid_request`, `already_exists`, and what
 * the operations throw.
 */
export async function addPack(
  broker: Broker,
  by: PerformedBy,
  pack: Pack,
  choice: PackAddition,
): Promise<AddedPack> {
  if (chosenTools(pack, choice).length === 0)
    throw new BrokerError(
      'invalid_request',
      `No tool of the pack "${pack.id}" is chosen: see \`tools\` and \`read_only\`.`,
    )
  if ((await broker.store.workers.find(by.caller.projectId, pack.id)) !== undefined)
    throw new BrokerError(
      'already_exists',
      `There is a worker "${pack.id}" already. \`gatepass packs update ${pack.id}\` (POST /v1/packs/${pack.id}/update) takes the present definitions of its tools; to choose others, delete it first.`,
    )
  const made: Made[] = []
  try {
    const policy = await addApprovals(broker, by, pack, choice, made)
    const providers = await addProviders(broker, by, pack, choice, made)
    const toolset = await addToolset(broker, by, pack, made)
    await addWorker(broker, by, pack, choice, made)
    return { providers, toolset, policy, made: made.map(({ what }) => what) }
  } catch (error) {
    throw await takenBack(error, made)
  }
}

/** Something that was made, and how it is deleted again. */
interface Made {
  readonly what: string
  readonly remove: () => Promise<unknown>
}

/** Deletes what was made, the newest first. The error that is returned names what could not be deleted. */
async function takenBack(error: unknown, made: readonly Made[]): Promise<unknown> {
  const left: string[] = []
  for (const { what, remove } of made.toReversed()) {
    try {
      await remove()
    } catch {
      left.push(what)
    }
  }
  if (left.length === 0 || !(error instanceof BrokerError)) return error
  const { code, faults, message } = error
  return new BrokerError(code, `${message} What was made could not be deleted: ${left.join(', ')}.`, {
    cause: error,
    ...(faults && { faults }),
  })
}

async function addApprovals(
  broker: Broker,
  by: PerformedBy,
  pack: Pack,
  choice: PackAddition,
  made: Made[],
): Promise<AddedPack['policy']> {
  const proposed = approvalsOfPack(pack, choice)
  if (choice.approvals === false || proposed === undefined) return undefined
  const [create, get, remove] = ['createPolicy', 'getPolicy', 'deletePolicy'].map((id) =>
    findOperation(broker, id),
  )
  if (create === undefined || get === undefined || remove === undefined)
    throw invalidMember('approvals', 'not_allowed', 'This Gatepass has no policies: send `approvals` false.')
  const { id } = proposed
  const params = { id }
  const known = await absentIfNotFound(performOperation(broker, get, by, { params }))
  if (known !== undefined) {
    if (covers(known, proposed.match.tools, choice.approvals)) return { id }
    throw new BrokerError(
      'already_exists',
      `There is a policy "${id}" already, which does not ask for the approvals that were wanted. Change or delete it, or send \`approvals\` false.`,
    )
  }
  const body = { ...proposed, approve: { by: choice.approvals } }
  const policy = policyAnswer.parse(await performOperation(broker, create, by, { body }).catch(refused))
  made.push({ what: `policy ${id}`, remove: () => performOperation(broker, remove, by, { params }) })
  return policy
}

/** A policy about approvals is refused where no person could give them. */
function refused(error: unknown): never {
  if (
    !(error instanceof BrokerError) ||
    error.faults?.some(({ path }) => path.startsWith('approve.by')) !== true
  )
    throw error
  throw invalidMember(
    'approvals',
    'not_allowed',
    `${error.message} With \`approvals\` {"group": …} (--approvers <group>) people of a group approve risky calls; with false (--no-approvals) they are made without asking. Nothing was added.`,
  )
}

/** Whether a policy that is there has the approvals of these tools asked for, and of the same people. */
function covers(policy: unknown, tools: readonly string[], approvals: PackAddition['approvals']): boolean {
  if (!isRecord(policy) || !isRecord(policy.match) || !isRecord(policy.approve)) return false
  const { match, approve, effect, enabled } = policy
  const of = match.tools
  const isOfToolsAlone = Object.values(match).filter((value) => value !== undefined).length === 1
  const wanted = approvals === 'user' || approvals === false ? approvals : { count: 1, ...approvals }
  return (
    effect === 'approve' &&
    enabled !== false &&
    isOfToolsAlone &&
    Array.isArray(of) &&
    tools.every((tool) => of.includes(tool)) &&
    isDeepStrictEqual(approve.by, wanted)
  )
}

/** The entries whose connections the chosen tools use; those that are missing are added. */
async function addProviders(
  broker: Broker,
  by: PerformedBy,
  pack: Pack,
  choice: PackAddition,
  made: Made[],
): Promise<Provider[]> {
  const { items } = await performOperation(broker, listAuthProviders, by)
  const entries: Provider[] = []
  for (const id of new Set(chosenTools(pack, choice).map(({ provider = pack.provider }) => provider))) {
    const known =
      id === pack.provider && choice.providerId !== undefined
        ? await performOperation(broker, getAuthProvider, by, { params: { id: choice.providerId } })
        : (items.find((one) => one.provider_id === id) ?? items.find((one) => one.id === id))
    entries.push(known ?? (await added(id)))
  }
  return entries

  async function added(id: string): Promise<Provider> {
    const entry = await performOperation(broker, createAuthProvider, by, { body: { id, provider_id: id } })
    const remove = () => performOperation(broker, deleteAuthProvider, by, { params: { id } })
    made.push({ what: `provider ${id}`, remove })
    return entry
  }
}

async function addToolset(
  broker: Broker,
  by: PerformedBy,
  pack: Pack,
  made: Made[],
): Promise<AddedPack['toolset']> {
  const [create, get, remove] = ['createToolset', 'getToolset', 'deleteToolset'].map((id) =>
    findOperation(broker, id),
  )
  if (create === undefined || get === undefined || remove === undefined) return undefined
  const params = { id: pack.id }
  const known = await absentIfNotFound(performOperation(broker, get, by, { params }))
  if (known !== undefined) return toolsetAnswer.parse(known)
  const body = { id: pack.id, namespaces: [pack.namespace] }
  const toolset = toolsetAnswer.parse(await performOperation(broker, create, by, { body }))
  made.push({
    what: `toolset ${pack.id}`,
    remove: () => performOperation(broker, remove, by, { params }),
  })
  return toolset
}

async function addWorker(
  broker: Broker,
  by: PerformedBy,
  pack: Pack,
  choice: PackAddition,
  made: Made[],
): Promise<void> {
  const [create, remove] = ['createWorker', 'deleteWorker'].map((id) => findOperation(broker, id))
  if (create === undefined || remove === undefined) throw new Error('The API has no operations for workers.')
  const body = workerOfPack(pack, choice)
  const worker = workerAnswer.parse(await performOperation(broker, create, by, { body }))
  made.push({
    what: `worker ${pack.id}`,
    remove: () => performOperation(broker, remove, by, { params: { id: pack.id } }),
  })
  if (worker.sync_error !== undefined)
    throw new BrokerError(
      'invalid_request',
      `The tools of the pack "${pack.id}" cannot be read: ${worker.sync_error}`,
    )
}

/** Returns `undefined` in place of the error `not_found`. */
export async function absentIfNotFound<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found
  } catch (error) {
    if (error instanceof BrokerError && error.code === 'not_found') return undefined
    throw error
  }
}
