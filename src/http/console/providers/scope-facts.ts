import { englishSentence } from '../../../providers/catalogue/scope-sentences.ts'
import type { Definition } from '../../../providers/definition/read-definition.ts'
import { type Html, name } from '../../pages/layout.ts'
import { code, facts } from '../elements.ts'

/** Scopes with what they mean in words. */
export function scopeFacts(scopes: NonNullable<Definition['facts']['scopes']>): Html {
  return facts(
    Object.entries(scopes).map(([scope, sentences]) => [
      code(scope),
      name(englishSentence(sentences), { longest: 200 }),
    ]),
  )
}
