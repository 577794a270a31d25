/** The styles of users' own page, /me. */
export const portalCss = `
.card .identity + p, .card .button + p, .card .button + a:not(.button) { margin-top: 1rem; }
.narrow > main.portal, .narrow > header:has(+ main.portal) { max-width: 40rem; width: 100%; }
.portal > h1 { margin: 0 0 0.5rem; font-size: 1.625rem; line-height: 1.25; text-wrap: balance; }
.portal > p { margin-bottom: 0.75rem; }
.portal h2 { margin: 0; font-size: 1.125rem; line-height: 1.35; }
.portal h3 { margin: 1rem 0 0.25rem; font-size: 0.875rem; line-height: 1.4; }
.portal .card { margin: 0 0 1rem; padding: 1.25rem; }
.portal .empty { text-align: center; }
.portal .whoami { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: 0 1rem; margin-bottom: 1rem; }
.portal .whoami p, .portal form { margin: 0; }
.portal button.link { display: inline; width: auto; margin: 0; padding: 0.25rem 0; border: 0; background: none; color: var(--pico-primary); font-size: inherit; font-weight: 400; text-decoration: underline; }
.portal button.link:hover { background: none; color: var(--pico-primary-hover); }
.connection > header { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 0.875rem; margin: 0; padding: 0; border: 0; background: none; }
.connection > header > div { flex: 1 1 9.5rem; min-width: 0; }
.connection > header p { margin: 0; line-height: 1.4; }
.connection > header h3 { margin: 0; font-size: 1.0625rem; }
.connection .tile { flex: none; margin: 0; width: 2.75rem; height: 2.75rem; }
.badge { flex: none; padding: 0.1rem 0.6rem; border: 1px solid var(--pico-card-border-color); border-radius: 1rem; color: var(--pico-muted-color); font-size: 0.8125rem; }
.badge.wait { border-color: currentColor; color: var(--gp-wait); font-weight: 600; }
.connection .scopes { padding-inline-start: 1.125rem; border: 0; }
.connection .scopes li { display: list-item; padding: 0.2rem 0; border: 0; list-style: disc; line-height: 1.45; }
.connection .scopes li::marker { color: var(--pico-muted-color); }
.connection details.more { margin: 0; padding: 0; border: 0; }
.connection details.more summary { width: max-content; max-width: 100%; margin: 0.25rem 0; font-size: 0.875rem; }
.connection .facts { margin: 0.875rem 0 0; }
.connection .facts dd { font-weight: 400; }
.uses { margin: 0; padding: 0; }
.uses li { margin: 0; padding: 0; list-style: none; }
.hint { margin: 0.75rem 0 0; color: var(--gp-wait); }
.actions { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem; margin-top: 1rem; }
.actions form { margin: 0; }
.actions button, .actions .button { width: auto; min-height: 2.75rem; margin: 0; padding: 0.5rem 1.1rem; font-size: 0.9375rem; line-height: 1.5; }
.actions .button, .actions button { box-sizing: border-box; border: 1px solid transparent; border-radius: var(--pico-border-radius); font-weight: 600; text-decoration: none; }
.portal .actions .button.secondary, .portal .actions button.secondary { margin: 0; background: none; border-color: var(--pico-muted-color); color: inherit; }
.portal .actions .button.secondary:hover, .portal .actions button.secondary:hover { background: var(--pico-code-background-color); }
.actions button.link { min-height: 0; }
.card .button.secondary { margin-top: 0.75rem; background: none; border-color: var(--pico-card-border-color); color: inherit; }
.card .button.secondary:hover { background: var(--pico-code-background-color); color: inherit; }
.card button.danger, .card .button.danger { background: #b3261e; color: #fff; }
.card button.danger:hover, .card .button.danger:hover { background: #8c1d18; color: #fff; }
.note { margin: 0 0 1rem; padding: 0.75rem 1rem; border: 1px solid var(--pico-card-border-color); border-inline-start: 4px solid var(--gp-good); border-radius: var(--pico-border-radius); background: var(--pico-card-background-color); }
.note.wait { border-inline-start-color: var(--gp-wait); color: inherit; }
.portal section.aside { margin: 2rem 0 0; }
.portal section.aside > h2 { margin-bottom: 0.25rem; }
.points { margin: 0 0 1rem; padding-inline-start: 1.25rem; }
.points li { margin-bottom: 0.375rem; }
.card form label:has([type=checkbox]) { display: block; margin: 0 0 1rem; }
.card form label [type=checkbox]:not([type=hidden]) { margin: 0; margin-inline-end: 0.5rem; }
`
