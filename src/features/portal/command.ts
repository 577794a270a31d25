import type { Command } from 'commander'
import { withApi } from '../../cli/api.ts'
import { inputFlags } from '../../cli/input-flags.ts'
import { bold, dim, print, printJson, sanitize, toSecond } from '../../cli/print.ts'
import { type CommonOptions, parseId, type Shell, withCommonOptions } from '../../cli/shell.ts'

const LINK = inputFlags('createPortalLink', {
  return_url: { flags: '--return-url <url>', help: 'the URL that the page links back to' },
  user_display: { flags: '--name <name>', help: "the user's name, as the page shows it" },
  lang: { flags: '--lang <language>', help: 'the language of the page (default: that of the browser)' },
  may: {
    flags: '--may <rights>',
    help: 'comma-separated: view, disconnect, connect, export, erase',
    parse: (text, bySchema) => [...new Set(['view' as const, ...bySchema(text)])],
  },
  seconds: { flags: '--seconds <seconds>' },
})

export function definePortal(command: Command, shell: Shell): void {
  LINK.addTo(withCommonOptions(command.argument('<user>', 'the user', parseId)))
    .addHelpText('after', EXAMPLES)
    .action(async (user: string, options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const body = LINK.read(options)
        const link = await api.call('createPortalLink', { params: { user_id: user }, body })
        if (options.json) return printJson(link)
        print(bold(link.url))
        print(
          dim(
            `This link opens the page of ${sanitize(user)} once, until ${toSecond(link.expires_at)}. Give it only to that user.`,
          ),
        )
      }),
    )
}

const EXAMPLES = `
Examples:
  $ gatepass portal ada
  $ gatepass portal ada --may disconnect,connect,export,erase --name "Ada L." --seconds 600

The page shows what the user has connected and lets them disconnect it.`
