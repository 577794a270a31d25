import { isRecord } from '../../../parsing/json-record.ts'
import { placeholderOf } from '../request-plan.ts'
import { conversionIn } from './conversion-names.ts'

/** The placeholders in a text: `users/{id}` has `id`. */
export function placeholdersInText(text: string): string[] {
  return [...text.matchAll(/\{([^{}]+)\}/g)].map(([, name = '']) => name)
}

/**
 * The properties of the input that a template names. Those of `$map`'s element (`{item}`) are not properties of the input
 * and are left out.
 */
export function propertiesIn(template: unknown): string[] {
  if (typeof template === 'string') return [placeholderOf(template) ?? []].flat()
  if (Array.isArray(template)) return template.flatMap(propertiesIn)
  if (!isRecord(template)) return []
  const conversion = conversionIn(template)
  if (conversion === '$literal') return []
  if (conversion === '$text') return placeholdersInText(String(template.$text))
  if (conversion === '$map') {
    const ofItem = propertiesIn(template.to).filter((name) => name !== 'item' && !name.startsWith('item.'))
    return [...propertiesIn(template.$map), ...ofItem]
  }
  return Object.values(template).flatMap(propertiesIn)
}
