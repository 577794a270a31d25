import type { Command } from 'commander'
import { type Api, serverOf, withApi } from '../../cli/api.ts'
import { CommandFailure, EXIT } from '../../cli/failure.ts'
import { inputFlags } from '../../cli/input-flags.ts'
import { MARKS, print, printJson, sanitize } from '../../cli/print.ts'
import { promptConfirmation } from '../../cli/prompt.ts'
import { type CommonOptions, parseId, type Shell, withCommonOptions } from '../../cli/shell.ts'
import type { Approval } from '../../sdk/generated/wire.ts'
import { callText } from './command-call.ts'

const APPROVER = { flags: '--approver <id>', help: 'who decides; the user of the call decides as its user' }

const APPROVE = inputFlags('decideApproval', {
  decision: false,
  digest: false, // it is not required at a terminal
  approver: APPROVER,
  remember: { help: 'how long the approval counts, out of what the policies permit (default: once)' },
  fixed: { flags: '--fixed <names>', help: 'arguments that stay the same meanwhile, comma-separated' },
  reason: false,
})

const DENY = inputFlags('decideApproval', {
  decision: false,
  digest: false,
  approver: APPROVER,
  remember: false,
  fixed: false,
  reason: { help: 'a sentence for the model, at most 200 characters' },
})

interface DecideOptions extends CommonOptions {
  readonly yes?: true
  readonly digest?: string
}

export function defineDecisions(approvals: Command, shell: Shell): void {
  defineDecision(approvals, shell, 'approve', APPROVE, 'approve a call, after it was shown')
  defineDecision(
    approvals,
    shell,
    'deny',
    DENY,
    'deny a call, after it was shown; nobody is asked about it again for ten minutes',
  )
}

function defineDecision(
  approvals: Command,
  shell: Shell,
  decision: 'approve' | 'deny',
  flags: typeof APPROVE | typeof DENY,
  description: string,
): void {
  flags
    .addTo(
      withCommonOptions(
        approvals
          .command(decision)
          .description(description)
          .argument('<id>', "the approval's id, as approvals list shows it", parseId),
      ),
    )
    .option('--digest <digest>', 'the digest that you have read, as approvals show prints it', parseId)
    .option('--yes', 'do not show the call and ask: for scripts, with --digest')
    .addHelpText('after', EXAMPLES)
    .action(async (id: string, options: DecideOptions) => {
      if (options.yes && options.digest === undefined)
        throw new CommandFailure(
          '--yes needs --digest: the digest of the call that was read, as approvals show prints it.',
          EXIT.usage,
        )
      return withApprovers(shell, options, async (api) => {
        const digest = options.yes ? options.digest : await confirmed(api, id, decision, options.digest)
        if (digest === undefined) throw new CommandFailure('Nothing was decided.')
        const body = { ...flags.read(options), decision, digest }
        const decided = await api.call('decideApproval', { params: { id }, body })
        if (options.json) printJson(decided)
        else print(`${MARKS.ok} ${outcomeText(decided, decision)}`)
      })
    })
}

/** Shows the call and asks. Returns the digest of what was shown; `undefined` for another answer. */
async function confirmed(
  api: Api,
  id: string,
  decision: string,
  expected: string | undefined,
): Promise<string | undefined> {
  if (!process.stdin.isTTY)
    throw new CommandFailure(
      'Without a terminal nobody reads the call: read it with approvals show, then give --yes and --digest.',
      EXIT.usage,
    )
  const approval = await api.call('getApproval', { params: { id } })
  if (expected !== undefined && expected !== approval.digest)
    throw new CommandFailure('--digest is that of another call than this one: read it with approvals show.')
  process.stderr.write(`${callText(approval, process.stderr)}\n\n`)
  const isConfirmed = await promptConfirmation(`Type ${decision} to ${decision} this call`, decision)
  return isConfirmed ? approval.digest : undefined
}

function outcomeText({ id, status, group }: Approval, decision: 'approve' | 'deny'): string {
  if (decision === 'deny') return `${sanitize(id)} is denied. The caller is told.`
  if (status !== 'pending') return `${sanitize(id)} is ${status}. The call runs when it is made again.`
  const others = group === undefined ? 'others' : `others of the group ${sanitize(group)}`
  return `Your approval of ${sanitize(id)} is recorded. The call also waits for ${others}.`
}

/** Runs the command at a server: an administrator, as whom commands work on the database, decides about no call. */
export function withApprovers(
  shell: Shell,
  options: CommonOptions,
  run: (api: Api) => Promise<void>,
): Promise<void> {
  if (serverOf(shell, options) === undefined)
    throw new CommandFailure(
      'Approvals need a key of the role approver: give --url and --key (make one with gatepass keys create --role approver).',
      EXIT.usage,
    )
  return withApi(shell, options, run)
}

const EXAMPLES = `
Examples:
  $ gatepass approvals approve appr_0199d1c2a5b37c53b6a1f2e0d4c3b2a1 --approver bob
  $ gatepass approvals deny appr_0199d1c2a5b37c53b6a1f2e0d4c3b2a1 --approver bob --reason "Not on a Sunday."
  $ gatepass approvals approve appr_0199d1c2a5b37c53b6a1f2e0d4c3b2a1 --approver bob --yes --digest "$DIGEST" --json

The command shows the call and asks. What was shown is what is decided: its digest is sent.`
