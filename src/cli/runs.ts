import type { Command } from 'commander'
import { omitted } from '../operations/omitted.ts'
import { withApi } from './api.ts'
import { inputFlags } from './input-flags.ts'
import { outputTable } from './output-table.ts'
import { dim, print, printJson, sanitize, toSecond } from './print.ts'
import { type CommonOptions, parseId, parseWholeNumber, type Shell, withCommonOptions } from './shell.ts'

const LIST = inputFlags('listExecutions', {
  user_id: { flags: '--user <id>', help: 'only for this user' },
  tool: { flags: '--tool <tool>', help: 'only for this tool' },
  type: false, // --scheduled
  status: { flags: '--status <status>', help: 'only in this status' },
})

const RUNS = outputTable('listExecutions', {
  id: 'id',
  tool_id: 'tool',
  user_id: 'user',
  execution_status: 'status',
  outcome: ['outcome', ({ outcome, error_kind: kind }) => [outcome, kind].filter(Boolean).join(' ')],
  duration: ['took', ({ duration }) => (duration === undefined ? '' : `${Math.round(duration)} ms`)],
  run_at: ['at', (run) => toSecond(run.run_at ?? run.created_at)],
  ...omitted('tool_name', 'toolkit_name', 'toolkit_version', 'execution_type', 'entry_point'),
  ...omitted('error_kind', 'created_at', 'updated_at', 'started_at', 'finished_at', 'api_key_id'),
})

interface ListOptions extends CommonOptions {
  readonly scheduled?: true
  readonly limit: number
}

export function defineRuns(runs: Command, shell: Shell): void {
  runs.addHelpText('after', EXAMPLES)

  LIST.addTo(
    withCommonOptions(
      runs
        .command('list', { isDefault: true })
        .description('list runs, newest first, without input and output'),
    ),
  )
    .option('--scheduled', 'only scheduled runs')
    .option('--limit <n>', 'how many', parseWholeNumber, 25)
    .addHelpText('after', EXAMPLES)
    .action(async (options: ListOptions) =>
      withApi(shell, options, async (api) => {
        const query = { ...LIST.read(options), type: options.scheduled && ('scheduled' as const) }
        const items = await api.list('listExecutions', { query }, options.limit)
        if (options.json) return printJson({ items })
        if (items.length === 0) return print('No runs.')
        print(RUNS(items))
      }),
    )

  withCommonOptions(
    runs
      .command('show')
      .description('show one run, with its input and output if they were kept')
      .argument('<id>', "the run's id, as runs list shows it", parseId),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (id: string, options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const run = await api.call('getExecution', { params: { id } })
        if (options.json) return printJson(run)
        const width = Math.max(...Object.keys(run).map((name) => name.length))
        for (const [name, value] of Object.entries(run))
          print(
            `${dim(name.padEnd(width))}  ${sanitize(typeof value === 'string' ? value : JSON.stringify(value))}`,
          )
      }),
    )
}

const EXAMPLES = `
Examples:
  $ gatepass runs --user ada --status failed
  $ gatepass runs show exec_0199d1c2a5b37c53b6a1f2e0d4c3b2a1 --json
  $ gatepass runs list --scheduled --limit 100`
