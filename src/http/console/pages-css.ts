/** The styles of the pages of `pages.ts`, after those of the whole console. */
export const pagesCss = `
.logo { display: inline-grid; place-items: center; flex: none; width: 2rem; height: 2rem; border: 1px solid #dfe3ea; border-radius: 0.5rem; background: #f8f9fb; color: #3f4550; font-weight: 600; }
.with-logo { display: inline-flex; align-items: center; gap: 0.625rem; }
.tiles { list-style: none; display: grid; gap: 0.75rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 13rem), 1fr)); }
.tiles a { display: flex; align-items: center; gap: 0.75rem; height: 100%; padding: 0.75rem; border: 1px solid var(--line); border-radius: 0.75rem; background: var(--surface); color: inherit; text-decoration: none; }
.tiles a:hover { background: var(--hover); border-color: var(--line-strong); }
.tiles strong { display: block; line-height: 1.3; }
.plain { list-style: none; }
fieldset.plain { border: 0; padding: 0; }
fieldset.plain > legend { padding: 0; margin-bottom: 0.5rem; }
.card ol:not(.timeline) { padding-left: 1.25rem; display: grid; gap: 0.5rem; }
.copy { display: inline-block; padding: 0.375rem 0.625rem; border-radius: var(--radius); background: var(--code); user-select: all; }
.copy.secret { font-size: 0.9375rem; }
.columns { display: grid; align-items: start; gap: 0.875rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 16rem), 1fr)); }
.columns .field { align-content: start; }
.days { display: flex; flex-wrap: wrap; gap: 0.5rem 1.25rem; }
.buttons { display: flex; flex-wrap: wrap; gap: 0.625rem; align-items: center; }
.buttons > form { width: auto; }
form > details > :not(summary) { margin-top: 0.75rem; }
.figures { display: grid; gap: 0.75rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 9rem), 1fr)); }
.figures > div { padding: 0.75rem 1rem; border: 1px solid var(--line); border-radius: var(--radius); }
.figures dt { color: var(--muted); font-size: 0.8125rem; }
.figures dd { font-size: 1.625rem; font-weight: 600; font-variant-numeric: tabular-nums; line-height: 1.3; }
.figures .bad { color: var(--bad); }
.figures .good { color: var(--good); }
.confirm-first { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: center; }
details[open] > summary { margin-bottom: 0.5rem; }
@media (max-width: 900px) { .scroll td { min-width: 6.5rem; } .scroll td:first-child { min-width: 8.5rem; } }
td details form { margin-top: 0.25rem; }
`
