import type { Text } from '../../http/pages/texts/text.ts'
import type { Words } from '../../http/pages/texts/words.ts'
import { type Approval, rememberedAs } from './domain.ts'
import { approvalTexts } from './page-texts.ts'

/** How a question has ended, in words for one who opens its page. `userId`: absent for a browser whose user is not known. */
export function stateWords(
  { status, decisions }: Approval,
  words: Words,
  userId: string | undefined,
): { readonly title: Text; readonly text: Text } {
  const { titles, states } = approvalTexts(words)
  const own = decisions.find(({ approver }) => approver === userId)
  switch (status) {
    case 'pending':
      return { title: titles.waiting, text: states.waiting }
    case 'approved': {
      if (own === undefined) return { title: titles.approved, text: states.nothingLeft }
      return { title: titles.youApproved, text: states[rememberedAs(decisions)] }
    }
    case 'used':
      return { title: own === undefined ? titles.approved : titles.youApproved, text: states.used }
    case 'denied':
      return {
        title: own?.decision === 'deny' ? titles.youDenied : titles.denied,
        text: states.denied,
      }
    case 'expired':
      return { title: titles.expired, text: states.expired }
    case 'cancelled':
    case 'superseded':
      return { title: titles.superseded, text: states.superseded }
  }
}
