import { html } from 'hono/html'
import type { ProviderEntry } from '../../../providers/provider-entry.ts'
import type { Html } from '../../pages/layout.ts'
import { given, givenObject } from '../attempt.ts'
import { field, hidden, secretArea, select, textArea } from '../form-fields.ts'

/** The prefix of the names of form fields for the variables of a provider. */
export const VARIABLE_PREFIX = 'variable.'
/** The prefix of the names of hidden fields with the values that the page showed. */
const SHOWN_PREFIX = 'shown.'

/** The form that was sent, and what is wrong with it. */
export interface SentEntry {
  readonly values: URLSearchParams
  readonly faults: ReadonlyMap<string, string>
}

/** The fields for the settings of an entry: its client, the values in its URLs, and the rest as JSON. */
export function entryFields({ provider }: ProviderEntry, sent?: SentEntry): Html {
  const fault = (member: string) => sent?.faults.get(member)
  const own = Object.entries(provider.variables ?? {}).filter(([, one]) => one.askUser !== true)
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
            oneOf.map((one) => [one, one] as const),
            options,
          )
    }`
  })}
${field('Client id', 'client_id', { value: sent?.values.get('client_id') ?? '', maxlength: 2000, fault: fault('oauth2.client_id'), hint: 'Leave it empty to keep the present one. Another client needs a new consent of every user.' })}
${secretArea('Client secret', 'client_secret', { fault: fault('oauth2.client_secret'), hint: 'Leave it empty to keep the present one. It is sealed, and never shown again.' })}
<details${given(sent?.values ?? new URLSearchParams(), 'more') !== undefined ? html` open` : ''}><summary>Anything else, as JSON</summary>
${textArea('Members of oauth2', 'more', { value: sent?.values.get('more') ?? '', fault: fault('more'), rows: 5, hint: html`As <code>PATCH /v1/admin/auth_providers</code> takes them, such as <code>{"default_expires_in": 3600}</code>. Members that are left out are kept; <code>null</code> removes one.` })}</details>`
}

/** The body of the API request, not checked yet. Throws `invalid_request` if `more` is not a JSON object. */
export function entryChange(form: URLSearchParams): { readonly oauth2: Readonly<Record<string, unknown>> } {
  const [clientId, clientSecret] = [given(form, 'client_id'), given(form, 'client_secret')]
  const more = givenObject(form, 'more')
  const { variables } = givenVariables(form)
  return {
    oauth2: {
      ...more,
      ...(clientId !== undefined && { client_id: clientId }),
      ...(clientSecret !== undefined && { client_secret: clientSecret }),
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
