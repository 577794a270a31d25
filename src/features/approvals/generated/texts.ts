// The keys and the placeholders of the English texts, made by `npm run page-texts`.
import type { AppSentence, CountSentence, Sentence } from '../../../http/pages/texts/text.ts'

export interface ApprovalsTexts {
  readonly title: string
  readonly wants: AppSentence<'tool'>
  readonly wantsRequest: AppSentence<'request'>
  readonly wantsToken: AppSentence<'provider'>
  readonly askedBy: string
  readonly account: string
  readonly host: string
  readonly runAt: string
  readonly destructive: string
  readonly warning: string
  readonly details: string
  readonly noDetails: string
  readonly undescribed: string
  readonly hidden: string
  readonly long: CountSentence
  readonly readAll: string
  readonly showAll: string
  readonly remember: string
  readonly once: string
  readonly hour: string
  readonly standing: string
  readonly same: string
  readonly tickOne: string
  readonly deny: string
  readonly approve: string
  readonly block: Sentence<'agent'>
  readonly titles: {
    readonly youApproved: string
    readonly approved: string
    readonly youDenied: string
    readonly denied: string
    readonly expired: string
    readonly superseded: string
    readonly waiting: string
  }
  readonly states: {
    readonly once: string
    readonly hour: string
    readonly standing: string
    readonly nothingLeft: string
    readonly used: string
    readonly denied: string
    readonly expired: string
    readonly superseded: string
    readonly waiting: string
  }
  readonly anotherUser: string
  readonly cannotVerify: string
  readonly own: {
    readonly title: string
    readonly waiting: string
    readonly askedBy: Sentence<'agent' | 'time'>
    readonly look: string
    readonly lately: string
    readonly states: {
      readonly approved: string
      readonly used: string
      readonly denied: string
      readonly expired: string
      readonly superseded: string
    }
    readonly denied: string
    readonly deniedText: string
    readonly remembered: string
    readonly forAgent: Sentence<'agent' | 'time'>
    readonly fixed: Sentence<'names'>
    readonly takeBack: string
    readonly blocked: string
    readonly blockedText: string
    readonly unblock: string
  }
}
