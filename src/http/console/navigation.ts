/** A page in the menu of the console. */
export interface MenuItem {
  /** Below `/dashboard`. */
  readonly path: string
  readonly label: string
  readonly icon: keyof typeof ICONS
}

export interface MenuGroup {
  readonly label?: string
  readonly items: readonly MenuItem[]
}

/** The console's own pages, by group. `menu.ts` adds those of features. */
export const OWN_MENU: readonly MenuGroup[] = [
  { items: [{ path: '', label: 'Overview', icon: 'chart' }] },
  {
    label: 'Consent',
    items: [
      { path: '/connections', label: 'Connections', icon: 'link' },
      { path: '/shared', label: 'Shared connections', icon: 'link' },
      { path: '/users', label: 'Users', icon: 'people' },
      { path: '/authorizations', label: 'Authorizations', icon: 'check' },
      { path: '/providers', label: 'Providers', icon: 'plug' },
    ],
  },
  {
    label: 'Tools',
    items: [
      { path: '/tools', label: 'Tools', icon: 'tool' },
      { path: '/runs', label: 'Runs', icon: 'play' },
      { path: '/workers', label: 'Workers', icon: 'server' },
    ],
  },
  {
    label: 'Control',
    items: [
      { path: '/keys', label: 'API keys', icon: 'key' },
      { path: '/secrets', label: 'Secrets', icon: 'key' },
      { path: '/projects', label: 'Projects', icon: 'folder' },
      { path: '/audit', label: 'Audit trail', icon: 'list' },
      { path: '/settings', label: 'Settings', icon: 'gear' },
      { path: '/doctor', label: 'Doctor', icon: 'pulse' },
    ],
  },
]

/** SVG path data of the menu's icons, for a view box of 24 × 24 and a stroke width of 1.75. */
export const ICONS = {
  chart: 'M4 20V10M10 20V4M16 20v-7M21 20H3',
  link: 'M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7L12 7M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.7L12 17',
  people:
    'M16 20v-1a4 4 0 0 0-4-4H7a4 4 0 0 0-4 4v1M9.5 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7M21 20v-1a4 4 0 0 0-3-3.9M16 4.1a3.5 3.5 0 0 1 0 6.8',
  check: 'M9 12l2.2 2.2L15.5 10M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18',
  plug: 'M9 3v5M15 3v5M6 8h12v3a6 6 0 0 1-12 0zM12 17v4',
  tool: 'M14.5 6.5a4 4 0 0 1 5-1l-2.7 2.7 1.5 1.5L21 7a4 4 0 0 1-5.6 4.6L8 19a2 2 0 0 1-3-3l7.5-7.4a4 4 0 0 1 2-2.1',
  play: 'M7 4.5v15l12-7.5z',
  clock: 'M12 7v5l3 2M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18',
  chain: 'M8 6h8M8 12h8M8 18h8M4 6h.01M4 12h.01M4 18h.01',
  server: 'M4 4h16v6H4zM4 14h16v6H4zM8 7h.01M8 17h.01',
  shield: 'M12 3l8 3v6c0 4.5-3.3 7.7-8 9-4.7-1.3-8-4.5-8-9V6z',
  key: 'M15.5 12.5a4.5 4.5 0 1 0-4-2.4L3 18.5V21h3l1-1v-2h2v-2h2l1.5-1.5M16 7.5h.01',
  folder: 'M3 6a2 2 0 0 1 2-2h4l2 2h8a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z',
  palette:
    'M12 3a9 9 0 1 0 0 18c1.2 0 1.8-.8 1.8-1.7 0-1-.8-1.4-.8-2.3 0-.9.7-1.5 1.7-1.5H17a4 4 0 0 0 4-4C21 6.8 17 3 12 3M7.5 11.5h.01M10 7.5h.01M14.5 7.5h.01M17 11h.01',
  hook: 'M12 3v11a4 4 0 1 1-8 0M12 3l-3 3M12 3l3 3M20 8v8',
  list: 'M5 4h14v16H5zM9 9h6M9 13h6M9 17h3',
  gear: 'M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6M12 3v3M12 18v3M4.2 7.5l2.6 1.5M17.2 15l2.6 1.5M4.2 16.5L6.8 15M17.2 9l2.6-1.5',
  pulse: 'M3 12h4l3-8 4 16 3-8h4',
} as const
