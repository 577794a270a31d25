import { html } from 'hono/html'
import type { Broker } from '../../broker.ts'
import { deleteSecret, secretKeySchema, secretValueSchema } from '../../operations/admin/secrets.ts'
import { parseOnce } from '../../parsing/parse.ts'
import { setSecret } from '../../tools/secrets.ts'
import { name } from '../pages/layout.ts'
import { attempt, given, type Refused, textIn } from './attempt.ts'
import { asCurl, code, section, table, time } from './elements.ts'
import { endOnce } from './end-once.ts'
import { field, hidden, secretArea, submit } from './form-fields.ts'
import { perform } from './perform.ts'
import type { ConsoleRoutes, OnPage } from './routes.ts'

/** The list of secrets for tools, and the forms that set and delete them. Their values are never shown. */
export function addSecretPages(routes: ConsoleRoutes, broker: Broker): void {
  async function list(on: OnPage, form?: URLSearchParams, refused?: Refused) {
    const secrets = await broker.store.secrets.list(on.projectId)
    const now = broker.now()
    const isRecent = on.mayChange && on.session.isRecent
    const rows = secrets.map(({ id, key, description, updatedAt, lastAccessedAt }) => [
      code(key, { longest: 200 }),
      description === undefined ? undefined : name(description, { longest: 200 }),
      time(updatedAt, now),
      time(lastAccessedAt, now),
      ...(isRecent
        ? [
            html`<details><summary>Delete</summary>${on.form('/secrets/delete', html`${hidden('id', id)}${hidden('key', key)}${submit('Delete it', 'danger')}`, { recent: true, className: 'inline' })}</details>`,
          ]
        : []),
    ])
    const fields = html`${field('Key', 'key', { value: form?.get('key') ?? '', required: true, maxlength: 200, fault: refused?.faults.get('key'), hint: 'Letters, digits, _ . -; a secret of the same key is replaced.' })}
${secretArea('Value', 'value', { required: true, fault: refused?.faults.get('value'), hint: 'It is sealed, given to the tools that declare it, and never shown again. It may have several lines.' })}
${field('Description', 'description', { value: form?.get('description') ?? '', maxlength: 1000 })}
${submit('Set the secret')}`
    const body = html`${table('Secrets', ['Key', 'Description', 'Set', 'Last used', ...(isRecent ? [html`<span class="visually-hidden">Delete</span>`] : [])], rows, 'No secrets yet. A tool that declares one gets its value beside the tokens.')}
${on.mayChange && section('Set a secret', html`${on.form('/secrets', fields, { recent: true })}`)}
${asCurl(on, '/v1/admin/secrets')}`
    return on.show('Secrets', body, {
      lead: 'Values that tools need beside tokens, such as the key of an API.',
      ...(refused !== undefined && { problem: refused.message, status: refused.status }),
    })
  }

  routes.page('/secrets', (on) => list(on))

  routes.form(
    '/secrets',
    async (on, form) => {
      const set = await attempt(async () => {
        const { key } = parseOnce(secretKeySchema, { key: form.get('key') ?? '' }, 'the body')
        const description = given(form, 'description')
        const body = { value: valueIn(form), ...(description !== undefined && { description }) }
        const { value, description: about } = parseOnce(secretValueSchema, body, 'the body')
        return setSecret(broker, on.projectId, { key, value, ...(about != null && { description: about }) })
      })
      if (set.outcome === 'refused') return list(on, form, set)
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

/** The value of the secret. The line break after a single line comes from copying it, and is dropped. */
function valueIn(form: URLSearchParams): string {
  const text = textIn(form, 'value')
  const [line = '', ...rest] = text.split('\n')
  return rest.every((one) => one === '') ? line : text
}
