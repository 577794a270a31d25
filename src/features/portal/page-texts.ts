import { textsIn } from '../../http/pages/texts/read-texts.ts'
import type { PortalTexts } from './generated/texts.ts'

/** The words of the pages, in their language. */
export const portalTexts = textsIn<PortalTexts>(new URL('./texts/', import.meta.url))
