import { BrokerError } from '../domain/errors.ts'
import { sha256 } from '../domain/ids.ts'
import type { Tool } from '../domain/tool.ts'
import { type ToolName, toolIdentity } from '../domain/tool-name.ts'
import { CORE } from '../store/protected-tables.ts'
import type { Signing } from '../store/signed-rows.ts'
import type { Store } from '../store/store.ts'

/** The owner of a name whose row was altered: no source has it. */
const ALTERED = 'altered'

/**
 * The part of `signedStore` for tools. A tool without a genuine MAC counts as absent, and is replaced when its source brings
 * it again.
 */
export function signedTools(
  { tools, toolNames, pinnedTools }: Store,
  signing: Signing,
): Pick<Store, 'tools' | 'toolNames' | 'pinnedTools'> {
  const entry = signing(CORE.providers.signed)
  const tool = signing(CORE.tools.signed)
  const toolName = signing(CORE.toolNames.signed)
  const pinnedTool = signing(CORE.pinnedTools.signed)
  const name = (row: ToolName): ToolName => toolName.check(row) ?? { ...row, source: ALTERED }
  /** The tool keeps its getters, which parse large members when they are read. */
  const withOwner = (stored: Tool): Tool => {
    if (stored.owner === undefined) return stored
    const row = { projectId: stored.projectId, identity: toolIdentity(stored), ...stored.owner }
    return Object.defineProperty(stored, 'owner', { value: { ...stored.owner, source: name(row).source } })
  }
  const genuineTools = (rows: readonly Tool[]) => tool.checkAll(rows).map(withOwner)

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
      async identical(identity) {
        const row = tool.check(await tools.identical(identity))
        return row && withOwner(row)
      },
      async change(projectId, { put, removed, entries = [], names = [], pins = {}, ...others }, ...rest) {
        const changes = {
          ...others,
          put: put.map(tool.sign),
          entries: entries.map(({ to, ...from }) => ({ ...from, to: entry.sign(to) })),
          names: names.map(toolName.sign),
          pins: {
            ...pins,
            put: pins.put?.map(pinnedTool.sign) ?? [],
            held: pins.held?.map(tool.sign) ?? [],
          },
        }
        try {
          return await tools.change(projectId, { ...changes, removed }, ...rest)
        } catch (error) {
          if (!(error instanceof BrokerError && error.code === 'already_exists')) throw error
          const rivals = await Promise.all(put.map(tools.identical))
          const altered = rivals.flatMap((rival) =>
            tool.check(rival) === undefined ? (rival?.uid ?? []) : [],
          )
          if (altered.length === 0) throw error
          return tools.change(projectId, { ...changes, removed: [...removed, ...altered] }, ...rest)
        }
      },
      bind: async (bound, ...rest) =>
        tool.check(await tools.bind({ ...bound, bindingMac: tool.macs.bindingMac(bound) }, ...rest)),
    },
    toolNames: {
      ...toolNames,
      find: async (...args) => (await toolNames.find(...args)).map(name),
      async page(...args) {
        const { rows, ...rest } = await toolNames.page(...args)
        return { ...rest, rows: rows.map(name) }
      },
      settle: (names) => toolNames.settle(names.map(toolName.sign)),
    },
    pinnedTools: {
      ofWorker: async (...args) => pinnedTool.checkAll(await pinnedTools.ofWorker(...args)),
      definitions: async (...args) =>
        pinnedTool
          .checkAll(await pinnedTools.definitions(...args))
          .filter(({ definition = '', listed }) => sha256(definition) === listed),
      waiting: async (...args) => pinnedTool.checkAll(await pinnedTools.waiting(...args)),
    },
  }
}
