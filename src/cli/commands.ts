import { features } from '../features/features.ts'
import { withAdditions } from '../features/load-features.ts'
import type { CommandEntry } from './command-entry.ts'

const OWN: readonly CommandEntry[] = [
  {
    name: 'dev',
    description: 'run in development, with a SQLite file, a sandbox provider, a sample tool, and next steps',
    load: async () => (await import('./dev.ts')).defineDev,
  },
  {
    name: 'serve',
    description: 'run in production; the settings that its safety depends on are required',
    load: async () => (await import('./serve.ts')).defineServe,
  },
  {
    name: 'import',
    description: 'import tool metadata: the tools, and their oauth entries as providers',
    load: async () => (await import('./import-tools.ts')).defineImport,
  },
  {
    name: 'connect',
    description: 'ask a user for consent in the browser and wait for the answer',
    load: async () => (await import('./connect.ts')).defineConnect,
  },
  {
    name: 'token',
    description: "print a user's access token, refreshed if needed",
    load: async () => (await import('./token.ts')).defineToken,
  },
  {
    name: 'connections',
    description:
      "users' connections: list (the default), delete; those of the project: shared, add, change, test",
    load: async () => (await import('./connections.ts')).defineConnections,
  },
  {
    name: 'tools',
    description: 'tools: list (the default), show, delete, dev',
    load: async () => (await import('./tools.ts')).defineTools,
  },
  {
    name: 'mcp',
    description: 'print how to add this server to MCP clients, ready to paste',
    load: async () => (await import('./mcp.ts')).defineMcp,
  },
  {
    name: 'mcp-clients',
    description: 'MCP clients that users have allowed to act for them: list (the default), delete',
    load: async () => (await import('./mcp-clients.ts')).defineMcpClients,
  },
  {
    name: 'runs',
    description: 'past and scheduled runs of tools: list (the default), show',
    load: async () => (await import('./runs.ts')).defineRuns,
  },
  {
    name: 'providers',
    description: 'authorization servers: list (the default), show, add, set, delete, test',
    load: async () => (await import('./providers.ts')).defineProviders,
  },
  {
    name: 'workers',
    description: 'the services that run tools: list (the default), show, add, diff, accept, delete',
    load: async () => (await import('./workers.ts')).defineWorkers,
  },
  {
    name: 'secrets',
    description: 'secrets of tools: list (the default), set, delete',
    load: async () => (await import('./secrets.ts')).defineSecrets,
  },
  {
    name: 'keys',
    description: 'API keys: create, list, rotate, revoke',
    load: async () => (await import('./keys.ts')).defineKeys,
  },
  {
    name: 'projects',
    description: 'projects: list (the default), create',
    load: async () => (await import('./projects.ts')).defineProjects,
  },
  {
    name: 'audit',
    description: 'the audit trail: list, export, verify',
    load: async () => (await import('./audit.ts')).defineAudit,
    isLong: true,
  },
  {
    name: 'doctor',
    description: 'check the installation and print what to fix',
    load: async () => (await import('./doctor.ts')).defineDoctor,
  },
  {
    name: 'rotate-key',
    description: 're-encrypt everything with the newest master key while servers run',
    load: async () => (await import('./rotate-master-key.ts')).defineRotateMasterKey,
    isLong: true,
  },
  {
    name: 'backup',
    description: 'copy the installation into one file while servers run',
    load: async () => (await import('./backup.ts')).defineBackup,
    isLong: true,
  },
  {
    name: 'restore',
    description: 'restore an installation from a backup into an empty database',
    load: async () => (await import('./restore.ts')).defineRestore,
  },
  {
    name: 'migrate',
    description: 'update the database schema, or move the installation to another database',
    load: async () => (await import('./migrate.ts')).defineMigrate,
  },
]

/** Every command, in the order of the help. */
export const COMMANDS: readonly CommandEntry[] = withAdditions(
  OWN.map(withSubcommands),
  features.flatMap(({ commands = [] }) => commands),
  ({ name }) => name,
)

function withSubcommands(entry: CommandEntry): CommandEntry {
  const added = features.flatMap(({ subcommands = [] }) => subcommands).filter(({ of }) => of === entry.name)
  return {
    ...entry,
    description: [entry.description, ...added.map(({ name }) => name)].join(', '),
    async load() {
      const [define, ...others] = await Promise.all([entry, ...added].map((command) => command.load()))
      return (command, shell) => {
        define?.(command, shell)
        for (const [at, { name, description }] of added.entries())
          others[at]?.(command.command(name).description(description), shell)
      }
    },
  }
}
