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
  operations: () => import('./operations.ts'),
}
