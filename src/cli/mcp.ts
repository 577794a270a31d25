import { type Command, Option } from 'commander'
import { loadFeatures } from '../features/load-features.ts'
import { setupPath } from '../http/mcp-setup/mcp-setup.ts'
import {
  KEY_VARIABLE,
  MCP_CLIENTS,
  type McpTarget,
  mcpTarget,
  type SetupStep,
} from '../http/mcp-setup/setup-steps.ts'
import { type Api, withApi } from './api.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { bold, dim, print, printJson } from './print.ts'
import { type CommonOptions, commandLine, parseId, type Shell, withCommonOptions } from './shell.ts'

interface McpOptions extends CommonOptions {
  readonly client?: string
}

export function defineMcp(mcp: Command, shell: Shell): void {
  withCommonOptions(
    mcp.argument('[toolset]', 'the id of a toolset (default: all tools of the project)', parseId),
  )
    .addOption(
      new Option('--client <client>', 'only for this client').choices(MCP_CLIENTS.map(({ id }) => id)),
    )
    .addHelpText('after', EXAMPLES)
    .action(async (toolset: string | undefined, options: McpOptions) =>
      withApi(shell, options, async (api) => {
        const target = await targetOf(api, toolset)
        const page = new URL(setupPath(toolset), target.url)
        const clients = MCP_CLIENTS.filter(({ id }) => options.client === undefined || id === options.client)
        const setups = clients.map(({ id, name, source, signIn, apiKey }) => ({
          id,
          name,
          source,
          sign_in: signIn(target),
          ...(apiKey && { api_key: apiKey(target) }),
        }))
        if (options.json) return printJson({ url: target.url, page: page.href, clients: setups })
        print(`${bold('Address')}  ${target.url}`)
        print(`${bold('Page')}     ${page.href}`)
        for (const { name, source, sign_in, api_key } of setups) {
          print(`\n${bold(name)}  ${dim(source)}`)
          printSteps(sign_in)
          if (api_key === undefined) continue
          print(dim(`  With an API key of one user in ${KEY_VARIABLE}:`))
          printSteps(api_key)
        }
        const keys = commandLine(shell, 'keys', 'create', '--role', 'caller', '--user', 'ada')
        print(`\n${dim(`${keys} creates a key for one user.`)}`)
      }),
    )
}

async function targetOf(api: Api, toolset: string | undefined): Promise<McpTarget> {
  if (toolset === undefined) return mcpTarget(await api.publicUrl())
  const [addressOf] = await loadFeatures('selectionAddress')
  if (addressOf === undefined) throw new CommandFailure('This Gatepass has no toolsets.', EXIT.usage)
  return mcpTarget(await addressOf(api, toolset), toolset)
}

function printSteps(steps: readonly SetupStep[]): void {
  for (const { text, paste, link } of steps) {
    print(`  ${text}`)
    if (link !== undefined) print(`    ${link.label}: ${link.href}`)
    if (paste !== undefined) print(`\n${paste.replaceAll(/^/gm, '    ')}\n`)
  }
}

const EXAMPLES = `
Examples:
  $ gatepass mcp                               for every client, all tools of the project
  $ gatepass mcp mail --client claude-code     for one client, one toolset
  $ gatepass mcp --client vscode --json

The printed page shows the same instructions to people who use the clients.`
