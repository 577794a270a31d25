import { html } from 'hono/html'
import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { badge, buttonLink, exactTime, facts, link, section, table } from '../../http/console/elements.ts'
import { endOnce } from '../../http/console/end-once.ts'
import { submit } from '../../http/console/form-fields.ts'
import type { ConsoleRoutes, OnPage } from '../../http/console/routes.ts'
import { ACTIONS, rowDanger } from '../../http/console/row-actions.ts'
import { type Html, name } from '../../http/pages/layout.ts'
import type { FeaturePages } from '../feature.ts'
import type { PausedChain } from './domain.ts'
import { type ChainState, openChainState } from './paused-chain.ts'

const SHOWN = 100

function addChainPages(routes: ConsoleRoutes, broker: Broker): void {
  const { chains } = broker.store

  const idOf = ({ c }: OnPage) => c.req.param('id') ?? ''

  const notWaiting = (id: string) =>
    new BrokerError(
      'not_found',
      `No chain "${id.slice(0, 100)}" waits in this project: it was resumed or canceled, or it has expired.`,
    )

  async function get(on: OnPage): Promise<PausedChain> {
    const chain = await chains.find(on.projectId, idOf(on), broker.now())
    if (chain === undefined) throw notWaiting(idOf(on))
    return chain
  }

  routes.page('/chains', async (on) => {
    const paused = await chains.list(on.projectId, broker.now(), SHOWN)
    const rows = paused.map(({ id, expiresAt }) => [
      link(`/chains/${id}`, html`<code>${id}</code>`),
      badge('waits for consent', 'wait'),
      exactTime(expiresAt),
      ...(on.mayChange
        ? [
            rowDanger(on, {
              action: `/chains/${id}/cancel`,
              text: 'Cancel',
              of: id,
              says: 'It cannot be resumed.',
              button: 'Cancel chain',
              recent: false,
            }),
          ]
        : []),
    ])
    const heads = ['Chain', 'Status', 'Until', ...(on.mayChange ? [ACTIONS] : [])]
    return on.show(
      'Chains',
      table('Chains', heads, rows, {
        title: 'No chain waits for a consent',
        text: 'A chain runs several tools in a row. One whose user has not approved yet waits here, and goes on once they have.',
        next: buttonLink('/runs', 'Show the runs', { secondary: false }),
      }),
      {
        lead: 'Chains of runs that are paused until their user approves. Finished chains are listed under Runs, step by step.',
      },
    )
  })

  routes.page('/chains/:id', async (on) => {
    const chain = await get(on)
    return on.show(chain.id, chainPage(on, chain, openChainState(broker, chain)), {
      above: [['Chains', '/chains']],
    })
  })

  routes.form(
    '/chains/:id/cancel',
    endOnce(
      (on) => ({
        entry: { action: 'tool.cancelled', subject: idOf(on) },
        list: '/chains',
        already: `The chain ${idOf(on)} had already been canceled.`,
      }),
      async (on) => {
        const { id } = await get(on)
        const audit = broker.audit.of(on.projectId, { action: 'tool.cancelled', subject: id })
        if (!(await chains.cancel(on.projectId, id, audit))) throw notWaiting(id)
        return on.go('/chains', `The chain ${id} was canceled and cannot be resumed.`)
      },
    ),
  )
}

function chainPage(on: OnPage, { id, expiresAt }: PausedChain, { call, steps, results }: ChainState): Html {
  const rows = steps.map(({ toolId }, i) => [
    String(i + 1),
    link(`/tools/${encodeURIComponent(toolId)}`, html`${name(toolId)}`),
    i < results.length
      ? badge('done', 'good')
      : i === results.length
        ? badge('waits for consent', 'wait')
        : badge('to come'),
  ])
  return html`${section(
    'Chain',
    facts([
      [
        'User',
        call.userId === undefined
          ? undefined
          : link(
              `/connections?user=${encodeURIComponent(call.userId)}`,
              html`${name(call.userId, { longest: 200 })}`,
            ),
      ],
      ['Waits until', exactTime(expiresAt)],
    ]),
    on.form(`/chains/${id}/cancel`, submit('Cancel this chain', 'danger')),
  )}
${section('Steps', table('Steps', ['#', 'Tool', 'Status'], rows, 'No steps.'))}`
}

/** Chains of runs that wait for the consent of their users. */
export const chainPages: FeaturePages = {
  menu: { path: '/chains', label: 'Chains', icon: 'chain', after: '/runs' },
  add: addChainPages,
}
