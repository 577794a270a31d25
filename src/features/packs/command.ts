import type { Command } from 'commander'
import { addProvider } from '../../cli/add-provider.ts'
import { type Api, withApi } from '../../cli/api.ts'
import { CommandFailure, EXIT } from '../../cli/failure.ts'
import { outputTable } from '../../cli/output-table.ts'
import { bold, dim, MARKS, print, printJson, quantity, sanitize, table } from '../../cli/print.ts'
import { type CommonOptions, parseId, type Shell, withCommonOptions } from '../../cli/shell.ts'
import { omitted } from '../../operations/omitted.ts'
import type { AuthProviderResponse, Operations, PackDetail } from '../../sdk/generated/wire.ts'

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
    .addHelpText('after', EXAMPLES)
    .action(async (id: string, options: CommonOptions) =>
      withApi(shell, options, (api) => updatePack(api, id, options)),
    )
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
  const pack = await findPack(api, id, options)
  if (pack.tools.length === 0)
    throw new CommandFailure(`No tool of the pack "${id}" is chosen by these options.`, EXIT.usage)
  if ((await api.find('getWorker', { params: { id } })) !== undefined)
    throw new CommandFailure(
      `There is a worker "${id}" already. \`gatepass packs update ${id}\` takes the present definitions of its tools; to choose others, delete it first.`,
      EXIT.usage,
    )
  // first, so that nothing is added without the policy that was wanted
  const policy = options.approvals && pack.policy ? await addApprovals(api, pack.policy, options) : undefined
  const providers = await providersOf(api, pack, options)
  const worker = await api.call('createWorker', { body: bodyOf<'createWorker'>(pack.worker) })
  const toolset =
    (await api.find('getToolset', { params: { id } })) ??
    (await api.call('createToolset', { body: bodyOf<'createToolset'>(pack.toolset) }))
  if (options.json) return printJson({ pack: pack.id, providers, worker, toolset, policy })
  const tools = `${quantity(pack.tools.length, 'tool')} of ${sanitize(pack.name)}`
  print(`${MARKS.ok} Added ${tools}: worker ${worker.id}, toolset ${toolset.id}.`)
  printTools(pack)
  if (policy !== undefined)
    print(`${dim('approvals')}  policy ${policy.id}: a person approves calls of tools with "asks"`)
  print(`${dim('for MCP')}    ${toolset.url}`)
  for (const provider of providers) printProvider(provider)
}

/** The entries whose connections the chosen tools use; those that are missing are added. */
async function providersOf(
  api: Api,
  { provider_id, tools }: PackDetail,
  { provider: chosen }: AddOptions,
): Promise<AuthProviderResponse[]> {
  const known = await api.list('listAuthProviders')
  const entries: AuthProviderResponse[] = []
  for (const id of new Set(tools.map((tool) => tool.provider_id))) {
    const entry =
      id === provider_id && chosen !== undefined
        ? await api.call('getAuthProvider', { params: { id: chosen } })
        : (known.find((one) => one.provider_id === id) ?? known.find((one) => one.id === id))
    entries.push(entry ?? (await addProvider(api, { id, provider_id: id })))
  }
  return entries
}

async function addApprovals(
  api: Api,
  proposed: NonNullable<PackDetail['policy']>,
  { approvers }: AddOptions,
) {
  const policy = bodyOf<'createPolicy'>(proposed)
  const known = await api.find('getPolicy', { params: { id: policy.id } })
  if (known !== undefined) return known
  const body = approvers === undefined ? policy : { ...policy, approve: { by: { group: approvers } } }
  try {
    return await api.call('createPolicy', { body })
  } catch (error) {
    if (!(error instanceof CommandFailure) || !/^approve\.by/.test(error.message)) throw error
    throw new CommandFailure(
      `${error.message} With --approvers <group> people of a group approve risky calls; with --no-approvals they are made without asking. Nothing was added.`,
      EXIT.usage,
    )
  }
}

async function updatePack(api: Api, id: string, options: CommonOptions): Promise<void> {
  const { openapi } = await api.call('getWorker', { params: { id } })
  const added = (openapi?.requests ?? []).map(({ name }) => name)
  const whole = await findPack(api, id, options)
  const names = added.filter((name) => whole.tools.some((tool) => tool.name === name))
  const gone = added.filter((name) => !names.includes(name))
  const pack = await findPack(api, id, { ...options, tool: names })
  const body = { openapi: bodyOf<'createWorker'>(pack.worker).openapi }
  const worker = await api.call('updateWorker', { params: { id }, body })
  if (options.json) return printJson(worker)
  const changed = worker.acceptance?.changed ?? []
  print(
    `${MARKS.ok} ${quantity(names.length, 'tool')} of ${id} have the definitions of version ${pack.version}.`,
  )
  if (gone.length > 0) print(`${MARKS.warning} No longer in the pack: ${gone.join(', ')}.`)
  if (changed.length > 0)
    print(
      `${MARKS.warning} ${quantity(changed.length, 'definition')} changed and wait: see \`gatepass workers diff ${id}\`, then \`gatepass workers accept ${id}\`.`,
    )
}

/** `getPack` answers the bodies of these operations. */
function bodyOf<Id extends 'createWorker' | 'createToolset' | 'createPolicy'>(answered: object) {
  return answered as Operations[Id]['body']
}

function printTools({ tools }: PackDetail): void {
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
  $ gatepass packs add gmail --read-only
  $ gatepass packs add slack --tool SendMessage ListMessages`
