import { html } from 'hono/html'
import { omitted } from '../../../operations/omitted.ts'
import { updateAuthProvider } from '../../../operations/providers/auth-providers.ts'
import { signsGrants } from '../../../providers/client-key.ts'
import { ASSERTION_SETTINGS } from '../../../providers/definition/grant-assertion.ts'
import { clientOfKeyFile } from '../../../providers/key-file.ts'
import { type Provider, type ProviderType, typeOf } from '../../../providers/provider.ts'
import type { ProviderEntry } from '../../../providers/provider-entry.ts'
import type { Html } from '../../pages/layout.ts'
import { field, hidden, select, textArea } from '../form-fields.ts'
import { given, givenObject } from '../form-outcome.ts'
import { operationForm, type SentBody } from '../operation-form.ts'

/** The prefix of the names of form fields for the variables of a provider. */
export const VARIABLE_PREFIX = 'variable.'
/** The prefix of the names of hidden fields with the values that the page showed. */
const SHOWN_PREFIX = 'shown.'

// has a form of its own; these never change, or a request may only repeat them
const UNCHANGED = {
  ...omitted('status', 'id', 'provider_id', 'type', 'missing', 'binding', 'created_at', 'updated_at'),
}

/** Where users type credentials there is no client. The settings of each type are changed as JSON. */
const CHANGE_TYPED = operationForm(
  updateAuthProvider,
  { ...UNCHANGED, ...omitted('oauth2', 'oauth1', 'credentials') },
  { isChange: true, others: 'More settings' },
)
const CHANGE = operationForm(
  updateAuthProvider,
  {
    'oauth2.client_id': {
      label: 'Client ID',
      type: 'text',
      hint: 'Leave it empty to keep the current one. With another client every user who has consented has to do so again.',
    },
    'oauth2.client_secret': 'Client secret',
    ...UNCHANGED,
    ...omitted('oauth1', 'credentials'),
  },
  { isChange: true, only: ['oauth2'], others: 'More settings' },
)

const formOf = (type: ProviderType) => (type === 'credentials' ? CHANGE_TYPED : CHANGE)

/** The fields for the settings of an entry: its client, the values in its URLs, and the rest as JSON. */
export function entryFields({ provider }: ProviderEntry, sent?: SentBody): Html {
  const type = typeOf(provider)
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
      fault: fault(`${type}.variables.${variable}.value`),
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
${formOf(type).view(sent)}
<details${given(sent?.values ?? new URLSearchParams(), 'more') !== undefined ? html` open` : ''}><summary>Anything else, as JSON</summary>
${textArea(`Members of ${type}`, 'more', { value: sent?.values.get('more') ?? '', fault: fault('more'), rows: 5, hint: html`As <code>PATCH /v1/admin/auth_providers</code> takes them, such as <code>${type !== 'credentials' ? '{"default_expires_in": 3600}' : '{"unchecked": true}'}</code>. Members that are left out are kept; <code>null</code> removes one.` })}</details>`
}

/** The body of the API request, not checked yet. Throws `invalid_request` if `more` is not a JSON object. */
export function entryChange(
  { provider }: ProviderEntry,
  form: URLSearchParams,
): Readonly<Record<string, unknown>> {
  const type = typeOf(provider)
  const { oauth2, ...body } = formOf(type).read(form)
  const more = givenObject(form, 'more')
  const { variables } = givenVariables(form)
  return {
    ...body,
    [type]: {
      ...more,
      ...(oauth2 as object | undefined), // its form has only members of `oauth2`
      ...keyFileIn(provider, form),
      ...(variables !== undefined && { variables: withMembers(more.variables, variables) }),
    },
  }
}

/** The client of a key file that was pasted in place of the key; nothing where the secret is none. */
function keyFileIn(provider: Provider, form: URLSearchParams): object {
  const text = form.get('oauth2.client_secret')?.trim() ?? ''
  if (!signsGrants(provider) || !text.startsWith('{')) return {}
  const client = clientOfKeyFile(jsonIn(text))
  if (client === undefined) return {}
  const assertion = ASSERTION_SETTINGS.assertion.write?.(provider) ?? { algorithm: 'RS256' }
  return {
    client_id: client.clientId,
    client_secret: client.key,
    ...(client.keyId !== undefined && { assertion: { ...assertion, key_id: client.keyId } }),
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
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
