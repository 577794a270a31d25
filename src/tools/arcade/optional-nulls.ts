import { isRecord } from '../read-json.ts'

const MAX_DEPTH = 100

/** The value without members that are `null` and that its schema does not require, at any depth. */
export function withoutOptionalNulls(schema: unknown, value: unknown, depth = 0): unknown {
  if (!isRecord(schema) || depth > MAX_DEPTH) return value
  if (Array.isArray(value)) return value.map((one) => withoutOptionalNulls(schema.items, one, depth + 1))
  if (!isRecord(value)) return value
  const properties = isRecord(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required : []
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, one]) => one !== null || required.includes(name))
      .map(([name, one]) => [
        name,
        withoutOptionalNulls(Object.hasOwn(properties, name) ? properties[name] : undefined, one, depth + 1),
      ]),
  )
}
