import type { Feature } from '../feature.ts'

/** The look of a project's pages, and a domain of the project's own, where its users see them. */
export const branding: Feature = {
  store: async () => (await import('./store.ts')).brandingStore,
  subcommands: [
    {
      of: 'projects',
      name: 'branding',
      description: "show how the project's pages look, or change it",
      load: async () => (await import('./command.ts')).defineBranding,
    },
  ],
  operations: () => import('./operations.ts'),
  pages: async () => (await import('./console.ts')).brandingPages,
  routes: async () => (await import('./routes.ts')).brandingRoutes,
  look: async () => (await import('./look.ts')).findLook,
  sites: async () => (await import('./proved-domains.ts')).createProvedDomains,
  serve: async () => (await import('./hosts.ts')).atOwnDomains,
  checks: async () => (await import('./checks.ts')).checkDomain,
  attention: async () => (await import('./attention.ts')).unprovedDomain,
}
