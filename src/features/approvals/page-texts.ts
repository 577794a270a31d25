import { textsIn } from '../../http/pages/texts/read-texts.ts'
import type { ApprovalsTexts } from './generated/texts.ts'

/** The words of the page, in their language. */
export const approvalTexts = textsIn<ApprovalsTexts>(new URL('./texts/', import.meta.url))
