import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { withApi } from '../../cli/api.ts'
import { CommandFailure, EXIT } from '../../cli/failure.ts'
import { dim, MARKS, print, printJson, sanitize } from '../../cli/print.ts'
import { readJsonFile } from '../../cli/read-json-file.ts'
import { type CommonOptions, parseId, type Shell, withCommonOptions } from '../../cli/shell.ts'
import type { Branding, BrandingChanges, OwnDomain } from '../../sdk/generated/wire.ts'

interface BrandingOptions extends CommonOptions {
  readonly appName?: string
  readonly lang?: string
  readonly logo?: string
  readonly accent?: string
  readonly accentDark?: string
  readonly appUrl?: string
  readonly privacyUrl?: string
  readonly supportUrl?: string
  readonly texts?: string
  readonly remove?: readonly string[]
  readonly domain?: string
  readonly verifyDomain?: true
}

const LABELS = [
  ['app_name', 'name'],
  ['lang', 'language'],
  ['logo_url', 'logo'],
  ['accent', 'accent'],
  ['accent_dark', 'accent, dark'],
  ['app_url', 'application'],
  ['privacy_url', 'privacy'],
  ['support_url', 'support'],
] as const

/** `gatepass projects branding`: shows how the pages of a project look, or changes it. */
export function defineBranding(branding: Command, shell: Shell): void {
  withCommonOptions(
    branding
      .argument('<project>', "the id or the name of the key's project", parseId)
      .option('--app-name <name>', 'the name of the application, on every page that users see')
      .option('--logo <file>', 'a PNG, JPEG, or WebP image of at most 64 KiB')
      .option('--accent <color>', 'links and buttons on light pages, such as #0b57d0')
      .option('--accent-dark <color>', 'the same on dark pages')
      .option('--app-url <url>', 'the URL that the last page of an authorization links back to')
      .option('--privacy-url <url>', 'the URL of your privacy policy')
      .option('--support-url <url>', 'the URL where your users get help')
      .option('--lang <language>', 'the language for users whose own language is not available')
      .option('--texts <file>', 'a JSON file with sentences by language and place')
      .option('--domain <host>', 'your own host name, where users see the pages once it is proved')
      .option(
        '--verify-domain',
        'look for the DNS record that proves the domain, and use the domain from then on',
      )
      .option('--remove <members...>', 'remove these members, for example logo accent_dark'),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (project: string, options: BrandingOptions) => {
      const changes = await changesOf(options)
      return withApi(shell, options, async (api) => {
        const params = { id: project }
        const isChanged = Object.keys(changes).length > 0
        const changed = isChanged ? await api.call('changeBranding', { params, body: changes }) : undefined
        const branding = options.verifyDomain
          ? await api.call('verifyDomain', { params })
          : (changed ?? (await api.call('getBranding', { params })))
        if (options.json) return printJson(branding)
        if (isChanged) print(`${MARKS.ok} The pages of ${sanitize(project)} were changed.`)
        if (options.verifyDomain && branding.domain !== undefined)
          print(
            `${MARKS.ok} ${sanitize(branding.domain.name)} is proved: users see the pages there from now on.`,
          )
        report(branding)
        if (branding.domain?.status === 'unproved') explainDomain(project, branding.domain)
      })
    })
}

async function changesOf(options: BrandingOptions): Promise<BrandingChanges> {
  const {
    appName,
    lang,
    logo,
    accent,
    accentDark,
    appUrl,
    privacyUrl,
    supportUrl,
    texts,
    domain,
    remove = [],
  } = options
  const given = {
    domain,
    app_name: appName,
    lang,
    accent,
    accent_dark: accentDark,
    app_url: appUrl,
    privacy_url: privacyUrl,
    support_url: supportUrl,
    logo: logo === undefined ? undefined : await readImage(logo),
    texts: texts === undefined ? undefined : await readJsonFile(texts),
  }
  const set = Object.entries(given).filter(([, value]) => value !== undefined)
  return Object.fromEntries([...remove.map((member) => [member, null]), ...set])
}

const TYPES: Readonly<Record<string, string>> = { png: 'png', jpg: 'jpeg', jpeg: 'jpeg', webp: 'webp' }

async function readImage(file: string): Promise<string> {
  const type = TYPES[file.slice(file.lastIndexOf('.') + 1).toLowerCase()]
  if (type === undefined)
    throw new CommandFailure(`--logo takes a .png, .jpg, or .webp file, not ${file}.`, EXIT.usage)
  const bytes = await readFile(file).catch(() => {
    throw new CommandFailure(`The file "${file}" cannot be read.`, EXIT.notFound)
  })
  return `data:image/${type};base64,${bytes.toString('base64')}`
}

function report(branding: Branding): void {
  const rows: [string, string][] = []
  for (const [member, label] of LABELS) {
    const value = branding[member]
    if (value !== undefined) rows.push([label, value])
  }
  for (const [language, places] of Object.entries(branding.texts ?? {}))
    for (const [place, text] of Object.entries(places)) rows.push([`${place} (${language})`, text])
  if (branding.domain !== undefined) {
    const { name, status } = branding.domain
    rows.push(['domain', status === 'proved' ? name : `${name} (not proved yet)`])
  }
  if (rows.length === 0) print('Nothing is set: the pages have the look of Gatepass.')
  const width = Math.max(...rows.map(([label]) => label.length))
  for (const [label, value] of rows) print(`  ${dim(label.padEnd(width))}  ${sanitize(value)}`)
}

/** What to do before users can be sent to the domain. */
function explainDomain(project: string, { name, challenge, ...domain }: OwnDomain): void {
  const lines = [
    `Users see the public URL until ${name} is proved:`,
    '',
    `1. Register these redirect URIs in addition to the current ones. Users come back to them once the domain is proved:`,
    ...domain.redirect_uris.map((uri) => `   ${uri.provider_id}: ${uri.redirect_uri}`),
    ...(domain.login_redirect_uri === undefined ? [] : [`   users’ login: ${domain.login_redirect_uri}`]),
    `2. Point ${name} to this Gatepass, with TLS.`,
    `3. Publish this DNS record:`,
    `   ${challenge.name}  ${challenge.type}  ${challenge.value}`,
    `4. gatepass projects branding ${project} --verify-domain`,
  ]
  print('')
  for (const line of lines) print(sanitize(line))
}

const EXAMPLES = `
Examples:
  $ gatepass projects branding default                            show it
  $ gatepass projects branding default --app-name Acme --logo acme.png --accent "#0b57d0"
  $ gatepass projects branding default --remove logo accent_dark
  $ gatepass projects branding default --domain auth.acme.example
  $ gatepass projects branding default --verify-domain

docs/guides/branding.md shows what users see. docs/guides/own-domain.md explains how to set up a domain.`
