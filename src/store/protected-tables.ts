import type { ApiKey } from '../domain/api-key.ts'
import type { PinnedTool } from '../domain/pinned-tool.ts'
import type { SharedConnection } from '../domain/shared-connection.ts'
import { type Tool, toolId } from '../domain/tool.ts'
import type { ToolName } from '../domain/tool-name.ts'
import type { Worker } from '../domain/worker.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import {
  IN_PROJECT,
  ofUid,
  type ProtectedTable,
  type ProtectedTables,
  type RowContext,
  type SealedColumn,
  type SealedRow,
  type SealedTable,
  sealingBy,
} from './protection.ts'
import type { CoreTables, Tables } from './schema.ts'
import { valuesOf } from './signed-rows.ts'
import { textsOf } from './stored-tool.ts'

/**
 * The tables of the core that hold envelopes or MACs: the associated data that envelopes are bound to, and the members
 * that MACs cover. Flows seal and open by it; key rotation, counts, signatures and checks read it; a test compares it
 * with the schema.
 */
export const CORE = {
  facts: {
    id: 'name',
    sealed: ['value'],
    needs: [],
    context: ({ name }: SealedRow<'name'>) => ({ rowId: name, projectId: '' }),
  },
  apiKeys: {
    signed: {
      mac: {
        kind: 'api_keys',
        members: (key: ApiKey) => {
          const { id, projectId, role, hash, expiresAt, rateLimit, userId, groups, createdBy } = key
          // a key without these has the same MAC as in releases before keys could have them
          const added = groups || createdBy ? [{ groups: groups ?? null, createdBy: createdBy ?? null }] : []
          return [id, projectId, role, hash, expiresAt, rateLimit, ...(userId ? [userId] : []), ...added]
        },
      },
    },
  },
  providers: {
    id: 'uid',
    sealed: ['client_secret'],
    needs: ['project_id'],
    context: ({ uid, projectId }: SealedRow<'uid' | 'projectId'>) => ({
      rowId: uid,
      projectId,
      providerUid: uid,
    }),
    change: { noun: 'provider' },
    signed: {
      mac: {
        kind: 'providers',
        members: valuesOf<ProviderEntry>(
          'uid',
          'projectId',
          'id',
          'name',
          'wellKnownId',
          'status',
          'source',
          'provider',
          'clientId',
        ),
      },
    },
  },
  workers: {
    id: 'uid',
    sealed: ['secret'],
    needs: ['project_id'],
    context: ofUid,
    change: { noun: 'worker' },
    signed: {
      mac: {
        kind: 'workers',
        members: valuesOf<Worker>('uid', 'projectId', 'id', 'type', 'enabled', 'uri', 'settings', 'pinning'),
      },
      // each of the two MACs is written without the other
      acceptedMac: {
        kind: 'accepted',
        members: valuesOf<Pick<Worker, 'uid' | 'accepted'>>('uid', 'accepted'),
      },
    },
  },
  tools: {
    signed: {
      // without the binding, the owner and the times; large members are read as text, without being parsed
      mac: { kind: 'tools', members: toolMembers, texts: textsOf, nameOf: toolId },
      // a binding is written without the other members, and ends with its worker; a worker's own tool has none
      bindingMac: { kind: 'binding', members: bindingMembers },
    },
  },
  toolNames: {
    signed: {
      mac: {
        kind: 'tool_names',
        members: valuesOf<ToolName>('projectId', 'identity', 'source', 'since'),
        nameOf: ({ identity }: ToolName) => identity,
      },
    },
  },
  pinnedTools: {
    signed: {
      // `listed` is the digest of the definition, which is checked by it
      mac: {
        kind: 'pinned_tools',
        members: valuesOf<PinnedTool>(
          ...(['workerUid', 'projectId', 'tool', 'accepted', 'waiting', 'listed', 'needs'] as const),
          ...(['isUnstable', 'since'] as const),
        ),
        nameOf: ({ tool }: PinnedTool) => tool,
      },
    },
  },
  secrets: { ...IN_PROJECT, sealed: ['value'], change: { noun: 'secret' } },
  connections: {
    id: 'id',
    sealed: ['access', 'refresh'],
    needs: ['project_id', 'user_id', 'provider_uid'],
    context: ({
      id: rowId,
      projectId,
      userId,
      providerUid,
    }: SealedRow<'id' | 'projectId' | 'userId' | 'providerUid'>) => ({
      rowId,
      projectId,
      userId,
      providerUid,
    }),
  },
  sharedConnections: {
    signed: {
      mac: {
        kind: 'shared_connections',
        members: valuesOf<SharedConnection>(
          ...(['id', 'projectId', 'providerUid', 'name', 'scopes', 'sharedWith'] as const),
        ),
      },
    },
  },
  authorizations: {
    id: 'id',
    sealed: ['secrets', 'response'],
    needs: ['project_id', 'user_id', 'steps', 'step'],
    context: ofStep,
  },
  answers: {
    id: 'place',
    sealed: ['answer'],
    needs: ['project_id'],
    context: ({ place: rowId, projectId }: SealedRow<'place' | 'projectId'>) => ({ rowId, projectId }),
  },
  executions: { ...IN_PROJECT, sealed: ['request', 'result'] },
  suspendedCalls: { ...IN_PROJECT, sealed: ['payload'] },
  storedFiles: { ...IN_PROJECT, sealed: ['content'] },
  pageSessions: { ...IN_PROJECT, sealed: ['payload'] },
  mcpRecords: {
    id: 'id',
    within: 'model',
    sealed: ['payload'],
    needs: ['model'],
    context: ({ model, id }: SealedRow<'model' | 'id'>) => ({ rowId: `${model} ${id}`, projectId: '' }),
  },
} as const satisfies { readonly [Table in keyof CoreTables]?: ProtectedTable }

function bindingMembers({
  uid,
  binding,
  source,
}: Pick<Tool, 'uid' | 'binding'> & Partial<Pick<Tool, 'source'>>): readonly unknown[] | undefined {
  if (binding === undefined || source?.kind === 'worker') return undefined
  return [uid, binding.workerUid, binding.toolkit, binding.name, binding.version]
}

function toolMembers(row: Tool): readonly unknown[] {
  const { uid, projectId, namespace, name, version, source, tags, annotations, requirements, digest, held } =
    row
  const workerUid = source.kind === 'worker' ? source.workerUid : undefined
  const lengths = textsOf(row).map((text) => text?.length)
  const named = [uid, projectId, namespace, name, version, workerUid, digest]
  return [...named, lengths, tags, annotations, requirements, held]
}

/** The associated data of an envelope of the core. */
export const sealingContext = sealingBy(CORE)

/** This step of this authorization. */
export function ofStep({
  id,
  projectId,
  userId,
  steps,
  step,
}: SealedRow<'id' | 'projectId' | 'userId' | 'steps' | 'step'>): RowContext {
  const list = typeof steps === 'string' ? (JSON.parse(steps) as Exclude<typeof steps, string>) : steps // as stored
  return { rowId: id, projectId, userId, providerUid: list[Number(step)]?.providerUid ?? '' }
}

/** The sealed columns of the core and of these parts. */
export function sealedColumnsOf(
  parts: readonly { readonly protects?: ProtectedTables }[],
): readonly SealedColumn[] {
  return [CORE, ...parts.map(({ protects = {} }) => protects)].flatMap((tables: ProtectedTables) =>
    Object.entries(tables).flatMap(([table, { sealed = [], signed: _, ...row }]) =>
      sealed.map((column) => ({ ...(row as SealedTable), table: table as keyof Tables, column })),
    ),
  )
}
