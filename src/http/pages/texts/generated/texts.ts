// The keys and the placeholders of the English texts, made by `npm run page-texts`.
import type { AppSentence, CountSentence, Sentence } from '../text.ts'

export interface Texts {
  readonly clients: {
    readonly title: string
    readonly wants: AppSentence
    readonly loggedInAs: Sentence<'user'>
    readonly may: string
    readonly call: string
    readonly see: string
    readonly allTools: string
    readonly toolset: Sentence<'toolset'>
    readonly whoAsks: string
    readonly facts: {
      readonly application: string
      readonly identity: string
      readonly leadsTo: string
    }
    readonly unverified: string
    readonly verified: Sentence<'host'>
    readonly program: Sentence<'host'>
    readonly installed: Sentence<'scheme'>
    readonly warnOfHost: Sentence<'host'>
    readonly warnOfProgram: string
    readonly allow: string
    readonly logInAsAnother: string
    readonly endLater: Sentence<'page'>
    readonly none: string
    readonly refusals: {
      readonly session_not_found: {
        readonly title: string
        readonly happened: string
      }
      readonly temporarily_unavailable: {
        readonly title: string
        readonly happened: string
      }
      readonly too_many_clients: {
        readonly title: string
        readonly happened: string
      }
      readonly invalid_client: {
        readonly title: string
        readonly happened: string
      }
      readonly client_document: {
        readonly title: string
        readonly happened: string
      }
      readonly invalid_redirect_uri: {
        readonly title: string
        readonly happened: string
      }
      readonly other: {
        readonly title: string
        readonly happened: string
      }
    }
    readonly refusedTodo: string
    readonly unreadAt: Sentence<'host'>
    readonly unreadTodo: Sentence<'setting'>
    readonly wantsYouAt: Sentence<'host'>
    readonly goThere: string
    readonly own: {
      readonly applications: string
      readonly applicationsIntro: string
      readonly unverified: string
      readonly applicationMay: {
        readonly call: string
        readonly see: string
        readonly nothing: string
      }
      readonly allowedOn: string
      readonly lastUsed: string
      readonly never: string
      readonly removeApplication: string
      readonly endAccess: string
      readonly logout: string
    }
  }
  readonly connect: {
    readonly title: Sentence<'provider'>
    readonly wants: AppSentence<'provider'>
    readonly forTool: Sentence<'tool'>
    readonly youAre: AppSentence<'user'>
    readonly forOneUser: AppSentence
    readonly notYou: Sentence<'cancel'>
    readonly askedAgain: string
    readonly willBeAbleTo: AppSentence
    readonly isNew: string
    readonly alreadyAllowed: string
    readonly sensitive: string
    readonly levels: {
      readonly read: string
      readonly write: string
      readonly admin: string
    }
    readonly undescribed: Sentence<'scope' | 'provider'>
    readonly defaults: Sentence<'provider'>
    readonly details: string
    readonly detail: {
      readonly user: string
      readonly tool: string
      readonly scopes: string
      readonly request: string
    }
    readonly warning: AppSentence
    readonly insideApp: string
    readonly continueTo: Sentence<'provider'>
    readonly cancel: string
    readonly loginFirst: Sentence<'host'>
    readonly next: Sentence<'host'>
    readonly endAccess: Sentence<'ownPage'>
    readonly minutesLeft: CountSentence
    readonly lessThanAMinute: string
    readonly stepOf: Sentence<'step' | 'steps'>
    readonly stepDone: string
    readonly stepToCome: string
    readonly suchAs: Sentence<'example'>
    readonly choose: string
    readonly valueMissing: Sentence<'label'>
    readonly valueWrong: Sentence<'label'>
    readonly valueWrongLike: Sentence<'label' | 'example'>
    readonly typed: {
      readonly able: Sentence<'provider'>
      readonly refused: Sentence<'provider'>
      readonly unchecked: Sentence<'provider'>
      readonly help: string
      readonly stored: Sentence<'host' | 'provider'>
      readonly connect: string
      readonly continue: string
      readonly secretAgain: string
    }
    readonly device: {
      readonly title: Sentence<'provider'>
      readonly open: Sentence<'host'>
      readonly warning: AppSentence
      readonly go: Sentence<'host'>
      readonly waiting: string
      readonly approved: string
      readonly minutesLeft: CountSentence
      readonly lessThanAMinute: string
      readonly connectedAs: Sentence<'account'>
      readonly unnamed: Sentence<'provider'>
      readonly isYours: string
      readonly nothingStored: string
      readonly mine: string
      readonly notMine: string
    }
    readonly privacy: string
    readonly support: string
    readonly aRemovedProvider: string
    readonly install: {
      readonly title: Sentence<'provider'>
      readonly continueAs: Sentence<'user'>
      readonly who: string
      readonly noLogin: string
      readonly warning: Sentence<'provider'>
      readonly trouble: string
      readonly go: string
      readonly login: string
      readonly another: string
    }
    readonly choosing: {
      readonly title: Sentence<'provider'>
      readonly intro: Sentence<'provider'>
      readonly connect: string
      readonly notListed: Sentence<'provider'>
      readonly lookAgain: string
      readonly noneTitle: Sentence<'provider'>
      readonly none: Sentence<'provider'>
      readonly install: Sentence<'provider'>
      readonly installed: string
    }
  }
  readonly endings: {
    readonly isConnected: Sentence<'provider'>
    readonly canNowUse: AppSentence<'provider'>
    readonly anotherAccount: Sentence<'before'>
    readonly reason: string
    readonly forOperator: string
    readonly forToolAuthor: string
    readonly backTo: AppSentence
    readonly tryAgain: string
    readonly startAgainAt: Sentence<'provider'>
    readonly lookAgain: string
    readonly logInAsYourself: string
    readonly closeWindow: string
    readonly closesItself: string
    readonly facts: {
      readonly provider: string
      readonly account: string
      readonly notGranted: string
      readonly askedBy: string
      readonly user: string
    }
    readonly failures: {
      readonly access_denied: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly expired: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly user_mismatch: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly issuer_mismatch: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly invalid_scope: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly invalid_client: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly invalid_grant: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly provider_refused: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly provider_bad_response: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly provider_unavailable: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly provider_changed: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly account_mismatch: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly nothing_to_choose: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
    }
    readonly kinds: {
      readonly completed: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly failed: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly working: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly waiting_for_confirmation: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly confirmed: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly confirmed_elsewhere: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly wrong_browser: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly held_elsewhere: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly unknown_state: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly wrong_provider: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly unknown_login: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly another_user: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly login_cancelled: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly login_unavailable: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly provider_unavailable: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly login_failed: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly not_found: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly opened_elsewhere: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly session_over: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly other_origin: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly foreign_click: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly not_set_up: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly refused_request: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly arrival_over: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly problem: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
    }
  }
  readonly start: {
    readonly title: string
    readonly heading: string
    readonly what: string
    readonly facts: {
      readonly address: string
      readonly version: string
      readonly mode: string
    }
    readonly development: string
    readonly production: string
    readonly users: string
    readonly accounts: string
    readonly operators: string
    readonly developers: string
    readonly console: string
    readonly reference: string
    readonly mcp: string
    readonly openapi: string
    readonly health: string
    readonly oneMachine: Sentence<'command'>
    readonly login: {
      readonly title: string
      readonly tag: string
      readonly heading: string
      readonly unchecked: Sentence<'setting'>
      readonly refused: string
      readonly userId: string
      readonly go: string
    }
  }
}
