import type { Feature } from '../feature.ts'

/** Definitions of providers from other products, and connections with their tokens: into Gatepass, and out of it. */
export const imports: Feature = {
  subcommands: [
    {
      of: 'providers',
      name: 'import',
      description: 'read the definitions of another product, an issuer or an MCP server into files',
      load: async () => (await import('./command-providers.ts')).defineProvidersImport,
    },
    {
      of: 'connections',
      name: 'import',
      description:
        'import connections with their tokens: Gatepass’ export, Nango’s answers, CSV or JSON lines',
      load: async () => (await import('./command-import.ts')).defineConnectionsImport,
    },
    {
      of: 'connections',
      name: 'export',
      description: 'write connections with their tokens, encrypted, into a file',
      load: async () => (await import('./command-export.ts')).defineConnectionsExport,
    },
  ],
  operations: () => import('./operations.ts'),
}
