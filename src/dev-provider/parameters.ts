/** The parameters of a request to the authorization server. A parameter without a value counts as absent. */
export interface Parameters {
  readonly values: Readonly<Record<string, string | undefined>>
  /** The name of a repeated parameter, which makes the request invalid (RFC 6749 sections 3.1 and 3.2). */
  readonly repeated?: string
}

export function readParameters(sent: URLSearchParams): Parameters {
  const present = [...sent].filter(([, value]) => value !== '')
  const names = present.map(([name]) => name)
  const repeated = names.find((name, index) => names.indexOf(name) < index)
  return { values: Object.fromEntries(present), ...(repeated !== undefined && { repeated }) }
}
