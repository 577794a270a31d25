import type { Command } from 'commander'
import open from 'open'
import yoctoSpinner from 'yocto-spinner'
import { type Authorization, type Completed, scopesOf } from '../domain/authorization.ts'
import { toTimestamp } from '../domain/clock.ts'
import type { Connection } from '../domain/connection.ts'
import { BrokerError } from '../domain/errors.ts'
import { coveredScopes, missingScopes } from '../domain/scopes.ts'
import { awaitAuthorization } from '../flows/await-authorization.ts'
import { type BegunAuthorization, beginAuthorization, connectUrl } from '../flows/begin-authorization.ts'
import { findProviderByUid } from '../flows/find-provider.ts'
import { factsOf } from '../providers/known-facts.ts'
import { findTool } from '../tools/catalogue/find-tool.ts'
import { authorizeTool } from '../tools/run/authorize-tool.ts'
import { chooseProvider, unknownProvider } from './choose-provider.ts'
import { faint, MARKS, plain, print, printJson, strong } from './print.ts'
import { requireServer } from './require-server.ts'
import {
  CommandFailure,
  type CommonOptions,
  jsonOption,
  parseScopes,
  projectOption,
  type Shell,
} from './shell.ts'
import { type Opened, withBroker } from './with-broker.ts'

interface ConnectOptions extends CommonOptions {
  readonly user: string
  readonly scopes?: string[]
  readonly account?: string
  readonly open: boolean
}

export function addConnect(program: Command, shell: Shell): void {
  program
    .command('connect')
    .description('ask a user for consent in the browser, and wait for the answer')
    .argument('<provider or tool>', 'a provider such as github, or a tool, for all that it needs')
    .requiredOption('--user <id>', 'the user')
    .option('--scopes <scopes>', 'scopes to ask a provider for, comma-separated', parseScopes)
    .option('--account <account>', "which of the user's accounts, or `new` for one more")
    .option('--no-open', 'only print the link')
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .action(async (name: string, options: ConnectOptions) =>
      withBroker(shell, options, async (opened) => {
        const begun = await begin(opened, name, options)
        if (begun.outcome === 'covered') return reportCovered(opened, name, begun, options)
        await requireServer(opened, begun.authorization)
        const settled = await settle(opened, begun.authorization, options)
        await report(opened, settled, options)
      }),
    )
}

async function begin(opened: Opened, name: string, options: ConnectOptions): Promise<BegunAuthorization> {
  const { broker, project } = opened
  const { user: userId, scopes, account } = options
  const who = { userId, ...(account !== undefined && { account }) }
  const entry = await chooseProvider(opened, name)
  if (entry !== undefined)
    return beginAuthorization(broker, {
      projectId: project.id,
      ...who,
      providers: [{ entry, scopes: scopes ?? [] }],
    })
  const tool = await findTool(broker, project.id, name).catch((error: unknown) => {
    if (error instanceof BrokerError && error.code === 'not_found')
      return unknownProvider(opened, 'provider or tool', name)
    throw error
  })
  if (scopes !== undefined)
    throw new CommandFailure(
      `"${tool.title}" is a tool and says itself which scopes it needs: leave --scopes out.`,
    )
  return authorizeTool(broker, { tool, ...who })
}

/** Shows the link and waits for as long as it lives. A server, in its own process, does the rest. */
async function settle(
  opened: Opened,
  authorization: Authorization,
  options: ConnectOptions,
): Promise<Authorization> {
  const { broker, project } = opened
  const url = connectUrl(broker, authorization)
  if (options.json) printJson(pendingToWire(authorization, url))
  else
    print(
      `Open this link and approve${options.open ? '; your browser should show it by itself' : ''}:\n\n  ${strong(url)}\n`,
    )
  if (options.open) await open(url).catch(() => {}) // no browser here: the link is printed
  const seconds = authorization.expiresAt - broker.now()
  const spinner =
    !options.json && process.stderr.isTTY
      ? yoctoSpinner({
          text: `Waiting for ${plain(options.user)} to approve, until ${clockTime(authorization.expiresAt)}`,
        }).start()
      : undefined
  try {
    return await awaitAuthorization(broker, project.id, authorization.id, { waitSeconds: seconds + 1 })
  } finally {
    spinner?.stop()
  }
}

async function report(opened: Opened, settled: Authorization, options: ConnectOptions): Promise<void> {
  if (settled.status === 'completed') {
    const connections = await connectionsOf(opened, settled)
    if (options.json)
      printJson({ ...wireOf(settled), status: 'completed', connections: await toWire(opened, connections) })
    else for (const connection of connections) await reportConnection(opened, connection, 'is connected to')
    const covered = await Promise.all(
      connections.map(async ({ projectId, providerUid, scopes }) => {
        const entry = await findProviderByUid(opened.broker, projectId, providerUid)
        return [...coveredScopes(scopes, entry && factsOf(entry.provider))]
      }),
    )
    const refused = missingScopes(scopesOf(settled), covered.flat())
    if (refused.length > 0 && !options.json)
      print(`${MARKS.warning} Asked for but not granted: ${refused.map(plain).join(' ')}`)
    return
  }
  const { reason, message } =
    settled.status === 'failed'
      ? settled
      : { reason: 'pending', message: 'It has not ended yet. Run this again.' }
  if (options.json) printJson({ ...wireOf(settled), status: settled.status, reason, message })
  throw new CommandFailure(`${plain(options.user)} is not connected (${reason}): ${plain(message)}`)
}

async function reportCovered(
  opened: Opened,
  name: string,
  { releases }: Extract<BegunAuthorization, { outcome: 'covered' }>,
  { json, user }: ConnectOptions,
): Promise<void> {
  const connections = releases.map((one) => one.connection)
  if (json) printJson({ status: 'completed', user_id: user, connections: await toWire(opened, connections) })
  else if (connections.length === 0) print(`${MARKS.ok} ${plain(name)} needs no consent.`)
  else
    for (const connection of connections)
      await reportConnection(opened, connection, 'is connected already to')
}

async function reportConnection(opened: Opened, connection: Connection, verb: string): Promise<void> {
  const { id, userId, providerUid, account, scopes } = connection
  const entry = await findProviderByUid(opened.broker, connection.projectId, providerUid)
  const name = account.name || account.id
  print(
    `${MARKS.ok} ${plain(userId)} ${verb} ${plain(entry?.provider.displayName ?? providerUid)}${name === '' ? '' : ` as ${strong(plain(name))}`}\n` +
      `  ${faint('scopes')}      ${scopes.length === 0 ? '-' : scopes.map(plain).join(' ')}\n` +
      `  ${faint('connection')}  ${id}`,
  )
}

async function connectionsOf({ broker }: Opened, { steps }: Completed): Promise<Connection[]> {
  const ids = steps.flatMap((step) => step.connectionId ?? [])
  const found = await Promise.all(ids.map((id) => broker.store.connections.find(id)))
  return found.filter((one) => one !== undefined)
}

function wireOf({ id, userId }: Authorization) {
  return { id, user_id: userId }
}

function pendingToWire(authorization: Authorization, url: string) {
  return {
    ...wireOf(authorization),
    status: 'pending',
    url,
    scopes: scopesOf(authorization),
    expires_at: toTimestamp(authorization.expiresAt),
  }
}

async function toWire({ broker }: Opened, connections: readonly Connection[]) {
  return Promise.all(
    connections.map(async ({ id, projectId, providerUid, account, scopes }) => ({
      id,
      provider_id: (await findProviderByUid(broker, projectId, providerUid))?.id ?? providerUid,
      account: { id: account.id, name: account.name },
      scopes,
    })),
  )
}

function clockTime(at: number): string {
  return new Date(at * 1000).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })
}

const EXAMPLES = `
Examples:
  $ gatepass connect github --user ada --scopes repo,read:user
  $ gatepass connect "Sandbox Profile" --user ada
  $ gatepass connect google --user ada --account new --no-open --json

A server must be running (gatepass dev or gatepass serve) on the same database.
With --json there are two lines: first {"status": "pending", "url", ...}, then how it ended.
Exit code 1 when it failed.`
