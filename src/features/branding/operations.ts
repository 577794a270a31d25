import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { toTimestamp } from '../../domain/clock.ts'
import { isConfidential } from '../../domain/confidential-url.ts'
import { BrokerError } from '../../domain/errors.ts'
import { LANGUAGES } from '../../domain/languages.ts'
import type { Project } from '../../domain/project.ts'
import { projectOf } from '../../flows/manage-keys.ts'
import { Answer } from '../../operations/answer.ts'
import { defineOperation } from '../../operations/operation.ts'
import { idText, visibleLine } from '../../operations/schemas/fields.ts'
import { withoutUndefined } from '../../sdk/without-undefined.ts'
import { type ChangedBranding, changeBranding as change } from './change-branding.ts'
import { type Branding, logoPath, OWN_TEXTS } from './domain.ts'
import { checkDomain, proveDomain, setDomain } from './prove-domain.ts'
import { domainSchema, domainText, domainToWire } from './wire-domain.ts'

const colour = z
  .string()
  .regex(/^#[0-9a-fA-F]{6}$/, 'must be a color such as #0b57d0')
  .transform((text) => text.toLowerCase())
const webPage = pageUrl(({ protocol }) => protocol === 'https:', 'must be an https URL without credentials')
const appPage = pageUrl(
  (url) => isConfidential(url, false),
  'must be an https URL, or an http URL of a loopback host, without credentials',
)
const ownTexts = z
  .strictObject(Object.fromEntries(OWN_TEXTS.map((place) => [place, visibleLine(300).optional()])))
  .openapi('OwnTexts')
const texts = z.strictObject(Object.fromEntries(LANGUAGES.map((language) => [language, ownTexts.optional()])))

const MAX_LOGO_URL = 90_000

export const brandingChangesSchema = z
  .strictObject({
    app_name: visibleLine(60).nullish().meta({ example: 'Acme' }),
    lang: z
      .enum(LANGUAGES)
      .nullish()
      .meta({ description: 'The language for users whose own language the pages do not have' }),
    logo: z.string().max(MAX_LOGO_URL).nullish().meta({
      description:
        'A PNG, JPEG, or WebP image of at most 64 KiB and 1,024 pixels a side, as `data:image/png;base64,…`',
    }),
    accent: colour
      .nullish()
      .meta({ description: 'The color of links and buttons on light pages', example: '#0b57d0' }),
    accent_dark: colour.nullish().meta({
      description: 'The same on dark pages; absent: the nearest readable shade of `accent`',
      example: '#8ab4f8',
    }),
    app_url: appPage.nullish().meta({
      description:
        'The page of your application to which the last page of an authorization leads back, if the request named no `next_uri`',
      example: 'https://acme.example/',
    }),
    privacy_url: webPage.nullish(),
    support_url: webPage.nullish(),
    domain: domainText.nullish().meta({
      description:
        'A host name of your own. Users see the pages there once a DNS record, which the answer contains, has proved that it is yours. `null`: back to the public URL',
      example: 'auth.acme.example',
    }),
    texts: texts.nullish().meta({
      description:
        'Your own sentences as plain text, by language and place. They replace all that were set before',
      example: { en: { 'connect.note': 'Acme reads only what you ask about.' } },
    }),
  })
  .openapi('BrandingChanges')

const brandingSchema = z
  .object({
    project_id: z.string(),
    app_name: z.string().optional(),
    lang: z.string().optional(),
    logo_url: z.string().optional().meta({ description: 'A path of this server' }),
    accent: z.string().optional(),
    accent_dark: z.string().optional(),
    app_url: z.string().optional(),
    privacy_url: z.string().optional(),
    support_url: z.string().optional(),
    texts: z.record(z.string(), z.record(z.string(), z.string())).optional(),
    domain: domainSchema.optional(),
    updated_at: z.string().optional(),
  })
  .openapi('Branding')

const unreadableSchema = z
  .object({
    name: z.literal('invalid_request'),
    message: z.string(),
    errors: z.array(z.object({ path: z.string(), code: z.string(), message: z.string() })),
    nearest: z.string().meta({ description: 'The nearest shade that can be read' }),
  })
  .openapi('UnreadableColour')

const idParams = z.object({
  id: idText.meta({ description: "The id or the name of the key's own project" }),
})
const tag = 'API keys'
const path = '/v1/admin/projects/{id}/branding'

export const getBranding = defineOperation({
  id: 'getBranding',
  sdk: 'admin.projects.branding(id)',
  method: 'get',
  path,
  role: 'readonly',
  tag,
  summary: "How the project's pages look",
  params: idParams,
  answer: 'What is set',
  output: brandingSchema,
  async run(broker, { params: { id }, caller }) {
    const project = await ownProject(broker, id, caller)
    return toWire(broker, project)
  },
})

export const changeBranding = defineOperation({
  id: 'changeBranding',
  sdk: 'admin.projects.changeBranding(id, changes)',
  method: 'patch',
  path,
  role: 'admin',
  tag,
  summary: "Change how the project's pages look",
  description:
    'Members that are left out do not change; `null` removes one. A color in which text cannot be read is refused with the nearest shade. The sentence that says who requests which access, and the warning, cannot be changed.',
  params: idParams,
  body: brandingChangesSchema,
  answer: 'Changed',
  output: brandingSchema,
  otherAnswers: { 422: { description: 'Links in that color could not be read', schema: unreadableSchema } },
  async run(broker, { params: { id }, body, caller }) {
    const project = await ownProject(broker, id, caller)
    const { domain, ...look } = body
    if (domain != null) checkDomain(broker, domain) // before anything is changed
    const isDomainOnly = domain !== undefined && Object.values(look).every((setting) => setting === undefined)
    const changed = isDomainOnly ? undefined : await changeOwnBranding(broker, project.id, look)
    if (changed?.outcome !== 'unreadable') {
      if (domain !== undefined) await setDomain(broker, project.id, domain)
      return toWire(broker, project)
    }
    const { member, nearest } = changed
    const scheme = member === 'accent' ? 'light' : 'dark'
    const message = `${member} is too close to the background of ${scheme} pages: links in it could not be read (their contrast must be 4.5). The nearest shade is ${nearest}.`
    const errors = [{ path: member, code: 'invalid', message }]
    return new Answer({ name: 'invalid_request' as const, message, errors, nearest }, { status: 422 })
  },
})

export const verifyDomain = defineOperation({
  id: 'verifyDomain',
  sdk: 'admin.projects.verifyDomain(id)',
  method: 'post',
  path: `${path}/domain/verify`,
  role: 'admin',
  tag,
  summary: "Prove the project's domain",
  description:
    'Looks up the TXT record that the branding names. Once it is found, users see the pages at the domain, and providers redirect them to it. So register the new redirect URIs first, and make sure that the host serves Gatepass with TLS.',
  params: idParams,
  answer: 'Proved',
  output: brandingSchema,
  async run(broker, { params: { id }, caller }) {
    const project = await ownProject(broker, id, caller)
    await proveDomain(broker, project.id)
    return toWire(broker, project)
  },
})

async function ownProject(
  broker: Broker,
  id: string,
  caller: Parameters<typeof projectOf>[1],
): Promise<Project> {
  const own = await projectOf(broker, caller)
  if (id === own.id || id === own.name) return own
  throw new BrokerError(
    'not_found',
    `This key does not belong to a project "${id.slice(0, 100)}". It belongs to "${own.name}".`,
  )
}

/** The URL of a page, without credentials, spaces and backslashes. */
function pageUrl(isAllowed: (url: URL) => boolean, message: string) {
  return z
    .string()
    .max(1000)
    .refine((text) => {
      const url = /^https?:\/\/[^\s\\]+$/.test(text) && URL.canParse(text) ? new URL(text) : undefined
      return url !== undefined && url.username === '' && url.password === '' && isAllowed(url)
    }, message)
}

/** Changes the look without the domain, for the API and the console. `body`: parsed by `brandingChangesSchema`. */
export function changeOwnBranding(
  broker: Broker,
  projectId: string,
  body: Omit<z.output<typeof brandingChangesSchema>, 'domain'>,
): Promise<ChangedBranding> {
  const { app_name, app_url, accent_dark, privacy_url, support_url, texts: own, ...same } = body
  return change(broker, projectId, {
    ...same,
    appName: app_name,
    accentDark: accent_dark,
    appUrl: app_url,
    privacyUrl: privacy_url,
    supportUrl: support_url,
    texts: own as Branding['texts'] | null | undefined, // only places and languages that the schema knows
  })
}

async function toWire(broker: Broker, project: Project): Promise<z.infer<typeof brandingSchema>> {
  const branding = await broker.store.brandings.find(project.id)
  const { id } = project
  if (branding === undefined) return { project_id: id }
  return withoutUndefined({
    project_id: id,
    app_name: branding.appName,
    lang: branding.lang,
    logo_url: logoPath(branding),
    accent: branding.accent,
    accent_dark: branding.accentDark,
    app_url: branding.appUrl,
    privacy_url: branding.privacyUrl,
    support_url: branding.supportUrl,
    texts: branding.texts,
    domain: await domainToWire(broker, project, branding),
    updated_at: toTimestamp(branding.updatedAt),
  })
}
