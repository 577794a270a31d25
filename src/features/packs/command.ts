import type { Command } from 'commander'
import { addProvider, missingVariables } from '../../cli/add-provider.ts'
import { type Api, withApi } from '../../cli/api.ts'
import { outputTable } from '../../cli/output-table.ts'
import { bold, dim, MARKS, print, printJson, quantity, sanitize, table } from '../../cli/print.ts'
import { type CommonOptions, parseId, type Shell, withCommonOptions } from '../../cli/shell.ts'
import { omitted } from '../../operations/omitted.ts'
import type { AuthProviderResponse, PackDetail } from '../../sdk/generated/wire.ts'
import { defineAuthorCommands } from './command-author.ts'
import { defineTry } from './command-try.ts'

const PACKS = outputTable('listPacks', {
  id: 'id',
  tool_count: ['tools', ({ tool_count }) => String(tool_count)],
  compared: [
    'compared with',
    ({ compared: { description, client, nothing } }) =>
      [
        ...(description > 0 ? [`description ${description}`] : []),
        ...(client > 0 ? [`client ${client}`] : []),
        ...(nothing > 0 ? [`nothing ${nothing}`] : []),
      ].join(', '),
  ],
  source: ['from', ({ source }) => (source === 'own' ? 'own' : '')],
  provider_id: 'provider',
  summary: 'for',
  ...omitted('name', 'version', 'checked_at', 'checked_count'),
})

interface ChoiceOptions extends CommonOptions {
  readonly readOnly?: true
  readonly tool?: readonly string[]
  readonly provider?: string
}

interface AddOptions extends ChoiceOptions {
  readonly approvals: boolean
  readonly approvers?: string
}

interface UpdateOptions extends CommonOptions {
  readonly dryRun?: true
}

export function definePacks(packs: Command, shell: Shell): void {
  packs.addHelpText('after', EXAMPLES)

  withCommonOptions(packs.command('list', { isDefault: true }).description('list tool packs'))
    .addHelpText('after', EXAMPLES)
    .action(async (options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const items = await api.list('listPacks')
        const { faults } = await api.call('listPacks', { query: { limit: 1 } })
        if (options.json) return printJson({ items, faults })
        print(PACKS(items))
        for (const { message } of faults) print(`${MARKS.warning} ${sanitize(message)}`)
      }),
    )

  withChoice(packs.command('show').description('show the tools of a pack, and the scopes they need'))
    .addHelpText('after', EXAMPLES)
    .action(async (id: string, options: ChoiceOptions) =>
      withApi(shell, options, async (api) => {
        const pack = await findPack(api, id, options)
        if (options.json) return printJson(pack)
        print(`${bold(sanitize(pack.name))}  ${dim(sanitize(pack.summary))}`)
        printTools(pack)
      }),
    )

  defineTry(packs, shell)

  withChoice(packs.command('add').description('add the tools of a pack, with its provider and a toolset'))
    .option('--approvers <group>', 'the group whose people approve risky calls, in place of the user')
    .option('--no-approvals', 'do not make the policy that has a person approve risky calls')
    .addHelpText('after', EXAMPLES)
    .action(async (id: string, options: AddOptions) =>
      withApi(shell, { ...options, creates: 'database' }, (api) => addPack(api, id, options)),
    )

  withCommonOptions(
    packs
      .command('update')
      .description('take the present definitions of the tools that were added from a pack')
      .argument('<id>', "the pack's id", parseId),
  )
    .option('--dry-run', 'only show what would change')
    .addHelpText('after', EXAMPLES)
    .action(async (id: string, options: UpdateOptions) =>
      withApi(shell, options, (api) => updatePack(api, id, options)),
    )

  defineAuthorCommands(packs)
}

function withChoice(command: Command): Command {
  return withCommonOptions(command.argument('<id>', "the pack's id", parseId))
    .option('--read-only', 'only tools that change nothing')
    .option('--tool <names...>', 'only these tools')
    .option(
      '--provider <id>',
      "the provider whose tokens they use, where it is not the only one of the pack's kind",
    )
}

function findPack(api: Api, id: string, { readOnly, tool, provider }: ChoiceOptions): Promise<PackDetail> {
  const query = {
    ...(readOnly && { read_only: 'true' as const }),
    ...(tool && { tools: tool.join(',') }),
    ...(provider !== undefined && { provider_id: provider }),
  }
  return api.call('getPack', { params: { id }, query })
}

async function addPack(api: Api, id: string, options: AddOptions): Promise<void> {
  const { readOnly, tool, provider, approvers, approvals } = options
  const body = {
    id,
    ...(readOnly && { read_only: true }),
    ...(tool && { tools: [...tool] }),
    ...(provider !== undefined && { provider_id: provider }),
    ...(!approvals
      ? { approvals: false as const }
      : approvers !== undefined && { approvals: { group: approvers } }),
  }
  const send = () => api.call('addPack', { body })
  const added = await send().catch(async (error: unknown) => {
    // at a terminal a value of the provider's URLs, such as Zendesk's subdomain, can be given
    if (missingVariables(error).length === 0 || !process.stdin.isTTY) throw error
    await addProviders(api, await findPack(api, id, options))
    return send()
  })
  if (options.json) return printJson(added)
  const tools = `${quantity(added.tools.length, 'tool')} of ${sanitize(added.name)}`
  print(
    `${MARKS.ok} Added ${tools}: ${[`worker ${added.worker.id}`, ...(added.toolset ? [`toolset ${added.toolset.id}`] : [])].join(', ')}.`,
  )
  printTools(added)
  if (added.policy)
    print(`${dim('approvals')}  policy ${added.policy.id}: a person approves calls of tools with "asks"`)
  if (added.toolset) print(`${dim('for MCP')}    ${added.toolset.url}`)
  for (const provider of added.providers) printProvider(provider)
}

/** Adds the entries that the tools need and that are missing, and prompts for what their URLs need. */
async function addProviders(api: Api, { tools }: PackDetail): Promise<void> {
  const known = await api.list('listAuthProviders')
  for (const id of new Set(tools.map(({ provider_id }) => provider_id)))
    if (!known.some((one) => one.provider_id === id || one.id === id))
      await addProvider(api, { id, provider_id: id })
}

async function updatePack(api: Api, id: string, options: UpdateOptions): Promise<void> {
  const diff = await api.call('updatePack', { params: { id }, body: { dry_run: options.dryRun === true } })
  if (options.json) return printJson(diff)
  for (const { name, members } of diff.changed) {
    print(bold(sanitize(name)))
    for (const { at, before, after } of members)
      print(`  ${sanitize(at)}  ${dim(shown(before))} -> ${shown(after)}`)
  }
  const count = diff.changed.length
  print(
    `${MARKS.ok} ${quantity(count, 'definition')} of ${id} ${options.dryRun ? 'would change' : 'changed'}, ${diff.unchanged} did not (version ${diff.version}).`,
  )
  if (diff.gone.length > 0)
    print(
      `${MARKS.warning} No longer in the pack, ${options.dryRun ? 'would be removed' : 'removed'}: ${diff.gone.join(', ')}.`,
    )
  if (diff.new.length > 0) print(`${dim('not added')}  ${diff.new.join(', ')}`)
  const waiting = diff.waiting ?? []
  if (waiting.length > 0)
    print(
      `${MARKS.warning} ${quantity(waiting.length, 'definition')} of ${id} wait: see \`gatepass workers diff ${id}\`, then \`gatepass workers accept ${id}\`.`,
    )
}

/** A value in a line, shortened. */
function shown(value: unknown): string {
  if (value === undefined) return 'nothing'
  const text = sanitize(JSON.stringify(value))
  return text.length > 100 ? `${text.slice(0, 99)}…` : text
}

function printTools({ tools }: Pick<PackDetail, 'tools'>): void {
  print(
    table(
      ['tool', 'effect', 'approval', 'scopes'],
      tools.map(({ name, read_only, destructive, approval, scopes }) => [
        name,
        read_only ? 'reads' : destructive ? 'destroys' : 'writes',
        approval === 'ask' ? 'asks' : '',
        scopes.join(' '),
      ]),
    ),
  )
}

function printProvider(provider: AuthProviderResponse): void {
  const redirectUri = (provider.oauth2 ?? provider.oauth1)?.redirect_uri
  if (provider.status === 'active' || redirectUri === undefined) return
  print(`${MARKS.warning} The provider ${provider.id} needs a client.`)
  print(`${dim('redirect URI')}  ${redirectUri}`)
  print(`${dim('then')}          gatepass providers set ${provider.id} --client-id …`)
}

const EXAMPLES = `
Examples:
  $ gatepass packs
  $ gatepass packs show gmail
  $ gatepass packs try gmail
  $ gatepass packs add gmail --read-only
  $ gatepass packs add slack --tool SendMessage ListMessages
  $ gatepass packs update gmail --dry-run`
