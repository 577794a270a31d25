import { BrokerError, invalidMember } from '../../domain/errors.ts'
import { STATUS } from '../endpoint/errors.ts'

/** The outcome of a form: its result, or why it was refused. */
export type Attempt<Result> =
  | { readonly outcome: 'done'; readonly result: Result }
  | {
      readonly outcome: 'refused'
      readonly message: string
      readonly status: 400 | 403 | 404 | 409
      /** What is wrong, by the member of the request. */
      readonly faults: ReadonlyMap<string, string>
    }

/** A refused form. */
export type Refused = Extract<Attempt<unknown>, { readonly outcome: 'refused' }>

/** Runs the action of a form. Returns a refusal of the input, so that the form can be shown again as it was filled in. */
export async function attempt<Result>(run: () => Promise<Result>): Promise<Attempt<Result>> {
  try {
    return { outcome: 'done', result: await run() }
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    const status = STATUS[error.code]
    if (status !== 400 && status !== 403 && status !== 404 && status !== 409) throw error
    const faults = new Map((error.faults ?? []).map(({ path, message }) => [path, message]))
    return { outcome: 'refused', message: error.message, status, faults }
  }
}

/** The text of a form's field, with LF as line end: browsers send CR LF (HTML, "constructing the entry list"). */
export function textIn(form: URLSearchParams, field: string): string {
  return (form.get(field) ?? '').replaceAll('\r\n', '\n')
}

/** The text of a form's field, trimmed; `undefined` when it is missing or empty. */
export function given(form: URLSearchParams, field: string): string | undefined {
  return textIn(form, field).trim() || undefined
}

/** The JSON object in a form's field; empty when there is none. Throws `invalid_request`. */
export function givenObject(form: URLSearchParams, field: string): Readonly<Record<string, unknown>> {
  const text = given(form, field)
  if (text === undefined) return {}
  try {
    const read: unknown = JSON.parse(text)
    if (typeof read === 'object' && read !== null && !Array.isArray(read)) return { ...read }
  } catch {
    // refused below
  }
  throw invalidMember(field, 'invalid_json', 'It must be an object in JSON, such as {"timeout": 60}.')
}
