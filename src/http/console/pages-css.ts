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
.card ol:not(.timeline) { padding-left: 1.25rem; display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.5rem; }
.copy { display: inline-block; padding: 0.375rem 0.625rem; border-radius: var(--radius); background: var(--code); user-select: all; }
.copies { display: grid; gap: 0.5rem; margin-top: 0.375rem; }
.copies dt { margin-bottom: 0.125rem; color: var(--muted); font-size: 0.8125rem; }
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

/* Branding: the connect page in small */
.previews { display: grid; gap: 1.25rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 19rem), 1fr)); max-width: 56rem; }
.previews figure { display: grid; gap: 0.5rem; align-content: start; justify-items: center; }
.preview { --line: #dfe3ea; --paper: #fff; --faint: #59606d; --warn: #8a6100; width: 100%; padding: 1rem; border: 1px solid var(--line-strong); border-radius: 0.75rem; background: #f4f5f8; color: #373c44; font-size: 0.8125rem; line-height: 1.5; }
.preview.dark { --line: #2b3140; --paper: #191d27; --faint: #9aa3b5; --warn: #e3b341; background: #11141b; color: #c2c7d0; }
.preview p, .preview ul { margin: 0 0 0.625rem; }
.preview .line { display: flex; align-items: center; gap: 0.375rem; color: var(--faint); font-weight: 600; }
.preview .line img { border-radius: 0.25rem; }
.preview .page { padding: 1.125rem; border: 1px solid var(--line); border-radius: 0.625rem; background: var(--paper); }
.preview .pair { display: flex; align-items: center; margin-bottom: 0.75rem; }
.preview .tile { display: flex; align-items: center; justify-content: center; width: 2.25rem; height: 2.25rem; margin: 0; border: 1px solid var(--line); border-radius: 0.5rem; background: #fff; color: #2d3138; font-size: 1.0625rem; font-weight: 600; }
.preview .tile img { max-width: 1.625rem; max-height: 1.625rem; border-radius: 0.25rem; }
.preview .tile.app { background: var(--own); color: var(--on-own); border-color: transparent; }
.preview .between { width: 1.5rem; border-top: 2px dashed var(--line); }
.preview .asks { font-size: 1.0625rem; font-weight: 700; line-height: 1.3; text-wrap: balance; }
.preview ul { padding: 0; list-style: none; border-block: 1px solid var(--line); }
.preview li { padding: 0.25rem 0; }
.preview li + li { border-top: 1px solid var(--line); }
.preview .warns { padding: 0.5rem 0.75rem; border: 1px solid var(--line); border-inline-start: 3px solid var(--warn); border-radius: 0.375rem; }
.preview .does { padding: 0.4375rem; border: 1px solid transparent; border-radius: 0.375rem; background: var(--own); color: var(--on-own); font-weight: 600; text-align: center; }
.preview .does.not { background: none; border-color: var(--line); color: inherit; }
.preview .next { margin: 0; color: var(--faint); font-size: 0.75rem; }
.preview .next strong { color: inherit; }
.preview .linked { color: var(--own-link); text-decoration: underline; text-underline-offset: 0.15em; }
.preview .foot { display: flex; gap: 0.75rem; margin: 0.625rem 0 0; font-size: 0.75rem; }
.preview .foot .linked { color: var(--faint); }
.own-logo { object-fit: contain; padding: 0.375rem; border: 1px solid var(--line); border-radius: 0.5rem; background: #fff; }
.tabs ul { display: flex; flex-wrap: wrap; gap: 0.25rem; list-style: none; }
.tabs a { display: block; padding: 0.25rem 0.75rem; border: 1px solid var(--line); border-radius: 1rem; color: inherit; text-decoration: none; }
.tabs a:hover { background: var(--hover); }
.tabs [aria-current] { border-color: var(--accent); color: var(--accent); font-weight: 600; }
.tabs .has { display: inline-block; width: 0.4375rem; height: 0.4375rem; margin-inline-start: 0.125rem; border-radius: 50%; vertical-align: middle; background: var(--good); }
.stack { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.875rem; }
`
