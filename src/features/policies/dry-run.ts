import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Broker } from '../../broker.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { Connection } from '../../domain/connection.ts'
import { BrokerError, invalidMember } from '../../domain/errors.ts'
import type { ConnectionOwner, RequestedUse, UsedProvider, UsedTool } from '../../domain/requested-use.ts'
import { NO_USER } from '../../domain/shared-connection.ts'
import { readAudit } from '../../flows/audit/read-audit.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import type { AuditEntry } from '../../services/audit-entry.ts'
import { usedProvider } from '../../services/used-provider.ts'
import type { Policy } from './domain.ts'
import { createPolicyTrial, type PastUse, type TrialVerdict } from './policy-trial.ts'

/** The most released tokens that a dry run judges, and the most uses that it shows. */
export const MAX_TOKENS = 20_000
export const MAX_SAMPLES = 50
const LONGEST_SECONDS = 31 * 24 * 3600
/** How many owners' connections are read at once. */
const OWNERS = 100
/** The event loop gets a turn after this time. */
const BUDGET_MS = 3

/** A tool as rules match it today: its names, and its worker with the worker's hosts if it has one. */
export interface ToolToday extends Omit<UsedTool, 'id'> {
  readonly worker?: string
  readonly hosts?: readonly string[]
}

export interface DryRunOrder {
  readonly projectId: string
  /** The rules to judge by. */
  readonly policies: readonly Policy[]
  readonly since: EpochSeconds
  readonly until: EpochSeconds
  /** How many of the last released tokens are judged. Default: `MAX_TOKENS`. */
  readonly tokens?: number
  /** Looks up a tool by its id in the audit trail. */
  readonly toolOf: (id: string) => Promise<ToolToday>
}

/** A use that the rules would have refused, or about which they would have asked people, or that is undecided. */
export interface SampleUse {
  readonly seq: number
  readonly use: PastUse
  readonly verdict: Exclude<TrialVerdict, { readonly decision: 'permitted' }>
}

export interface DryRunResult {
  /** The time of the first judged use if there were too many (`isPartial`), else the requested time. */
  readonly since: EpochSeconds
  readonly isPartial: boolean
  readonly uses: number
  readonly permitted: number
  readonly refused: number
  /** Uses that would have waited for people. */
  readonly asked: number
  readonly undecided: number
  /** How many uses each rule would have refused, by its id. `allow` rules refuse together, so each of them is counted. */
  readonly refusedBy: ReadonlyMap<string, number>
  /** About how many uses each rule would have asked people. */
  readonly askedBy: ReadonlyMap<Policy, number>
  /** Newest first: refused ones, then those about which people would have been asked, then undecided ones. */
  readonly samples: readonly SampleUse[]
}

const running = new WeakMap<Broker, Set<string>>()

/**
 * Finds the uses of tokens that the rules would have refused. Judges each token that was released in the period, in the
 * order of time, by what is known about it today. Changes nothing, and asks no hook. Throws `rate_limited` while another dry
 * run of the project is under way in this process, and `invalid_request` for a period of more than 31 days.
 */
export async function dryRunPolicies(broker: Broker, order: DryRunOrder): Promise<DryRunResult> {
  const projects = running.get(broker) ?? new Set()
  running.set(broker, projects)
  const { projectId, since, until } = order
  if (since >= until || until - since > LONGEST_SECONDS)
    throw invalidMember('since', 'invalid', 'since must be before until, by at most 31 days.')
  if (projects.has(projectId))
    throw new BrokerError('rate_limited', 'A dry run of this project is under way. Wait for it to end.', {
      retryAfter: 2,
    })
  projects.add(projectId)
  try {
    return await judgeAll(broker, order)
  } finally {
    projects.delete(projectId)
  }
}

async function judgeAll(broker: Broker, order: DryRunOrder): Promise<DryRunResult> {
  const { tokens, isPartial } = await releasedTokens(broker, order)
  const uses = await pastUses(broker, order, tokens)
  const trial = createPolicyTrial(order.policies)
  const refusedBy = new Map<string, number>()
  const askedBy = new Map<Policy, number>()
  const samples = { refused: [] as SampleUse[], asked: [] as SampleUse[], undecided: [] as SampleUse[] }
  const counts = { permitted: 0, refused: 0, asked: 0, undecided: 0 }
  for await (const { seq, use } of runInSlices(uses)) {
    const verdict = trial.judge(use)
    counts[verdict.decision]++
    if (verdict.decision === 'permitted') continue
    const kept = samples[verdict.decision]
    kept.push({ seq, use, verdict })
    if (kept.length > MAX_SAMPLES) kept.shift()
    if (verdict.decision === 'refused')
      for (const { policy } of verdict.by) refusedBy.set(policy.id, (refusedBy.get(policy.id) ?? 0) + 1)
    if (verdict.decision === 'asked')
      for (const { policy } of verdict.by) askedBy.set(policy, (askedBy.get(policy) ?? 0) + 1)
  }
  const { refused, asked, undecided } = samples
  const shown = [refused, asked, undecided].flatMap((kept) => kept.reverse()).slice(0, MAX_SAMPLES)
  const since = isPartial ? (uses[0]?.use.at ?? order.since) : order.since
  return { since, isPartial, uses: uses.length, ...counts, refusedBy, askedBy, samples: shown }
}

/** The entries of the last tokens that were released in the period, oldest first. */
async function releasedTokens(
  broker: Broker,
  { projectId, since, until, tokens: most = MAX_TOKENS }: DryRunOrder,
): Promise<{ readonly tokens: readonly AuditEntry[]; readonly isPartial: boolean }> {
  const tokens: AuditEntry[] = []
  const filter = { action: 'token.released', since, until }
  for await (const entry of readAudit(broker, projectId, filter, 'newest first')) {
    if (tokens.length === most) return { tokens: tokens.reverse(), isPartial: true }
    tokens.push(entry)
  }
  return { tokens: tokens.reverse(), isPartial: false }
}

interface NumberedUse {
  readonly seq: number
  readonly use: PastUse
}

/** The uses behind the released tokens. A tool's tokens of several providers are one use: their entries follow each other. */
async function pastUses(
  broker: Broker,
  { projectId, policies, toolOf }: DryRunOrder,
  tokens: readonly AuditEntry[],
): Promise<NumberedUse[]> {
  const entries = new Map((await broker.store.providers.list(projectId)).map((entry) => [entry.id, entry]))
  const needsScopes = policies.some(({ match }) => match.scopes !== undefined)
  const needsWorkers = policies.some(({ match }) => match.workers !== undefined)
  const needsArguments = policies.some(({ match }) => match.arguments !== undefined)
  const scopes = needsScopes ? await scopesToday(broker, entries, tokens) : undefined
  const tools = new Map<string, Promise<ToolToday>>()
  const uses: NumberedUse[] = []
  for await (const group of runInSlices(groups(tokens))) {
    const [first] = group
    const { tool: toolId } = first
    const tool = typeof toolId === 'string' ? (tools.get(toolId) ?? toolOf(toolId)) : undefined
    if (tool !== undefined) tools.set(toolId as string, tool) // it is a string, see the line above
    const today = await tool
    const providers = group.map((logged): UsedProvider => {
      const entry = entries.get(textOf(logged, 'provider_id'))
      const granted = scopes?.get(textOf(logged, 'connection_id')) ?? []
      const owner = ownerIn(logged)
      return entry === undefined
        ? { id: textOf(logged, 'provider_id'), scopes: granted, owner }
        : { ...usedProvider(entry, granted), owner }
    })
    const areScopesUnknown = group.some((entry) => scopes?.has(textOf(entry, 'connection_id')) === false)
    const use = useOf(first, today)
    const areHostsKnown = use === 'token' || today?.hosts !== undefined
    uses.push({
      seq: first.seq,
      use: {
        projectId,
        userId: textOf(first, 'user_id'),
        use,
        ...(today && {
          tool: {
            id: toolId as string,
            aliases: today.aliases,
            ownNames: today.ownNames,
            hints: today.hints,
          },
          worker: today.worker,
        }),
        providers,
        // a token that was handed to the caller has no known host, so no rule with hosts matches it
        hosts: today?.hosts ?? [],
        at: first.at,
        ...agentOf(first),
        unknown: [
          ...(areHostsKnown ? [] : (['hosts'] as const)),
          ...(needsWorkers && today !== undefined && today.worker === undefined
            ? (['workers'] as const)
            : []),
          ...(areScopesUnknown ? (['scopes'] as const) : []),
          ...(needsArguments && today !== undefined ? (['arguments'] as const) : []), // the trail has none
        ],
      },
    })
  }
  return uses
}

/** Yields the items, and gives the event loop a turn from time to time. */
async function* runInSlices<Item>(items: Iterable<Item>): AsyncGenerator<Item> {
  let begun = performance.now()
  for (const item of items) {
    if (performance.now() - begun > BUDGET_MS) {
      await nextTurn()
      begun = performance.now()
    }
    yield item
  }
}

/** The API key or the MCP client that made the call. */
function agentOf({ actor }: AuditEntry): Pick<PastUse, 'agent'> {
  const agent = actor.kind === 'api_key' ? actor.id : actor.client
  return agent === undefined ? {} : { agent }
}

function useOf({ purpose }: AuditEntry, tool: ToolToday | undefined): RequestedUse['use'] {
  if (tool !== undefined) return 'tool'
  return purpose === 'proxy' ? 'proxy' : 'token'
}

function* groups(tokens: readonly AuditEntry[]): Generator<readonly [AuditEntry, ...AuditEntry[]]> {
  let group: [AuditEntry, ...AuditEntry[]] | undefined
  for (const entry of tokens) {
    if (group !== undefined && belongs(entry, group)) group.push(entry)
    else {
      if (group !== undefined) yield group
      group = [entry]
    }
  }
  if (group !== undefined) yield group
}

function belongs(entry: AuditEntry, group: readonly [AuditEntry, ...AuditEntry[]]): boolean {
  const [first] = group
  return (
    entry.request_id !== undefined &&
    entry.request_id === first.request_id &&
    entry.tool !== undefined &&
    entry.tool === first.tool &&
    entry.user_id === first.user_id &&
    entry.seq === first.seq + group.length &&
    !group.some((token) => token.provider_id === entry.provider_id)
  )
}

/** The scopes of each connection today, by its id. A deleted connection is missing. */
async function scopesToday(
  { store }: Broker,
  entries: ReadonlyMap<string, ProviderEntry>,
  tokens: readonly AuditEntry[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const owners = new Map<string, Pick<Connection, 'projectId' | 'providerUid' | 'userId'>>()
  for (const release of tokens) {
    const entry = entries.get(textOf(release, 'provider_id'))
    const userId = ownerIn(release) === 'project' ? NO_USER : textOf(release, 'user_id')
    if (entry !== undefined)
      owners.set(JSON.stringify([entry.uid, userId]), {
        projectId: entry.projectId,
        providerUid: entry.uid,
        userId,
      })
  }
  const scopes = new Map<string, readonly string[]>()
  const all = [...owners.values()]
  for (let i = 0; i < all.length; i += OWNERS) {
    const found = await Promise.all(all.slice(i, i + OWNERS).map((owner) => store.connections.ofOwner(owner)))
    for (const connection of found.flat()) scopes.set(connection.id, connection.scopes)
    await nextTurn()
  }
  return scopes
}

function ownerIn({ owner }: AuditEntry): ConnectionOwner {
  return owner === 'project' ? 'project' : 'user'
}

function textOf(entry: AuditEntry, member: string): string {
  const value = entry[member]
  return typeof value === 'string' ? value : ''
}
