import { type Expression, parseExpression } from '../../providers/response-map.ts'

/** Writes the value to the place in the document from which the expression reads: the inverse of a response map. */
export function place(document: Record<string, unknown>, expression: string, value: unknown): void {
  const parsed = parseExpression(expression)
  if ('fault' in parsed) throw new Error(`${expression} ${parsed.fault}`)
  placeAt(document, parsed.expression, value)
}

function placeAt(document: Record<string, unknown>, expression: Expression, value: unknown): void {
  switch (expression.kind) {
    case 'path':
      placeByPath(document, expression.steps, value)
      return
    case 'join': {
      // /(?!)/ never matches, where '' would split the value into characters
      const items = String(value).split(expression.delimiter === '' ? /(?!)/ : expression.delimiter)
      placeAt(document, expression.list, items)
      return
    }
    case 'jwt_decode': {
      const claims: Record<string, unknown> = {}
      placeAt(claims, expression.claim, value)
      placeAt(document, expression.token, unsignedJwt(claims))
    }
  }
}

function placeByPath(
  document: Record<string, unknown>,
  steps: readonly (string | number)[],
  value: unknown,
): void {
  let owner: Record<string | number, unknown> = document
  for (const [index, step] of steps.entries()) {
    const next = steps[index + 1]
    if (next === undefined) owner[step] = value
    else {
      owner[step] ??= typeof next === 'number' ? [] : {}
      owner = owner[step] as Record<string | number, unknown> // the line above or another member created it
    }
  }
}

/** A JWT whose signature is not checked: it comes from the token endpoint (OpenID Connect Core section 3.1.3.7). */
export function unsignedJwt(claims: Readonly<Record<string, unknown>>): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'RS256', typ: 'JWT' })}.${part(claims)}.${Buffer.from('signature').toString('base64url')}`
}
