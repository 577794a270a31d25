import { html } from 'hono/html'
import { omitted } from '../../../operations/omitted.ts'
import { updateAuthProvider } from '../../../operations/providers/auth-providers.ts'
import type { ProviderEntry } from '../../../providers/provider-entry.ts'
import type { Html } from '../../pages/layout.ts'
import { field, hidden, select, textArea } from '../form-fields.ts'
import { given, givenObject } from '../form-outcome.ts'
import { operationForm, type SentBody } from '../operation-form.ts'

/** The prefix of the names of form fields for the variables of a provider. */
export const VARIABLE_PREFIX = 'variable.'
/** The prefix of the names of hidden fields with the values that the page showed. */
const SHOWN_PREFIX = 'shown.'

const CHANGE = operationForm(
  updateAuthProvider,
  {
    'oauth2.client_id': {
      label: 'Client id',
      hint: 'Leave it empty to keep the present one. Another client needs a new consent of every user.',
    },
    'oauth2.client_secret': 'Client secret',
    // has a form of its own; these never change, or a request may only repeat them
    ...omitted('status', 'id', 'provider_id', 'type', 'missing', 'binding', 'created_at', 'updated_at'),
  },
  { isChange: true, only: ['oauth2'], others: 'More settings' },
)

/** The fields for the settings of an entry: its client, the values in its URLs, and the rest as JSON. */
export function entryFields({ provider }: ProviderEntry, sent?: SentBody): Html {
  const fault = (member: string) => sent?.refused?.faults.get(member)
  const own = Object.entries(provider.variables ?? {}).filter(([, variable]) => variable.askUser !== true)
  // variables that have no value yet come first
  const variables = [...own].sort(
    ([, a], [, b]) => Number(b.isExample === true) - Number(a.isExample === true),
  )
  return html`${variables.map(([variable, { label = variable, value, example, isExample, oneOf }]) => {
    const id = `${VARIABLE_PREFIX}${variable}`
    const present = isExample === true ? '' : value
    const shownField = `${SHOWN_PREFIX}${id}`
    const options = {
      value: sent?.values.get(id) ?? present,
      fault: fault(`oauth2.variables.${variable}.value`),
      ...(example !== undefined && { hint: `Such as ${example}` }),
    }
    return html`${hidden(shownField, sent?.values.get(shownField) ?? present)}${
      oneOf === undefined
        ? field(label, id, options)
        : select(
            label,
            id,
            oneOf.map((choice) => [choice, choice] as const),
            options,
          )
    }`
  })}
${CHANGE.view(sent)}
<details${given(sent?.values ?? new URLSearchParams(), 'more') !== undefined ? html` open` : ''}><summary>Anything else, as JSON</summary>
${textArea('Members of oauth2', 'more', { value: sent?.values.get('more') ?? '', fault: fault('more'), rows: 5, hint: html`As <code>PATCH /v1/admin/auth_providers</code> takes them, such as <code>{"default_expires_in": 3600}</code>. Members that are left out are kept; <code>null</code> removes one.` })}</details>`
}

/** The body of the API request, not checked yet. Throws `invalid_request` if `more` is not a JSON object. */
export function entryChange(form: URLSearchParams): Readonly<Record<string, unknown>> {
  const { oauth2, ...body } = CHANGE.read(form)
  const more = givenObject(form, 'more')
  const { variables } = givenVariables(form)
  return {
    ...body,
    oauth2: {
      ...more,
      ...(oauth2 as object | undefined), // its form has only members of `oauth2`
      ...(variables !== undefined && { variables: withMembers(more.variables, variables) }),
    },
  }
}

/** The object with these members set. Returns other values as they are, for the check of the request to refuse. */
function withMembers(object: unknown, members: Readonly<Record<string, unknown>>): unknown {
  return typeof object === 'object' ? { ...object, ...members } : (object ?? members)
}

/**
 * The member `variables` of the request, if the form sets a variable. A value that the page showed already is left
 * out, so that the form does not undo a newer change.
 */
export function givenVariables(form: URLSearchParams): {
  readonly variables?: Readonly<Record<string, unknown>>
} {
  const variables = [...form]
    .map(([id, value]) => [id, value.trim()] as const)
    .filter(
      ([id, value]) =>
        id.startsWith(VARIABLE_PREFIX) && value !== '' && value !== form.get(SHOWN_PREFIX + id),
    )
    .map(([id, value]) => [id.slice(VARIABLE_PREFIX.length), { value }])
  return variables.length > 0 ? { variables: Object.fromEntries(variables) } : {}
}
