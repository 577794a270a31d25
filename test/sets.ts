import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/**
 * The files of `npm test`, below `test/`, by what they cover: each promise of the main job for the least processor time.
 * `npm run test:all` runs all others, so a new file is there until it is named here. Here is no file that mainly waits,
 * kills processes, opens a browser, measures time or memory, or draws much random input. Together these take less than
 * 260 s of processor time.
 */
export const SHORT: Readonly<Record<string, readonly string[]>> = {
  'the main job, by HTTP and by the command line': ['http/main-job', 'cli/main-job', 'config'],
  'consent, callbacks, refresh and revocation': [
    ...['accounts', 'authorization-requests', 'begin-authorization', 'cancel', 'client-authentication'],
    ...['confirm-user', 'error-responses', 'expiry', 'hostile-browsers'],
    ...['issuer-metadata', 'owned-ids', 'receive-response', 'refresh-and-consent', 'refresh-clock'],
    ...['refresh-connection', 'refresh-decide', 'refresh-times', 'revocation-requests', 'revoke-connection'],
    ...['scopes', 'user-variables'],
  ].map((name) => `flows/${name}`),
  'what providers answer, and requests that leave': [
    ...['providers/api-host', 'providers/catalogue', 'providers/identity', 'providers/refused-grant'],
    ...['providers/template', 'providers/token-response', 'egress/*'],
  ],
  'storage on SQLite and PostgreSQL': ['store/sqlite', 'store/postgres', 'store/seal', 'store/migrations'],
  'the HTTP API': [
    ...[
      'api',
      'audit',
      'catalogue',
      'concurrent-changes',
      'console-login',
      'errors',
      'idempotency',
      'import',
    ],
    ...['keys', 'keys-of-one-user', 'lists', 'openapi-document', 'runs'],
    'tools',
  ].map((name) => `http/${name}`),
  'features, each with its API': [
    'api',
    'concurrent-changes',
    'hook-agreements',
    'mcp',
    'postgres',
    'runs',
    'scopes',
    'signed-store',
    'workers',
  ].map((name) => `features/*/${name}`),
  'tools and their answers': [
    ...['dialog', 'mcp', 'read-metadata', 'scrub', 'tool-model', 'worker-protocol'],
  ].map((name) => `tools/${name}`),
  'MCP clients': [
    ...['authorization-server', 'authorization-server-attacks', 'callers', 'consent', 'endpoint'],
    ...['endpoint-lists', 'endpoint-requests', 'isolation'],
  ].map((name) => `mcp/${name}`),
  'the SDK': ['failures', 'methods', 'retries', 'tools', 'webhooks', 'tools/run-tool'].map(
    (name) => `sdk/${name}`,
  ),
  threats: [
    ...['answers-that-hurt', 'api-keys', 'authorization-request', 'hosts', 'isolation'],
    ...['one-way-out', 'pages', 'request-limits', 'secrets', 'templates', 'token-answers', 'workers'],
  ].map((name) => `threats/${name}`),
  'lists that other files must keep to': [
    ...['changelog', 'commits', 'layers', 'lines', 'waits', 'words'].map((name) => `house/${name}`),
    ...['mutants/list', 'security-table', 'sets'],
  ],
}

/** What the files of `npm run test:all` do, for what `npm test` prints. */
const REST =
  'browsers, agent frameworks, killed processes, full disks, the whole command line, deployment, all kinds of tools, limits'

const pathOf = (name: string) => `test/${name}.test.ts`
export const shortFiles: readonly string[] = Object.values(SHORT).flat().map(pathOf)

/** Says what a run of `npm test` or `npm run test:all` covers, and what not. */
export function coverageOf(mode: 'short' | 'rest'): string {
  const all = globSync('test/**/*.test.ts', { cwd: ROOT }).length
  const short = globSync([...shortFiles], { cwd: ROOT }).length
  const here = Object.keys(SHORT).join('; ')
  return mode === 'short'
    ? `npm test: ${short} of ${all} files. ${here}.\nnpm run test:all has the other ${all - short}: ${REST}.\n`
    : `npm run test:all: the ${all - short} of ${all} files that npm test leaves out. ${REST}.\n`
}
