import type { z } from '@hono/zod-openapi'
import { html } from 'hono/html'
import type { Broker } from '../../broker.ts'
import { invalidMember } from '../../domain/errors.ts'
import { knownLanguage, LANGUAGES, type Language } from '../../domain/languages.ts'
import { asCurl, code, facts, section } from '../../http/console/elements.ts'
import { described, notes, submit } from '../../http/console/form-fields.ts'
import { attempt, given } from '../../http/console/form-outcome.ts'
import { outputView } from '../../http/console/output-view.ts'
import { perform } from '../../http/console/perform.ts'
import type { ConsoleRoutes, OnPage } from '../../http/console/routes.ts'
import type { Upload } from '../../http/endpoint/read-upload.ts'
import type { Html } from '../../http/pages/layout.ts'
import { wordsOf } from '../../http/pages/texts/words.ts'
import { omitted } from '../../operations/omitted.ts'
import { parseOnce } from '../../parsing/parse.ts'
import { hostOf } from '../../providers/provider-endpoints.ts'
import type { FeaturePages } from '../feature.ts'
import { domainSection, type RefusedDomain } from './console-domain.ts'
import { addDomainForms } from './console-domain-forms.ts'
import { brandingFields, LANGUAGE_NAMES, LOOK, textFields, textsBody } from './console-form.ts'
import { brandingPreview, coloursCss, coloursHref, type SampleProvider } from './console-preview.ts'
import { isReadable, nearestReadable } from './contrast.ts'
import type { Branding } from './domain.ts'
import { MAX_LOGO_BYTES } from './logo-image.ts'
import { lookOf } from './look.ts'
import { brandingChangesSchema, changeOwnBranding, getBranding } from './operations.ts'

/** The look of the pages that users of the project see, with a preview before it is saved. */
export const brandingPages: FeaturePages = {
  menu: { path: '/branding', label: 'Branding', icon: 'palette', after: '/projects' },
  add: addBrandingPages,
}

function addBrandingPages(routes: ConsoleRoutes, broker: Broker): void {
  const change = (on: OnPage, body: object) =>
    changeOwnBranding(broker, on.projectId, parseOnce(brandingChangesSchema, body, 'the body'))

  routes.page('/branding', async (on) => show(on, { values: await storedValues(on) }))

  routes.page('/branding/colours.css', (on) => {
    on.c.header('content-type', 'text/css; charset=utf-8')
    on.c.header('x-content-type-options', 'nosniff')
    on.c.header('cross-origin-resource-policy', 'same-origin')
    on.c.header('cache-control', 'no-store')
    return on.c.body(coloursCss(on.query))
  })

  routes.form('/branding', async (on, form) => {
    const nearest = /^(accent|accent_dark)=(#[0-9a-f]{6})$/.exec(form.get('nearest') ?? '')
    if (nearest?.[1] !== undefined && nearest[2] !== undefined) form.set(nearest[1], nearest[2])
    const body = LOOK.read(form)
    const isPreview = form.get('do') === 'preview'
    const done = await attempt(async () => {
      if (!isPreview) return change(on, body)
      const { accent, accent_dark } = parseOnce(brandingChangesSchema, body, 'the body')
      return unreadableOf(accent, accent_dark)
    })
    if (done.outcome === 'refused')
      return show(on, {
        values: form,
        faults: done.faults,
        problem: done.message,
        isDraft: true,
        status: done.status,
      })
    const { result } = done
    if (result?.outcome === 'changed') return on.go('/branding', 'The pages now have this look.')
    if (result === undefined) return show(on, { values: form, isDraft: true })
    const { member, nearest: shade } = result
    const isLight = member === 'accent'
    const fault = `Links in this color cannot be read on ${isLight ? 'light' : 'dark'} pages: its contrast is below 4.5. ${shade} is the nearest readable shade.`
    return show(on, {
      values: form,
      faults: new Map([[member, fault]]),
      problem: isPreview ? undefined : 'Nothing was saved: one of the colors is unreadable.',
      nearest: html`<p><button type="submit" name="nearest" value="${member}=${shade}" class="secondary">Save with ${shade} on ${isLight ? 'light' : 'dark'} pages</button></p>`,
      isDraft: true,
      status: isPreview ? 200 : 400,
    })
  })

  routes.upload(
    '/branding/logo',
    async (on, file) => {
      const done = await attempt(async () => change(on, { logo: dataUrlOf(file) }))
      if (done.outcome === 'done') return on.go('/branding', 'The pages now show the logo.')
      const { faults, message, status } = done
      return show(on, { values: await storedValues(on), faults, problem: message, status })
    },
    {
      tooLarge: TOO_LARGE,
    },
  )

  routes.form('/branding/logo/remove', async (on) => {
    await change(on, { logo: null })
    return on.go('/branding', 'The logo was removed.')
  })

  routes.form('/branding/texts', async (on, form) => {
    const language = languageOf(form.get('lang') ?? undefined)
    const branding = await brandingOf(on)
    const done = await attempt(() => change(on, textsBody(form, branding, language)))
    if (done.outcome === 'done')
      return on.go(`/branding?lang=${language}`, `The sentences in ${LANGUAGE_NAMES[language]} were saved.`)
    const { faults, message, status } = done
    return show(on, { values: await storedValues(on), texts: form, faults, problem: message, status })
  })

  addDomainForms(routes, async (on, domain, status) =>
    show(on, { values: await storedValues(on), domain, status }),
  )
}

function brandingOf({ broker, projectId }: OnPage): Promise<Branding | undefined> {
  return broker.store.brandings.find(projectId)
}

const stored = (on: OnPage) => perform(on, getBranding, { params: { id: on.projectId } })

/** The form of the look, filled in with what is stored. */
const storedValues = async (on: OnPage) => LOOK.valuesOf(await stored(on))

function languageOf(text: string | undefined): Language {
  return knownLanguage(text) ?? 'en'
}

/** The refusal that saving these colours would get; `undefined` if links in them can be read. */
function unreadableOf(accent: string | null | undefined, dark: string | null | undefined) {
  if (accent != null && !isReadable(accent, 'light'))
    return { outcome: 'unreadable', member: 'accent', nearest: nearestReadable(accent, 'light') } as const
  if (dark != null && !isReadable(dark, 'dark'))
    return { outcome: 'unreadable', member: 'accent_dark', nearest: nearestReadable(dark, 'dark') } as const
  return undefined
}

/** The file as a data URL. Its type is read from its bytes, because browsers only derive it from the file's name. */
function dataUrlOf(file: Upload['file']): string {
  if (file === undefined) throw invalidMember('logo', 'missing', 'Choose a file first.')
  const { data } = file
  if (data.length > MAX_LOGO_BYTES) throw invalidMember('logo', 'too_large', TOO_LARGE)
  const type = data.subarray(0, 3).equals(JPEG) ? 'jpeg' : data.subarray(0, 4).equals(RIFF) ? 'webp' : 'png'
  return `data:image/${type};base64,${data.toString('base64')}`
}

const TOO_LARGE =
  'The logo is larger than 64 KiB. Save a smaller one, such as 256 × 256 pixels, and choose it again.'

const JPEG = Buffer.from([0xff, 0xd8, 0xff])
const RIFF = Buffer.from('RIFF')

interface Shown {
  /** The values of the first form. */
  readonly values: URLSearchParams
  /** The values of the form with the sentences, if that form was sent. */
  readonly texts?: URLSearchParams
  /** What the domain section shows after one of its forms was refused. */
  readonly domain?: RefusedDomain
  readonly faults?: ReadonlyMap<string, string>
  readonly problem?: string | undefined
  readonly nearest?: Html
  /** The values are not saved. */
  readonly isDraft?: boolean
  readonly status?: 200 | 400 | 403 | 404 | 409
}

async function show(on: OnPage, shown: Shown): Promise<Response> {
  const { values, texts, faults = new Map<string, string>(), problem, nearest = '', isDraft = false } = shown
  const branding = await brandingOf(on)
  const language = languageOf(texts?.get('lang') ?? on.query('lang') ?? branding?.lang)
  const body = html`${section('Preview', await preview(on, branding, { values, language, isDraft }))}
${on.mayChange ? section('Name, colors, and links', html`${on.form('/branding', brandingFields({ values, refused: { faults } }, nearest))}`) : settingsView(await stored(on), on.broker.now())}
${on.mayChange && section('Logo', logoForms(on, branding, faults.get('logo')))}
${section('Your own sentences', sentences(on, branding, { language, texts, faults }))}
${await domainSection(on, branding?.domain, shown.domain ?? {})}
${asCurl(on, `/v1/admin/projects/${encodeURIComponent(on.session.project.name)}/branding`, { method: 'PATCH', body: { app_name: values.get('app_name') || 'Acme Assistant', accent: values.get('accent') || '#0b57d0' } })}`
  return on.show('Branding', body, {
    lead: 'How the pages look on which your users connect their accounts.',
    problem,
    ...(shown.status !== undefined && { status: shown.status }),
  })
}

async function preview(
  on: OnPage,
  branding: Branding | undefined,
  { values, language, isDraft }: { values: URLSearchParams; language: Language; isDraft: boolean },
): Promise<Html> {
  const { broker, projectId } = on
  const colour = (id: string) => {
    const text = given(values, id)
    return text !== undefined && /^#[0-9a-f]{6}$/i.test(text) ? text : undefined
  }
  const brand = {
    ...lookOf(branding),
    appName: given(values, 'app_name')?.slice(0, 60),
    privacyUrl: given(values, 'privacy_url'),
    supportUrl: given(values, 'support_url'),
  }
  const entries = await broker.store.providers.list(projectId)
  // preferably a provider whose scopes have sentences, because its page shows more
  const entry =
    entries.find((candidate) => broker.definitions.describing(candidate)?.facts.scopes) ?? entries[0]
  const provider: SampleProvider =
    entry === undefined
      ? { displayName: 'Example', opens: 'login.example.com', facts: undefined }
      : {
          displayName: entry.provider.displayName,
          opens: hostOf(entry.provider),
          facts: broker.definitions.describing(entry)?.facts,
        }
  return html`<link rel="stylesheet" href="${coloursHref({ accent: colour('accent'), accentDark: colour('accent_dark') })}">
${isDraft && html`<p class="note wait">Not saved yet: your users still see the pages as before.</p>`}
${brandingPreview(brand, provider, wordsOf(language), broker.ownPage(projectId))}
<p class="muted small">The sentence that says who requests which access, and the warning, cannot be changed. A page is in the language of its reader.</p>`
}

const FACTS = outputView(getBranding.output, {
  app_name: 'Name of your application',
  lang: ['Language', ({ lang }) => lang && LANGUAGE_NAMES[languageOf(lang)]],
  accent: ['Color on light pages', ({ accent }) => accent && code(accent)],
  accent_dark: ['Color on dark pages', ({ accent_dark: accent }) => accent && code(accent)],
  app_url: 'Your application',
  privacy_url: 'Privacy page',
  support_url: 'Support page',
  ...omitted('project_id', 'logo_url', 'updated_at'),
})

function settingsView(branding: z.output<NonNullable<typeof getBranding.output>>, now: number): Html {
  const rows = FACTS.facts(branding, now)
  return section(
    'Name, colors, and links',
    rows.every(([, value]) => value === undefined)
      ? html`<p class="muted">Nothing is set: the pages have Gatepass’s own look.</p>`
      : facts(rows),
  )
}

const LOGO_HINT =
  'PNG, JPEG, or WebP, at most 64 KiB and 1,024 pixels a side, ideally square. It is shown 40 pixels wide.'

function logoForms(on: OnPage, branding: Branding | undefined, fault: string | undefined): Html {
  const { logo } = lookOf(branding)
  const fields = html`<div class="field"><label for="f-logo">${logo === undefined ? 'Image' : 'Another image'}</label>
<input id="f-logo" name="logo" type="file" accept="image/png,image/jpeg,image/webp" required${described('logo', LOGO_HINT, fault)}>${notes('logo', LOGO_HINT, fault)}</div>
${submit('Upload logo', 'secondary')}`
  return html`${logo !== undefined && html`<div class="buttons"><img class="own-logo" src="${logo}" alt="The logo" width="64" height="64">${on.form('/branding/logo/remove', submit('Remove logo', 'danger'), { className: 'inline' })}</div>`}
${on.form('/branding/logo', fields, { hasFile: true })}`
}

function sentences(
  on: OnPage,
  branding: Branding | undefined,
  {
    language,
    texts,
    faults,
  }: { language: Language; texts: URLSearchParams | undefined; faults: ReadonlyMap<string, string> },
): Html {
  const own = branding?.texts ?? {}
  const tabs = html`<nav class="tabs" aria-label="Language of the sentences"><ul>${LANGUAGES.map(
    (other) =>
      html`<li><a href="/dashboard/branding?lang=${other}#sentences" lang="${other}"${other === language ? html` aria-current="true"` : ''}>${LANGUAGE_NAMES[other]}${own[other] !== undefined && html` <span class="has" title="has sentences"><span class="visually-hidden">, has sentences</span></span>`}</a></li>`,
  )}</ul></nav>`
  const values = texts === undefined ? (own[language] ?? {}) : Object.fromEntries(texts)
  const fields = html`${textFields(language, values, faults)}${submit(`Save in ${LANGUAGE_NAMES[language]}`)}`
  const shown = Object.values(own[language] ?? {})
  return html`<div id="sentences" class="stack">${tabs}
<p class="muted">Plain text of at most 300 characters. If a sentence is missing in a reader’s language, they see it in the project’s language, otherwise in English, otherwise in another one.</p>
${
  on.mayChange
    ? html`${on.form('/branding/texts', fields)}`
    : shown.length === 0
      ? html`<p class="muted">None in this language.</p>`
      : html`<ul class="plain">${shown.map((text) => html`<li lang="${language}" dir="auto">${text}</li>`)}</ul>`
}</div>`
}
