import { html } from 'hono/html'
import { LANGUAGES, type Language } from '../../domain/languages.ts'
import { hidden, textArea } from '../../http/console/form-fields.ts'
import { given } from '../../http/console/form-outcome.ts'
import { operationForm, type SentFields } from '../../http/console/operation-form.ts'
import type { Html } from '../../http/pages/layout.ts'
import { omitted } from '../../operations/omitted.ts'
import { type Branding, OWN_TEXTS, type OwnText } from './domain.ts'
import { changeBranding } from './operations.ts'

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

/** The look. The logo, the sentences and the domain have forms of their own. */
export const LOOK = operationForm(
  changeBranding,
  {
    app_name: {
      label: 'Name of your application',
      placeholder: 'Acme Assistant',
      hint: 'As your users know it. If empty, the pages say “your application”.',
    },
    lang: {
      label: 'Language',
      choices: [
        ['', 'English (unless set)'],
        ...LANGUAGES.map((language) => [language, LANGUAGE_NAMES[language]] as const),
      ],
    },
    accent: { label: 'Color on light pages', placeholder: '#0b57d0' },
    accent_dark: { label: 'Color on dark pages', placeholder: '#8ab4f8' },
    app_url: {
      label: 'Your application',
      type: 'url',
      placeholder: 'https://acme.example/',
      hint: 'Where “Back to …” leads if the request names no address.',
    },
    privacy_url: { label: 'Privacy page', type: 'url', placeholder: 'https://acme.example/privacy' },
    support_url: { label: 'Support page', type: 'url', placeholder: 'https://acme.example/help' },
    ...omitted('logo', 'texts', 'domain'),
  },
  { isRecord: true },
)

/**
 * The fields and buttons for the look. `nearest`: after a colour was refused, the button that saves the form with the
 * nearest readable colour. It comes last, because Enter in a field presses the first button of a form.
 */
export function brandingFields(sent: SentFields, nearest: Html | ''): Html {
  return html`<div class="columns">${LOOK.view(sent)}</div>
<div class="buttons"><button type="submit" name="do" value="preview" class="secondary">Preview</button> <button type="submit" name="do" value="set">Save</button></div>
${nearest}`
}

const PLACES: Readonly<Record<OwnText, readonly [label: string, hint: string]>> = {
  'connect.note': ['Before the user agrees', 'Under the heading of the connect page.'],
  'completed.note': ['When the account is connected', 'On the last page.'],
  'failed.note': ['When it fails', 'On the last page, for example where to get help.'],
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
