import { changeBranding } from '../../../src/features/branding/operations.ts'
import type { ConsolePart } from '../../http/console-part.ts'

export const consoleOfBranding: ConsolePart = {
  prepare: async () => {},
  pages: [
    [() => '/branding', 200],
    [() => '/branding?lang=ja', 200],
  ],
  forms: [
    [() => '/branding', { app_name: 'Acme', accent: '#0b57d0', do: 'set' }, 'branding.set'],
    [() => '/branding/texts', { lang: 'de', 'connect.note': 'Guten Tag' }, 'branding.set'],
    [() => '/branding/logo/remove', {}, 'branding.set'],
  ],
  bodies: [
    [
      'changeBranding',
      // these have forms of their own
      { page: () => '/branding', body: changeBranding.body, without: ['logo', 'texts', 'domain'] },
    ],
  ],
  faults: [
    ['/branding', { app_name: 'GitHub', do: 'set' }, 'name of a provider'],
    ['/branding', { accent: 'blue', do: 'preview' }, 'must be a color'],
    ['/branding', { accent: '#ffcc00', do: 'set' }, '#876c00 is the nearest readable shade'],
    ['/branding', { accent_dark: '#222222', do: 'set' }, 'on dark pages: its contrast is below 4.5'],
    ['/branding', { privacy_url: 'javascript:alert(1)', do: 'set' }, 'https URL'],
    ['/branding/texts', { lang: 'de', 'connect.note': 'x'.repeat(301) }, '300'],
  ],
}
