import type { Broker } from '../../broker.ts'
import type { AuditEvent } from '../../domain/audit.ts'
import { type Tool, toolId } from '../../domain/tool.ts'
import { hasOwnName, IMPORTS, type ToolName, toolIdentity, toolkitIdentity } from '../../domain/tool-name.ts'
import type { Worker } from '../../domain/worker.ts'
import { createTimeBudget } from '../slices.ts'
import { findWorkerByUid } from './known-tools.ts'

// Who owns the name of a tool: the source that first had it. A worker that an administrator registers has the free names
// of its first catalogue; later it has further free names in its own toolkits, and in the one that its settings name. All
// other names wait for acceptance.

type Named = Pick<Tool, 'namespace' | 'name'>

/** The most names that one worker owns, with those of tools that it no longer lists. Further names wait. */
const MAX_NAMES = 60_000

/** What the worker may call its tools. */
export interface NameRights {
  /** Whether the worker owns the name, or gets it by `claims`. */
  mayHave(tool: Named): boolean
  /** The names that the worker owns from now on. */
  readonly claims: readonly ToolName[]
}

/** Finds the names that the worker has for `tools`. `own` has its stored tools. */
export async function nameRightsOf(
  broker: Broker,
  worker: Worker,
  { tools, own, claimsFreely }: { tools: readonly Named[]; own: readonly Tool[]; claimsFreely: boolean },
): Promise<NameRights> {
  const { uid: source, projectId } = worker
  const given = givenToolkit(worker)
  const budget = createTimeBudget()
  const owned = new Set<string>()
  for (const tool of own) {
    if (hasOwnName(tool)) owned.add(toolIdentity(tool))
    await budget.pause()
  }
  const open = new Map<string, string>()
  for (const tool of tools) {
    const identity = toolIdentity(tool)
    if (!owned.has(identity)) open.set(identity, toolkitIdentity(tool.namespace))
    await budget.pause()
  }
  const mayHave = (tool: Named) => owned.has(toolIdentity(tool))
  if (open.size === 0) return { mayHave, claims: [] }

  const outer = [...open.values()].flatMap(outerToolkits)
  const asked = [...new Set([...open.keys(), ...open.values(), ...outer])]
  const owners = new Map<string, string>()
  for (const name of await broker.store.toolNames.find(projectId, asked))
    owners.set(name.identity, name.source)
  let room = MAX_NAMES - (await broker.store.toolNames.count(projectId, source))
  const since = broker.now()
  const claims: ToolName[] = []
  const claim = (identity: string) => {
    owners.set(identity, source)
    claims.push({ projectId, identity, source, since })
    room--
  }
  const isWithinAnothers = (toolkit: string) =>
    outerToolkits(toolkit).some((one) => (owners.get(one) ?? source) !== source)
  for (const [identity, toolkit] of open) {
    const owner = owners.get(identity)
    const isFree = owner === undefined && room > 1
    const isInOwnToolkit = toolkit !== NO_TOOLKIT && owners.get(toolkit) === source
    const isFreeToolkit = !owners.has(toolkit) && !isWithinAnothers(toolkit)
    if (isFree && (isInOwnToolkit || ((claimsFreely || toolkit === given) && isFreeToolkit))) {
      if (toolkit !== NO_TOOLKIT && !isInOwnToolkit) claim(toolkit)
      claim(identity)
      owned.add(identity)
    } else if (owner === source) owned.add(identity)
    await budget.pause()
  }
  return { mayHave, claims }
}

/** The toolkit that an administrator has given to the tools of the worker, by its settings. */
function givenToolkit({ settings: { namespace } }: Worker): string | undefined {
  return typeof namespace === 'string' && namespace !== '' ? toolkitIdentity(namespace) : undefined
}

/** The toolkits whose names begin this one's: a rule about `Crm.*` matches the tools of `Crm.Sales` too. */
function outerToolkits(toolkit: string): string[] {
  const parts = toolkit.slice(0, -1).split('.')
  return parts.slice(1).map((_, i) => toolkitIdentity(parts.slice(0, i + 1).join('.')))
}

/** Tools without a toolkit share none. */
const NO_TOOLKIT = toolkitIdentity('')

/** The audit entries for names that a worker has from now on, one for each toolkit. */
export function claimEvents({ id: subject }: Worker, claims: readonly ToolName[]): AuditEvent[] {
  const counts = new Map<string, number>()
  for (const { identity } of claims) {
    const [toolkit = '', name] = identity.split(':')
    if (name !== '') counts.set(toolkit, (counts.get(toolkit) ?? 0) + 1)
  }
  return [...counts].map(([toolkit, count]) => ({
    action: 'worker.named',
    subject,
    reason: `${toolkit === '' ? 'no toolkit' : `toolkit ${toolkit}`}, ${count} ${count === 1 ? 'name' : 'names'}`,
  }))
}

/** A name that the tools of a worker use and that does not belong to the worker. */
export interface WaitingName {
  /** As the worker writes it: `Gmail:Send`. */
  readonly name: string
  readonly identity: string
  readonly toolkit: string
  /** The uid of the worker that owns the name, or `IMPORTS`; absent: it has no owner. */
  readonly owner?: string
}

/** The names of these tools that do not belong to their source, each once. */
export function waitingNames(tools: readonly Tool[]): WaitingName[] {
  const waiting = new Map<string, WaitingName>()
  for (const tool of tools) {
    if (hasOwnName(tool)) continue
    const identity = toolIdentity(tool)
    const { namespace, name, owner } = tool
    waiting.set(identity, {
      name: toolId({ namespace, name }),
      identity,
      toolkit: toolkitIdentity(namespace),
      ...(owner && { owner: owner.source }),
    })
  }
  return [...waiting.values()].sort((a, b) => (a.identity < b.identity ? -1 : 1))
}

/** The rows by which the worker gets the names, and those of their toolkits that are free. */
export async function namesToAccept(
  broker: Broker,
  { uid: source, projectId }: Worker,
  waiting: readonly WaitingName[],
): Promise<readonly ToolName[]> {
  if (waiting.length === 0) return []
  const toolkits = [...new Set(waiting.map((name) => name.toolkit))].filter(
    (toolkit) => toolkit !== NO_TOOLKIT,
  )
  const taken = new Set((await broker.store.toolNames.find(projectId, toolkits)).map((name) => name.identity))
  const since = broker.now()
  const identities = [
    ...toolkits.filter((toolkit) => !taken.has(toolkit)),
    ...waiting.map((name) => name.identity),
  ]
  return identities.map((identity) => ({ projectId, identity, source, since }))
}

/** The owner of a name for people: `import`, or the id of the worker. */
export async function ownerNameOf(broker: Broker, source: string): Promise<string> {
  if (source === IMPORTS) return IMPORTS
  return (await findWorkerByUid(broker, source))?.id ?? 'a source that is not known'
}
