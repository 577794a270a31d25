import { type ToolError, UpstreamError } from '../errors.ts'
import type { ErrorAdapter } from '../tool.ts'
import { developerMessageOf, failureStatus, retryAfterOf, type Shape, shapeOf, text } from './shape.ts'

/** Errors of GraphQL clients: graphql-request, `@octokit/graphql`, Apollo Client 3 and 4, urql. */
export class GraphQLErrorAdapter implements ErrorAdapter {
  readonly slug = 'graphql'

  fromException(error: unknown): ToolError | null {
    const shape = shapeOf(error)
    const response = shapeOf(shape.response)
    const [first] =
      graphqlErrors(shape.graphQLErrors) ??
      graphqlErrors(response.errors) ??
      graphqlErrors(shape.errors) ??
      []
    if (!(error instanceof Error) || first === undefined) return null
    const code = text(shapeOf(first.extensions).code) ?? text(first.type)
    const statusCode = failureStatus(response.status, shape.statusCode) ?? STATUSES[code ?? '']
    const retryAfterMs = retryAfterOf(response.headers ?? shape.headers)
    return new UpstreamError(
      `The GraphQL API refused the request${code === undefined ? '' : ` (${code})`}.`,
      {
        cause: error,
        developerMessage: developerMessageOf(error),
        ...(statusCode !== undefined && { statusCode }),
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      },
    )
  }
}

/** Returns the list if each member is a GraphQL error, with a message and extensions, a path, locations or a type. */
function graphqlErrors(errors: unknown): readonly Shape[] | undefined {
  if (!Array.isArray(errors) || errors.length === 0) return undefined
  const shapes = errors.map(shapeOf)
  const isGraphQLError = (candidate: Shape) =>
    typeof candidate.message === 'string' &&
    ['extensions', 'locations', 'path', 'type'].some((name) => name in candidate)
  return shapes.every(isGraphQLError) ? shapes : undefined
}

/** HTTP statuses by the codes of Apollo Server and the error types of GitHub's API. */
const STATUSES: Readonly<Record<string, number>> = {
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  INSUFFICIENT_SCOPES: 403,
  NOT_FOUND: 404,
  BAD_USER_INPUT: 422,
  UNPROCESSABLE: 422,
  GRAPHQL_PARSE_FAILED: 400,
  GRAPHQL_VALIDATION_FAILED: 400,
  RATE_LIMITED: 429,
  RATELIMITED: 429,
  RATE_LIMIT: 429,
  INTERNAL_SERVER_ERROR: 500,
}
