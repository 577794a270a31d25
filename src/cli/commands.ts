import type { Command } from 'commander'
import type { Shell } from './shell.ts'

/** Gives a command its arguments, options and action. */
export type DefineCommand = (command: Command, shell: Shell) => void

export interface CommandEntry {
  readonly name: string
  readonly description: string
  /** Loads what the command needs; the modules of the other commands stay unread. */
  readonly load: () => Promise<DefineCommand>
}

/** Every command, in the order of the help. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'dev',
    description: 'run in development: a SQLite file, a sandbox provider, a sample tool, and what to do next',
    load: async () => (await import('./dev.ts')).defineDev,
  },
  {
    name: 'serve',
    description: 'run in production; every setting that decides its safety must be there',
    load: async () => (await import('./serve.ts')).defineServe,
  },
  {
    name: 'import',
    description: 'import tool metadata: the tools become known, their oauth entries become providers',
    load: async () => (await import('./import.ts')).defineImport,
  },
  {
    name: 'connect',
    description: 'ask a user for consent in the browser, and wait for the answer',
    load: async () => (await import('./connect.ts')).defineConnect,
  },
  {
    name: 'token',
    description: "print a user's access token alone, refreshed if need be",
    load: async () => (await import('./token.ts')).defineToken,
  },
  {
    name: 'connections',
    description: "users' connections: list (when nothing else is said), delete",
    load: async () => (await import('./connections.ts')).defineConnections,
  },
  {
    name: 'tools',
    description: 'tools: list (when nothing else is said), show, delete',
    load: async () => (await import('./tools.ts')).defineTools,
  },
  {
    name: 'runs',
    description: 'what was run, and what is to be run: list (when nothing else is said), show, cancel',
    load: async () => (await import('./runs.ts')).defineRuns,
  },
  {
    name: 'providers',
    description: 'authorization servers: list (when nothing else is said), show, add, set, delete',
    load: async () => (await import('./providers.ts')).defineProviders,
  },
  {
    name: 'workers',
    description: 'where tools run: list (when nothing else is said), show, add, accept, delete',
    load: async () => (await import('./workers.ts')).defineWorkers,
  },
  {
    name: 'secrets',
    description: 'secrets of tools: list (when nothing else is said), set, delete',
    load: async () => (await import('./secrets.ts')).defineSecrets,
  },
  {
    name: 'policies',
    description: 'rules on who may use which tokens for what: list, set, delete',
    load: async () => (await import('./policies.ts')).definePolicies,
  },
  {
    name: 'keys',
    description: 'API keys: create, list, rotate, revoke',
    load: async () => (await import('./keys.ts')).defineKeys,
  },
  {
    name: 'projects',
    description: 'projects: list (when nothing else is said), create',
    load: async () => (await import('./projects.ts')).defineProjects,
  },
  {
    name: 'audit',
    description: 'the audit trail: list, export, verify',
    load: async () => (await import('./audit.ts')).defineAudit,
  },
  {
    name: 'doctor',
    description: 'look at everything that can be wrong, and say what to fix',
    load: async () => (await import('./doctor.ts')).defineDoctor,
  },
  {
    name: 'rotate-key',
    description: 'seal everything with the newest master key, beside running servers',
    load: async () => (await import('./rotate-key.ts')).defineRotateKey,
  },
  {
    name: 'backup',
    description: 'copy the installation into one file, beside running servers',
    load: async () => (await import('./backup.ts')).defineBackup,
  },
  {
    name: 'restore',
    description: 'put an installation back from a backup, into an empty database',
    load: async () => (await import('./restore.ts')).defineRestore,
  },
  {
    name: 'migrate',
    description: "bring the database's schema up to date, or move the installation to another database",
    load: async () => (await import('./migrate.ts')).defineMigrate,
  },
]
