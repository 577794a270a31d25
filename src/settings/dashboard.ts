import type { DashboardIssuer, DashboardRule, DashboardSettings } from '../broker.ts'
import { DEFAULT_PROJECT } from '../domain/project.ts'
import { parseIssuer, readLoginScopes } from './issuer.ts'
import { type AddFault, type ReadSetting, splitList } from './read.ts'

/** Reads the issuer at which the operators of the console log in. */
export function readDashboard(
  setting: ReadSetting,
  { development, serve }: { readonly development: boolean; readonly serve: DashboardSettings['serve'] },
  addFault: AddFault,
): DashboardSettings {
  const issuer = readIssuer(setting, development, addFault)
  return { serve, ...(issuer !== undefined && { issuer }) }
}

function readIssuer(
  setting: ReadSetting,
  development: boolean,
  addFault: AddFault,
): DashboardIssuer | undefined {
  const text = setting('DASHBOARD_ISSUER')
  const clientId = setting('DASHBOARD_CLIENT_ID')
  const clientSecret = setting('DASHBOARD_CLIENT_SECRET')
  const rolesText = setting('DASHBOARD_ROLES')
  const scopesText = setting('DASHBOARD_SCOPES')
  if (text === undefined) {
    const without = 'belongs to GATEPASS_DASHBOARD_ISSUER, which is not set.'
    if (clientId !== undefined) addFault('DASHBOARD_CLIENT_ID', without)
    if (clientSecret !== undefined) addFault('DASHBOARD_CLIENT_SECRET', without)
    if (rolesText !== undefined) addFault('DASHBOARD_ROLES', without)
    if (scopesText !== undefined) addFault('DASHBOARD_SCOPES', without)
    return undefined
  }
  if (parseIssuer(text, development) === undefined)
    addFault(
      'DASHBOARD_ISSUER',
      'must be an https URL without credentials, query, or fragment, exactly as the issuer calls itself, such as https://login.example.com.',
    )
  if (clientId === undefined)
    addFault(
      'DASHBOARD_CLIENT_ID',
      'is missing: the client id that the issuer of GATEPASS_DASHBOARD_ISSUER gave this Gatepass, registered with the redirect URI <public URL>/dashboard/callback.',
    )
  const rules = readRules(rolesText, addFault)
  const needsEmail = rules.some(({ claim }) => claim === 'email')
  const scopes = readLoginScopes(scopesText, 'DASHBOARD_SCOPES', { needsEmail }, addFault)
  return {
    issuer: text,
    client: { clientId: clientId ?? '', ...(clientSecret !== undefined && { clientSecret }) },
    scopes,
    rules,
  }
}

const RULE = /^(?<claim>[\x21-\x3c\x3e-\x7e]+)=(?<value>.+?)\s+(?<role>\S+?)(?:\s+on\s+(?<project>\S+))?$/
const APPROVER = /^approver:(?<group>\S{1,200})$/

function readRules(text: string | undefined, addFault: AddFault): readonly DashboardRule[] {
  const items = splitList(text)
  if (items.length === 0)
    addFault(
      'DASHBOARD_ROLES',
      'is missing: it says who at the issuer may log in, and without a rule no one may. Give rules such as `groups=gatepass-admins admin, email=ada@example.com readonly on acme`.',
    )
  return items.flatMap((item): readonly DashboardRule[] => {
    const { claim, value, role, project = DEFAULT_PROJECT } = RULE.exec(item)?.groups ?? {}
    const { group } = APPROVER.exec(role ?? '')?.groups ?? {}
    if (claim !== undefined && value !== undefined) {
      if (role === 'admin' || role === 'readonly') return [{ claim, value, role, project }]
      if (group !== undefined) return [{ claim, value, role: 'approver', group, project }]
    }
    addFault(
      'DASHBOARD_ROLES',
      `has "${item}", which is not a rule: write <claim>=<value> <role>, where the role is admin, readonly or approver:<group>, and after it \`on <project>\` or \`on *\` for all projects.`,
    )
    return []
  })
}
