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

const SET = operationForm(
  setSecret,
  {
    key: { label: 'Key', hint: 'Letters, digits, _ . -; a secret of the same key is replaced.' },
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

/** The list of secrets for tools, and the forms that set and delete them. Their values are never shown. */
export function addSecretPages(routes: ConsoleRoutes): void {
  async function list(on: OnPage, sent?: SentBody) {
    const { items } = await perform(on, listSecrets)
    const now = on.broker.now()
    const isRecent = on.mayChange && on.session.isRecent
    const rows = items.map((secret) => [
      ...ROWS.cells(secret, now),
      ...(isRecent
        ? [
            html`<details><summary>Delete</summary>${on.form('/secrets/delete', html`${hidden('id', secret.id)}${hidden('key', secret.key)}${submit('Delete it', 'danger')}`, { recent: true, className: 'inline' })}</details>`,
          ]
        : []),
    ])
    const heads = [...ROWS.heads, ...(isRecent ? [html`<span class="visually-hidden">Delete</span>`] : [])]
    const body = html`${table('Secrets', heads, rows, 'No secrets yet. A tool that declares one gets its value beside the tokens.')}
${on.mayChange && section('Set a secret', html`${on.form('/secrets', html`${SET.view(sent)}${submit('Set the secret')}`, { recent: true })}`)}
${asCurl(on, '/v1/admin/secrets')}`
    return on.show('Secrets', body, {
      lead: 'Values that tools need beside tokens, such as the key of an API.',
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
      return on.go('/secrets', `The secret ${set.result.key} is set.`)
    },
    { recent: true },
  )

  routes.form(
    '/secrets/delete',
    endOnce(
      (_, form) => ({
        entry: { action: 'secret.deleted', subject: form.get('id') ?? '' },
        list: '/secrets',
        already: `The secret ${form.get('key') ?? ''} was deleted already.`,
      }),
      async (on, form) => {
        await perform(on, deleteSecret, { params: { key: form.get('id') ?? '' } })
        return on.go('/secrets', `The secret ${form.get('key') ?? ''} was deleted.`)
      },
    ),
    { recent: true },
  )
}
