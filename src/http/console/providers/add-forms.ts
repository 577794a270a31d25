import { html } from 'hono/html'
import { createAuthProvider } from '../../../operations/providers/auth-providers.ts'
import { signsGrants } from '../../../providers/client-key.ts'
import type { Definition } from '../../../providers/definition/read-definition.ts'
import { typeOf } from '../../../providers/provider.ts'
import type { Html } from '../../pages/layout.ts'
import { field, select, textArea } from '../form-fields.ts'
import { given, givenObject, type Refused, textIn } from '../form-outcome.ts'
import { operationForm, type SentBody } from '../operation-form.ts'
import { givenVariables, VARIABLE_PREFIX } from './entry-form.ts'

/** One way to add a provider: what its pages are called, and the form of its client. */
export interface AddForm {
  /** Of its first page, below `/dashboard`. */
  readonly path: string
  /** The provider in sentences, such as “GitHub”. */
  readonly subject: string
  readonly definition?: Definition
  fields(sent?: SentBody): Html
  /** The body of the API request, not checked yet. Throws `invalid_request` for a field that is not JSON. */
  body(form: URLSearchParams): object
  /** The refusal with a fault for a field where the API names none. */
  atFields(refused: Refused): Refused
}

const CLIENT_ID = 'oauth2.client_id'
const CLIENT_SECRET = 'oauth2.client_secret'
const SECRET_HINT =
  'Beside the client id. Many providers show it once: copy it before you leave their page. Leave it empty if the client has none.'

/** Where the secret is the key of the client's assertions (`signsGrants`). */
const KEY_HINT =
  'The private key in PEM. To give the JSON key file of a service account instead, leave id and secret empty here, and paste the file on the page of the provider afterwards.'

/** For a provider of the catalogue, which may have words of its own for the client. */
export function ofDefinition(definition: Definition): AddForm {
  const { id, facts } = definition
  const { client_id: idWord, client_secret: secretWord } = facts.registration?.fields ?? {}
  const labelled = (label: string, word: string | undefined) => (word ? `${label} (“${word}”)` : label)
  const form = operationForm(
    createAuthProvider,
    {
      id: { label: 'ID', initial: id, hint: 'Your application sends it in requests. You can keep this one.' },
      [CLIENT_ID]: {
        type: 'text',
        label: labelled('Client ID', idWord),
        hint: 'On the page of the client that you registered. It is no secret. Without it the entry is added, and waits for its client.',
      },
      [CLIENT_SECRET]: {
        label: labelled('Client secret', secretWord),
        hint: signsGrants(definition.provider) ? KEY_HINT : SECRET_HINT,
      },
    },
    { only: ['', 'oauth2'] },
  )
  return {
    path: `/catalogue/${id}`,
    subject: facts.name,
    definition,
    fields: (sent) => html`${variableFields(definition, sent)}
${form.view(sent)}`,
    body(values) {
      const { oauth2, ...body } = form.read(values)
      // only members of `oauth2`, which those of OAuth 1.0a have too
      return {
        ...body,
        provider_id: id,
        [typeOf(definition.provider)]: {
          ...(oauth2 as object | undefined),
          ...givenVariables(values),
        },
      }
    },
    atFields: takenId,
  }
}

/** For a provider of the catalogue whose users type credentials: no client is registered. */
export function ofTyped(definition: Definition): AddForm {
  const { id, facts } = definition
  return {
    path: `/catalogue/${id}`,
    subject: facts.name,
    definition,
    fields: (sent) => html`${variableFields(definition, sent)}${typedForm(definition).view(sent)}`,
    body(values) {
      const given = givenVariables(values)
      return {
        ...typedForm(definition).read(values),
        provider_id: id,
        type: 'credentials',
        ...(given.variables && { credentials: given }),
      }
    },
    atFields: takenId,
  }
}

function typedForm({ id, facts }: Definition) {
  const { second_way_of: first } = facts
  const tools = first === undefined ? '' : ` Tools that name ${first} find it if its ID is ${first}.`
  const hint = `Your application sends it in requests. You can keep this one.${tools}`
  const layout = { id: { label: 'ID', initial: id, hint } }
  return operationForm(createAuthProvider, layout, { only: [''] })
}

/** A field for each variable that the operator gives. */
function variableFields({ provider }: Definition, sent?: SentBody): Html {
  const required = Object.entries(provider.variables ?? {}).filter(
    ([, variable]) => variable.isExample === true && variable.askUser !== true,
  )
  return html`${required.map(([variable, { label = variable, example, oneOf }]) => {
    const fieldName = `${VARIABLE_PREFIX}${variable}`
    const path = `${typeOf(provider)}.variables.${variable}.value`
    const options = {
      value: sent?.values.get(fieldName) ?? '',
      fault: sent?.refused?.faults.get(path)?.replace(path, label),
    }
    return oneOf === undefined
      ? field(label, fieldName, {
          ...options,
          required: true,
          ...(example !== undefined && { hint: `Such as ${example}` }),
        })
      : select(
          label,
          fieldName,
          oneOf.map((choice) => [choice, choice] as const),
          options,
        )
  })}`
}

const ISSUER = 'oauth2.issuer'
const ISSUER_FORM = operationForm(
  createAuthProvider,
  {
    id: { label: 'ID', placeholder: 'okta', hint: 'A short name, which your application sends in requests.' },
    [ISSUER]: {
      label: 'Issuer',
      isRequired: true,
      type: 'url',
      placeholder: 'https://login.example.com',
      hint: 'An https URL whose metadata (RFC 8414 or OpenID Connect Discovery) describes the server. The documentation of the server names it, often beside “/.well-known/openid-configuration”.',
    },
    [CLIENT_ID]: {
      type: 'text',
      label: 'Client ID',
      isRequired: true,
      hint: 'On the page of the client that you registered.',
    },
    [CLIENT_SECRET]: { label: 'Client secret', hint: SECRET_HINT },
  },
  { only: ['', 'oauth2'] },
)

/** For a server that publishes metadata. */
export const BY_ISSUER: AddForm = {
  path: '/other-provider/issuer',
  subject: 'a provider by its issuer',
  fields: (sent) => ISSUER_FORM.view(sent),
  body: (form) => ISSUER_FORM.read(form),
  // what is wrong with the metadata, or that the issuer does not answer
  atFields: (refused) => withFault(takenId(refused), ISSUER),
}

const DEFINITION = 'definition'
const DEFINITION_FORM = operationForm(
  createAuthProvider,
  {
    id: { label: 'ID', placeholder: 'acme', hint: 'A short name, which your application sends in requests.' },
    [CLIENT_ID]: {
      type: 'text',
      label: 'Client ID',
      isRequired: true,
      hint: 'On the page of the client that you registered.',
    },
    [CLIENT_SECRET]: { label: 'Client secret', hint: SECRET_HINT },
  },
  { only: ['', 'oauth2'] },
)
const OWN_FIELDS: readonly string[] = ['id', CLIENT_ID, CLIENT_SECRET, DEFINITION]
const EXAMPLE = `{
  "name": "Acme",
  "oauth2": {
    "authorize_request": { "endpoint": "https://acme.example/oauth/authorize" },
    "token_request": { "endpoint": "https://acme.example/oauth/token" },
    "refresh_request": { "endpoint": "https://acme.example/oauth/token" }
  }
}`

/** For a server without metadata. */
export const BY_DEFINITION: AddForm = {
  path: '/other-provider/definition',
  subject: 'a provider by its definition',
  fields: (sent) => html`${textArea('Definition', DEFINITION, {
    value: sent === undefined ? EXAMPLE : withoutSecret(textIn(sent.values, DEFINITION)),
    rows: 10,
    fault: sent?.refused?.faults.get(DEFINITION),
    hint: html`As JSON: the endpoints, and what sets the server apart, as <code>POST /v1/admin/auth_providers</code> takes it. The client has fields of its own.`,
  })}
${DEFINITION_FORM.view(sent)}`,
  body(form) {
    const { oauth2: client, ...body } = DEFINITION_FORM.read(form)
    const definition = givenObject(form, DEFINITION)
    const type = 'oauth1' in definition ? 'oauth1' : 'oauth2'
    return {
      ...definition,
      ...body,
      [type]: { ...Object(definition[type]), ...(client as object | undefined) },
    }
  },
  atFields(refused) {
    const { faults } = takenId(refused)
    const others = [...faults].filter(([path]) => !OWN_FIELDS.includes(path))
    const said = others.map(([path, message]) => `${path}: ${message}`).join(' ')
    return {
      ...refused,
      faults: new Map([
        ...[...faults].filter(([path]) => OWN_FIELDS.includes(path)),
        ...(said === '' ? [] : [[DEFINITION, said] as const]),
      ]),
    }
  },
}

/** The text without the value of a `client_secret` in it, also where it is not JSON. */
function withoutSecret(text: string): string {
  return text.replaceAll(/("?client_secret"?\s*:\s*)("(?:[^"\\\n]|\\.)*"?|[^,}\s]*)/g, '$1""')
}

/** What was typed, for the query of a page: texts of one line that are no secret. */
export function typedIn(form: URLSearchParams): readonly (readonly [field: string, value: string])[] {
  return [
    'id',
    CLIENT_ID,
    ISSUER,
    ...[...form.keys()].filter((name) => name.startsWith(VARIABLE_PREFIX)),
  ].flatMap((name) => {
    const value = given(form, name)
    return value === undefined ? [] : [[name, value] as const]
  })
}

function takenId(refused: Refused): Refused {
  return refused.status === 409 ? withFault(refused, 'id') : refused
}

/** The refusal at this field, unless it has a fault already. */
function withFault(refused: Refused, field: string): Refused {
  return refused.faults.size > 0 ? refused : { ...refused, faults: new Map([[field, refused.message]]) }
}
