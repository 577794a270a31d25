import type { Feature } from '../feature.ts'

/** Selections of tools for MCP clients. */
export const toolsets: Feature = {
  commands: [
    {
      name: 'toolsets',
      after: 'tools',
      description: 'selections of tools for MCP clients: list (the default), show, create, update, delete',
      load: async () => (await import('./command.ts')).defineToolsets,
    },
  ],
  store: async () => (await import('./store.ts')).toolsetStore,
  toolSelections: async () => (await import('./toolset.ts')).toolSelections,
  selectionAddress: async () => (await import('./command-mcp.ts')).addressOfToolset,
  operations: () => import('./operations.ts'),
}
