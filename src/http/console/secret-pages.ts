import { html } from 'hono/html'
import { deleteSecret, getSecret, listSecrets, setSecret } from '../../operations/admin/secrets.ts'
import { omitted } from '../../operations/omitted.ts'
import { asCurl, code, section, table } from './elements.ts'
import { endOnce } from './end-once.ts'
import { hidden, submit } from './form-fields.ts'
import { attempt } from './form-outcome.ts'
import { operationForm, problemOf, type SentBody } from './operation-form.ts'
import { outputView } from './output-view.ts'
import { perform } from './perform.ts'
import type { ConsoleRoutes, OnPage } from './routes.ts'
import { ACTIONS, rowDanger } from './row-actions.ts'

const SET = operationForm(
  setSecret,
  {
    key: { label: 'Key', hint: 'Letters, digits, _ . -; a secret with the same key is replaced.' },
    value: { label: 'Value', hint: 'It is given to the tools that declare it.' },
    description: 'Description',
  },
  { withParams: true },
)

const ROWS = outputView(getSecret.output, {
  key: ['Key', ({ key }) => code(key, { longest: 200 })],
  description: 'Description',
  updated_at: 'Set',
  last_accessed_at: 'Last used',
  ...omitted('id', 'binding', 'created_at'),
})

function deleteAction(on: OnPage, { id, key }: { readonly id: string; readonly key: string }) {
  return rowDanger(on, {
    action: '/secrets/delete',
    text: 'Delete',
    of: key,
    fields: html`${hidden('id', id)}${hidden('key', key)}`,
    says: 'Tools that declare it do not run without it.',
    button: 'Delete',
  })
}

/** The list of secrets for tools, and the forms that set and delete them. Their values are never shown. */
export function addSecretPages(routes: ConsoleRoutes): void {
  async function list(on: OnPage, sent?: SentBody) {
    const { items } = await perform(on, listSecrets)
    const now = on.broker.now()
    const rows = items.map((secret) => [
      ...ROWS.cells(secret, now),
      ...(on.mayChange ? [deleteAction(on, secret)] : []),
    ])
    const heads = [...ROWS.heads, ...(on.mayChange ? [ACTIONS] : [])]
    const empty = {
      title: 'No secrets yet',
      text: 'A secret is what a tool needs beside the tokens of its user, such as the key of an API. Only tools that declare it get it.',
      next: on.mayChange && html`<a class="button" href="#set">Set a secret</a>`,
    }
    const body = html`${table('Secrets', heads, rows, empty)}
${on.mayChange && html`<div id="set">${section('Set a secret', html`${on.form('/secrets', html`${SET.view(sent)}${submit('Set secret')}`, { recent: true })}`)}</div>`}
${asCurl(on, '/v1/admin/secrets')}`
    return on.show('Secrets', body, {
      lead: 'Values that tools need in addition to tokens, such as an API key.',
      ...problemOf(sent),
    })
  }

  routes.page('/secrets', (on) => list(on))

  routes.form(
    '/secrets',
    async (on, form) => {
      const set = await attempt(() => {
        const { key, ...body } = SET.read(form)
        return perform(on, setSecret, { params: { key }, body })
      })
      if (set.outcome === 'refused') return list(on, { values: form, refused: set })
      return on.go('/secrets', `The secret ${set.result.key} was set.`)
    },
    { recent: true },
  )

  routes.form(
    '/secrets/delete',
    endOnce(
      (_, form) => ({
        entry: { action: 'secret.deleted', subject: form.get('id') ?? '' },
        list: '/secrets',
        already: `The secret ${form.get('key') ?? ''} had already been deleted.`,
      }),
      async (on, form) => {
        await perform(on, deleteSecret, { params: { key: form.get('id') ?? '' } })
        return on.go('/secrets', `The secret ${form.get('key') ?? ''} was deleted.`)
      },
    ),
    { recent: true },
  )
}
