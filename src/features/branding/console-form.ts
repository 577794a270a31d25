import { html } from 'hono/html'
import { LANGUAGES, type Language } from '../../domain/languages.ts'
import { field, hidden, select, textArea } from '../../http/console/form-fields.ts'
import { given } from '../../http/console/form-outcome.ts'
import type { Html } from '../../http/pages/layout.ts'
import { type Branding, OWN_TEXTS, type OwnText } from './domain.ts'

/** The name of each language in that language. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
  pt: 'Português',
  ja: '日本語',
  zh: '中文',
}

const MEMBERS = ['app_name', 'lang', 'accent', 'accent_dark', 'privacy_url', 'support_url'] as const

/** The values of the form for the stored branding. */
export function brandingValues(branding: Branding | undefined): URLSearchParams {
  const { appName, lang, accent, accentDark, privacyUrl, supportUrl } = branding ?? {}
  const values = {
    app_name: appName,
    lang,
    accent,
    accent_dark: accentDark,
    privacy_url: privacyUrl,
    support_url: supportUrl,
  } satisfies Record<(typeof MEMBERS)[number], string | undefined>
  return new URLSearchParams(Object.entries(values).flatMap(([id, value]) => (value ? [[id, value]] : [])))
}

/** The body of the API request, not checked yet. An empty field removes its member. */
export function brandingBody(form: URLSearchParams): Readonly<Record<string, unknown>> {
  return Object.fromEntries(MEMBERS.map((member) => [member, given(form, member) ?? null]))
}

/**
 * The fields and buttons for the look. `nearest`: after a colour was refused, the button that saves the form with the
 * nearest readable colour. It comes last, because Enter in a field presses the first button of a form.
 */
export function brandingFields(
  values: URLSearchParams,
  faults: ReadonlyMap<string, string>,
  nearest: Html | '',
): Html {
  const stateOf = (id: string) => ({ value: values.get(id) ?? '', fault: faults.get(id) })
  return html`<div class="columns">${field('Name of your application', 'app_name', { ...stateOf('app_name'), maxlength: 60, placeholder: 'Acme Assistant', hint: 'As your users know it. Left empty, the pages say “your application”.' })}${select(
    'Language',
    'lang',
    [
      ['', 'English (unless set)'],
      ...LANGUAGES.map((language) => [language, LANGUAGE_NAMES[language]] as const),
    ],
    { ...stateOf('lang'), hint: 'For readers whose browser asks for a language that the pages do not have.' },
  )}</div>
<div class="columns">${field('Colour on light pages', 'accent', { ...stateOf('accent'), maxlength: 7, placeholder: '#0b57d0', hint: 'Of links and buttons, as #rrggbb.' })}${field('Colour on dark pages', 'accent_dark', { ...stateOf('accent_dark'), maxlength: 7, placeholder: '#8ab4f8', hint: 'Left empty: the nearest shade that can be read.' })}</div>
<div class="columns">${field('Privacy page', 'privacy_url', { ...stateOf('privacy_url'), type: 'url', maxlength: 1000, placeholder: 'https://acme.example/privacy' })}${field('Support page', 'support_url', { ...stateOf('support_url'), type: 'url', maxlength: 1000, placeholder: 'https://acme.example/help' })}</div>
<div class="buttons"><button type="submit" name="do" value="preview" class="secondary">Look at it first</button> <button type="submit" name="do" value="set">Save</button></div>
${nearest}`
}

const PLACES: Readonly<Record<OwnText, readonly [label: string, hint: string]>> = {
  'connect.note': ['Before the user agrees', 'Under the heading of the connect page.'],
  'completed.note': ['When the account is connected', 'On the last page.'],
  'failed.note': ['When it did not work', 'On the last page, such as where to get help.'],
}

/** The fields for the project's own sentences in one language. */
export function textFields(language: Language, values: Values, faults: ReadonlyMap<string, string>): Html {
  return html`${hidden('lang', language)}${OWN_TEXTS.map((place) => textArea(PLACES[place][0], place, { value: values[place], hint: PLACES[place][1], fault: faults.get(`texts.${language}.${place}`), rows: 2 }))}`
}

type Values = Readonly<Partial<Record<OwnText, string>>>

/** The body of the API request: the stored sentences, with those of the form for `language`; `null` if none is left. */
export function textsBody(form: URLSearchParams, branding: Branding | undefined, language: Language) {
  const own = Object.fromEntries(
    OWN_TEXTS.flatMap((place) => {
      const text = given(form, place)
      return text === undefined ? [] : [[place, text]]
    }),
  )
  const { [language]: _, ...others } = branding?.texts ?? {}
  const all = { ...others, ...(Object.keys(own).length > 0 && { [language]: own }) }
  return { texts: Object.keys(all).length > 0 ? all : null }
}
