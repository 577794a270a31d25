import { BrokerError } from '../domain/errors.ts'
import { type Tool, toolId } from '../domain/tool.ts'
import { type ToolName, toolIdentity } from '../domain/tool-name.ts'
import type { Toolset } from '../domain/toolset.ts'
import type { Store } from '../store/store.ts'
import { type AlteredRow, all, genuineRows, isSame } from './genuine-rows.ts'
import type { RowSigner } from './row-signer.ts'

/** The owner of a name whose row was altered: no source has it. */
const ALTERED = 'altered'

/**
 * The part of `signedStore` for tools. A tool without a genuine MAC counts as absent, and is replaced when its source brings
 * it again.
 */
export function signedTools(
  { tools, toolNames, toolsets }: Store,
  signer: RowSigner,
  onAltered: (row: AlteredRow) => void,
): Pick<Store, 'tools' | 'toolNames' | 'toolsets'> {
  const genuine = genuineRows(onAltered)
  const hasMacs = (row: Tool): boolean => {
    const { mac, bindingMac } = signer.tool(row)
    return isSame(row.mac, mac) && (bindingMac === undefined || isSame(row.bindingMac, bindingMac))
  }
  const tool = genuine('tools', hasMacs, toolId)
  const signedTool = (one: Tool): Tool => ({ ...one, ...signer.tool(one) })
  const toolset = genuine<Toolset>(
    'toolsets',
    (row) => isSame(row.mac, signer.toolset(row)),
    ({ id }) => id,
  )
  const signedToolset = (one: Toolset): Toolset => ({ ...one, mac: signer.toolset(one) })
  const name = (row: ToolName): ToolName => {
    if (isSame(row.mac, signer.toolName(row))) return row
    onAltered({ table: 'tool_names', id: row.identity, projectId: row.projectId })
    return { ...row, source: ALTERED }
  }
  const signedName = (one: ToolName): ToolName => ({ ...one, mac: signer.toolName(one) })
  /** The tool keeps its getters, which parse large members when they are read. */
  const withOwner = (one: Tool): Tool => {
    if (one.owner === undefined) return one
    const row = { projectId: one.projectId, identity: toolIdentity(one), ...one.owner }
    return Object.defineProperty(one, 'owner', { value: { ...one.owner, source: name(row).source } })
  }
  const genuineTools = (rows: readonly Tool[]) => all(rows, tool).map(withOwner)

  return {
    tools: {
      ...tools,
      named: async (...args) => genuineTools(await tools.named(...args)),
      list: async (...args) => genuineTools(await tools.list(...args)),
      async page(...args) {
        const { rows, ...rest } = await tools.page(...args)
        return { ...rest, rows: genuineTools(rows) }
      },
      byUids: async (...args) => genuineTools(await tools.byUids(...args)),
      async identical(one) {
        const row = tool(await tools.identical(one))
        return row && withOwner(row)
      },
      async change(projectId, { put, removed, entries = [], names = [], ...others }, ...rest) {
        const changes = {
          ...others,
          put: put.map(signedTool),
          entries: entries.map(({ to, ...from }) => ({ ...from, to: { ...to, mac: signer.provider(to) } })),
          names: names.map(signedName),
        }
        try {
          return await tools.change(projectId, { ...changes, removed }, ...rest)
        } catch (error) {
          if (!(error instanceof BrokerError && error.code === 'already_exists')) throw error
          const rivals = await Promise.all(put.map(tools.identical))
          const altered = rivals.flatMap((one) => (tool(one) === undefined ? (one?.uid ?? []) : []))
          if (altered.length === 0) throw error
          return tools.change(projectId, { ...changes, removed: [...removed, ...altered] }, ...rest)
        }
      },
      bind: async (bound, ...rest) =>
        tool(await tools.bind({ ...bound, bindingMac: signer.binding(bound) }, ...rest)),
    },
    toolNames: {
      ...toolNames,
      find: async (...args) => (await toolNames.find(...args)).map(name),
      async page(...args) {
        const { rows, ...rest } = await toolNames.page(...args)
        return { ...rest, rows: rows.map(name) }
      },
      settle: (names) => toolNames.settle(names.map(signedName)),
    },
    toolsets: {
      ...toolsets,
      async add(one, ...rest) {
        const known = await toolsets.find(one.projectId, one.id)
        if (known !== undefined && toolset(known) === undefined)
          return toolsets.change(known, signedToolset(one), ...rest)
        return toolsets.add(signedToolset(one), ...rest)
      },
      change: (from, to, ...rest) => toolsets.change(from, signedToolset(to), ...rest),
      find: async (...args) => toolset(await toolsets.find(...args)),
      list: async (...args) => all(await toolsets.list(...args), toolset),
    },
  }
}
