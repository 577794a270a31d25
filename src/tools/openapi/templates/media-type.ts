/**
 * Whether the value is a media type without parameters, or with a charset. A multipart one has parts of its own, and their
 * boundary as a parameter.
 */
export function isMediaType(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.length <= 200 &&
    /^(?!multipart\/)[\w.+-]+\/[\w.+-]+(?:; ?charset=[\w-]+)?$/i.test(value)
  )
}
