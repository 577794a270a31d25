import { type Command, Option } from 'commander'
import { withApi } from './api.ts'
import { bold, dim, print, printJson, sanitize, toSecond } from './print.ts'
import {
  type CommonOptions,
  parseId,
  parseNames,
  parseWholeNumber,
  type Shell,
  withCommonOptions,
} from './shell.ts'

interface PortalOptions extends CommonOptions {
  readonly may?: string[]
  readonly name?: string
  readonly returnUrl?: string
  readonly lang?: string
  readonly seconds?: number
}

interface PortalLinkWire {
  readonly url: string
  readonly expires_at: string
}

export function definePortal(command: Command, shell: Shell): void {
  withCommonOptions(command.argument('<user>', 'the user', parseId))
    .option('--may <rights>', 'comma-separated: view, disconnect, connect, export, erase', parseNames)
    .option('--name <name>', "the user's name, for the page")
    .option('--return-url <url>', 'where the page leads back to')
    .option('--lang <language>', 'the language of the page; else that of the browser')
    .addOption(new Option('--seconds <seconds>', 'how long the link works').argParser(parseWholeNumber))
    .addHelpText('after', EXAMPLES)
    .action(async (user: string, options: PortalOptions) =>
      withApi(shell, options, async (api) => {
        const { may, name, returnUrl, lang, seconds } = options
        const link = await api.send<PortalLinkWire>('POST', `/v1/users/${encodeURIComponent(user)}/portal`, {
          body: {
            ...(may !== undefined && { may: [...new Set(['view', ...may])] }),
            ...(name !== undefined && { user_display: name }),
            ...(returnUrl !== undefined && { return_url: returnUrl }),
            ...(lang !== undefined && { lang }),
            ...(seconds !== undefined && { seconds }),
          },
        })
        if (options.json) return printJson(link)
        print(bold(link.url))
        print(
          dim(
            `Opens the page of ${sanitize(user)}, once, until ${toSecond(link.expires_at)}. Give it to that user alone.`,
          ),
        )
      }),
    )
}

const EXAMPLES = `
Examples:
  $ gatepass portal ada
  $ gatepass portal ada --may disconnect,connect,export,erase --name "Ada L." --seconds 600

The page shows what the user has connected, and lets them end it.`
