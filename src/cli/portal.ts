import { type Command, Option } from 'commander'
import type { Body } from '../sdk/client/operation.ts'
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
  /** The API refuses words that are no rights. */
  readonly may?: NonNullable<Body<'createPortalLink'>['may']>
  readonly name?: string
  readonly returnUrl?: string
  readonly lang?: string
  readonly seconds?: number
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
        const link = await api.call('createPortalLink', {
          params: { user_id: user },
          body: {
            ...(may !== undefined && { may: [...new Set(['view' as const, ...may])] }),
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
