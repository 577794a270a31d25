import { createHmac, hkdfSync } from 'node:crypto'
import type { ApiKey } from '../domain/api-key.ts'
import type { ProvedDomain } from '../domain/branding.ts'
import type { ConnectSession } from '../domain/connect-session.ts'
import type { Policy } from '../domain/policy.ts'
import type { Tool } from '../domain/tool.ts'
import type { ToolName } from '../domain/tool-name.ts'
import type { Toolset } from '../domain/toolset.ts'
import type { Worker } from '../domain/worker.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import { textsOf } from '../store/kept-tool.ts'
import type { BoundTool } from '../store/tools.ts'
import type { AcceptedNeeds } from '../store/workers.ts'

/** Computes the MACs of rows, each over the members that grant rights. */
export interface RowSigner {
  readonly apiKey: (row: ApiKey) => string
  readonly provider: (row: ProviderEntry) => string
  readonly worker: (row: Worker) => string
  readonly toolName: (row: ToolName) => string
  /** `mac` does not cover the binding, the owner and the times. Large members are read as text, without being parsed. */
  readonly tool: (row: Tool) => ToolMacs
  /** Separate from `mac`, since a binding is written without the other members, and ends with its worker. */
  readonly binding: (row: Pick<BoundTool, 'uid' | 'binding'>) => string
  /** Does not cover the times, and the bare names that its tools were given. */
  readonly toolset: (row: Toolset) => string
  /** Separate from `worker`, since each of the two MACs is written without the other. */
  readonly accepted: (row: AcceptedNeeds) => string
  readonly policy: (row: Policy) => string
  /** The MAC of a kind of rows over these members. */
  readonly mac: (kind: string, members: readonly unknown[]) => string
  /** Does not cover the number of restarts, which grants nothing. */
  readonly connectSession: (row: ConnectSession) => string
  /** Separate from `connectSession`, since one browser may open a session while another request restarts it. */
  readonly opener: (row: Pick<ConnectSession, 'id' | 'openerHash' | 'openedIn'>) => string
  readonly domain: (row: ProvedDomain) => string
}

/** `bindingMac`: of an imported tool that is bound. Nothing reads the binding in the row of a worker's own tool. */
export type ToolMacs = Required<Pick<Tool, 'mac'>> & Pick<Tool, 'bindingMac'>

/** @param installationKey the same under every master key, so that a rotation changes no MAC. */
export function createRowSigner(installationKey: Buffer): RowSigner {
  const secret = Buffer.from(hkdfSync('sha256', installationKey, '', 'gatepass/rows', 32))
  const begin = (what: string, members: readonly unknown[]) =>
    createHmac('sha256', secret).update(JSON.stringify([what, ...members.map((one) => one ?? null)]))
  const binding: RowSigner['binding'] = ({ uid, binding: { workerUid, toolkit, name, version } }) =>
    mac('binding', [uid, workerUid, toolkit, name, version])
  const mac = (...of: Parameters<typeof begin>) => begin(...of).digest('base64url')
  return {
    apiKey: ({ id, projectId, role, hash, expiresAt, rateLimit, userId }) =>
      // a key without a user has the same MAC as in releases before keys could have a user
      mac('api_keys', [id, projectId, role, hash, expiresAt, rateLimit, ...(userId ? [userId] : [])]),
    provider: ({ uid, projectId, id, name, wellKnownId, status, source, provider, clientId }) =>
      mac('providers', [uid, projectId, id, name, wellKnownId, status, source, sorted(provider), clientId]),
    worker: ({ uid, projectId, id, type, enabled, uri, settings }) =>
      mac('workers', [uid, projectId, id, type, enabled, uri, sorted(settings)]),
    accepted: ({ uid, accepted }) => mac('accepted', [uid, sorted(accepted)]),
    toolName: ({ projectId, identity, source, since }) =>
      mac('tool_names', [projectId, identity, source, since]),
    tool(row) {
      const { uid, projectId, namespace, name, version, source, tags, annotations, requirements, digest } =
        row
      const workerUid = source.kind === 'worker' ? source.workerUid : undefined
      const texts = textsOf(row)
      const lengths = texts.map((text) => text?.length)
      const members = [uid, projectId, namespace, name, version, workerUid, digest, lengths]
      const hmac = begin('tools', [...members, sorted(tags), sorted(annotations), sorted(requirements)])
      for (const text of texts) if (text !== undefined) hmac.update(text)
      return {
        mac: hmac.digest('base64url'),
        ...(workerUid === undefined && row.binding && { bindingMac: binding({ uid, binding: row.binding }) }),
      }
    },
    binding,
    toolset: (row) => {
      const { projectId, id, names, tools, toolSources, namespaces, tags, providers, instructions, listing } =
        row
      const selectors = [tools, sorted(toolSources), namespaces, tags, providers]
      return mac('toolsets', [projectId, id, names, ...selectors, instructions, listing])
    },
    policy: ({ id, projectId, enabled, effect, match, hook }) =>
      mac('policies', [id, projectId, enabled, effect, sorted(match), sorted(hook)]),
    mac: (kind, members) => mac(kind, members.map(sorted)),
    connectSession: ({ id, projectId, userId, tokenHash, authorizationId, origin, createdAt, expiresAt }) =>
      mac('connect_sessions', [
        id,
        projectId,
        userId,
        tokenHash,
        authorizationId,
        origin,
        createdAt,
        expiresAt,
      ]),
    opener: ({ id, openerHash, openedIn }) => mac('opener', [id, openerHash, openedIn]),
    domain: ({ projectId, name, provedAt }) => mac('brandings', [projectId, name, provedAt]),
  }
}

/** Sorts the members, so that equal JSON gives equal text. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, one]) => one !== undefined)
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, one]) => [name, sorted(one)]),
  )
}
