import type { Feature } from '../feature.ts'

/** Administers selections of tools for MCP clients. `tools/catalogue/shown-tools.ts` applies them. */
export const toolsets: Feature = {
  commands: [
    {
      name: 'toolsets',
      after: 'tools',
      description: 'selections of tools for MCP clients: list (the default), show, create, update, delete',
      load: async () => (await import('./command.ts')).defineToolsets,
    },
  ],
  operations: () => import('./operations.ts'),
}
