/** The styles that pico.css does not have. A module can be imported from `src` and from `dist`, a .css file cannot. */
export const gatepassCss = `
:root {
  --pico-font-size: 100%;
  --pico-border-radius: 0.5rem;
  --gp-good: #1a7f4b;
  --gp-bad: #b3372f;
  --gp-wait: #8a6100;
}
:root:not([data-theme=dark]) {
  --pico-background-color: #f4f5f8;
  --pico-card-background-color: #fff;
  --pico-card-border-color: #dfe3ea;
  --pico-muted-color: #59606d;
  --pico-code-color: #2d3138;
  --pico-code-background-color: #e9ecf2;
}
@media (prefers-color-scheme: dark) {
  :root:not([data-theme]) {
    --pico-background-color: #11141b;
    --pico-card-background-color: #191d27;
    --pico-card-border-color: #2b3140;
    --pico-muted-color: #9aa3b5;
    --pico-code-background-color: #232937;
    --pico-code-color: #dfe3eb;
    --gp-good: #5fce94;
    --gp-bad: #f28b80;
    --gp-wait: #e3b341;
  }
}

/* The page */
body { display: flex; flex-direction: column; min-height: 100vh; min-height: 100dvh; overflow-wrap: anywhere; }
body > header, body > main { box-sizing: border-box; padding: 1rem; }
.narrow > header, .narrow > main { max-width: 34rem; }
.narrow > header { margin-top: auto; padding-block: 1.25rem 0.5rem; }
.narrow > main { margin-bottom: auto; padding-block: 0 2rem; }
.brand { display: flex; align-items: center; gap: 0.5rem; margin: 0; color: var(--pico-muted-color); font-weight: 600; }
.brand svg { color: var(--pico-primary); }
:focus-visible { outline: 3px solid var(--pico-primary); outline-offset: 2px; }
.muted { color: var(--pico-muted-color); }
.small { font-size: 0.875rem; }
.visually-hidden {
  position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
}
/* Japanese and Chinese have no spaces: lines of headings end between words, where the browser knows them */
:is(h1, h2, h3, dd, .identity, .button, button):lang(ja) { word-break: auto-phrase; }
/* a field has the direction of its value, and pico.css puts its mark on the side of the page's direction */
[dir=rtl] .card input[aria-invalid]:dir(ltr) { background-position: center right 0.75rem; }
.card h1:lang(zh) { text-wrap: pretty; }
p, li, dd, small { text-wrap: pretty; }
.whole { white-space: nowrap; }
code { padding: 0.1rem 0.35rem; overflow-wrap: anywhere; }

/* The card */
.card {
  margin: 0; padding: 1.5rem;
  border: 1px solid var(--pico-card-border-color); border-radius: 0.75rem;
  background: var(--pico-card-background-color); --pico-background-color: var(--pico-card-background-color);
  box-shadow: 0 1px 2px rgb(16 24 40 / 5%), 0 8px 24px rgb(16 24 40 / 6%);
}
.card > :last-child { margin-bottom: 0; }
.card h1 { margin: 0 0 0.75rem; font-size: 1.375rem; line-height: 1.3; text-wrap: balance; }
@media (min-width: 576px) {
  .card { padding: 2rem 2.25rem; }
  .card > :last-child { margin-bottom: 0; }
.card h1 { font-size: 1.5rem; }
}
.card h2 { margin: 1.5rem 0 0.5rem; font-size: 1rem; line-height: 1.4; }
.card form { margin: 1.5rem 0 0.5rem; }
.card button, .card .button {
  display: block; width: 100%; margin: 0; padding: 0.8rem 1rem; box-sizing: border-box;
  border: 1px solid transparent; border-radius: var(--pico-border-radius);
  background: var(--pico-primary-background); color: var(--pico-primary-inverse);
  font-weight: 600; text-align: center; text-decoration: none;
}
.card button:hover, .card .button:hover { background: var(--pico-primary-hover-background); color: var(--pico-primary-inverse); }
.card .button { margin-top: 1.25rem; }

/* The connect page */
.tile {
  display: flex; align-items: center; justify-content: center; width: 3rem; height: 3rem; margin: 0 0 1rem;
  border: 1px solid var(--pico-card-border-color); border-radius: 0.75rem;
  background: #fff; color: #2d3138; font-size: 1.375rem; font-weight: 600; line-height: 1;
}
.tiles { display: flex; align-items: center; margin: 0 0 1rem; }
.tiles .tile { margin: 0; }
.tiles .link { width: 2rem; border-top: 2px dashed var(--pico-card-border-color); }
.tile img { max-width: 2.25rem; max-height: 2.25rem; border-radius: 0.375rem; }
.tile.app { background: var(--pico-primary-background); color: var(--pico-primary-inverse); border-color: transparent; }
.own-note { margin: 1rem 0; }
.card form .warning { margin: 1rem 0; }
.card h1 + .for { margin-top: -0.5rem; }
.card details { margin: 1rem 0; padding: 0; border: 0; }
.card details summary { margin: 0; color: var(--pico-muted-color); line-height: 1.75; }
.card details dd { font-weight: 400; }
.narrow > footer { box-sizing: border-box; display: flex; gap: 1.25rem; max-width: 34rem; padding: 0 1rem 1.5rem; margin-bottom: auto; }
.narrow > main:has(+ footer) { margin-bottom: 0; padding-bottom: 1rem; }
.narrow > footer a { color: var(--pico-muted-color); }
.tile svg { width: 1.75rem; height: 1.75rem; }
.identity {
  margin: 1rem 0 0; padding: 0.75rem 1rem;
  border: 1px solid var(--pico-card-border-color); border-inline-start: 4px solid var(--pico-primary);
  border-radius: var(--pico-border-radius);
}
.scopes { margin: 0; padding: 0; border-block: 1px solid var(--pico-card-border-color); }
.scopes li {
  display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: 0 0.75rem;
  margin: 0; padding: 0.5rem 0; list-style: none; line-height: 1.5;
}
.marks { display: inline-flex; flex-wrap: wrap; gap: 0.375rem; }
.mark {
  padding: 0 0.5rem; border: 1px solid var(--pico-card-border-color); border-radius: 1rem;
  color: var(--pico-muted-color); font-size: 0.75rem; line-height: 1.5rem; white-space: nowrap;
}
.mark.new { border-color: var(--pico-primary); color: var(--pico-primary); font-weight: 600; }
.mark.wait { border-color: currentColor; color: var(--gp-wait); }
.scopes li + li { border-top: 1px solid var(--pico-card-border-color); }
.scopes code { display: inline; padding: 0; background: none; font-size: 0.875rem; white-space: pre-wrap; }
.steps { display: flex; flex-wrap: wrap; gap: 0.375rem; margin: 0 0 1.25rem; padding: 0; }
.steps li {
  margin: 0; padding: 0.2rem 0.7rem; list-style: none; max-width: 100%; box-sizing: border-box;
  border: 1px solid var(--pico-card-border-color); border-radius: 1rem;
  color: var(--pico-muted-color); font-size: 0.875rem; line-height: 1.4;
}
.steps svg { width: 0.875rem; height: 0.875rem; margin-inline-end: 0.3rem; vertical-align: -0.125rem; }
.steps .done { color: var(--gp-good); }
.steps [aria-current] { border-color: var(--pico-primary); color: var(--pico-primary); font-weight: 600; }

/* The login and the applications of a user */
.card input:not([type=hidden]) { margin: 0 0 1rem; }
.card label { margin: 0 0 0.25rem; }
.card button.secondary {
  margin-top: 0.75rem; background: none;
  border-color: var(--pico-card-border-color); color: inherit;
}
.card button.secondary:hover { background: var(--pico-code-background-color); color: inherit; }
.card button.link { width: auto; padding: 0.25rem 0; background: none; color: var(--pico-primary); font-weight: 400; text-align: start; text-decoration: underline; }
.card .identity button.link { display: inline; margin: 0; padding: 0; border: 0; font-weight: 600; }
#cancel { display: none; }
.card form.aside { margin: 0.25rem 0 1rem; }
.tag {
  display: inline-block; margin: 0 0 0.75rem; padding: 0.1rem 0.6rem;
  border: 1px solid currentColor; border-radius: 1rem; color: var(--gp-wait); font-size: 0.875rem;
}
.warning {
  margin: 1rem 0 0; padding: 0.75rem 1rem;
  border: 1px solid var(--pico-card-border-color); border-inline-start: 4px solid var(--gp-wait); border-radius: var(--pico-border-radius);
}
.clients { margin: 1rem 0 0; padding: 0; }
.clients li { margin: 0; padding: 1rem 0; list-style: none; border-top: 1px solid var(--pico-card-border-color); }
.clients p { margin: 0; }
.clients .facts { margin: 0.5rem 0; }
.clients form { margin: 0; }
.clients button { width: auto; padding: 0.4rem 1.25rem; }

/* The endings */
.sign { display: block; width: 2.75rem; height: 2.75rem; margin-bottom: 1rem; }
.good { color: var(--gp-good); }
.bad { color: var(--gp-bad); }
.wait { color: var(--gp-wait); }
.facts { margin: 1rem 0; }
.facts dt { color: var(--pico-muted-color); }
.facts dd { margin: 0 0 0.5rem; font-weight: 600; }
@media (min-width: 480px) {
  .facts { display: grid; grid-template-columns: max-content 1fr; gap: 0.375rem 1rem; }
  .facts dd { margin: 0; }
}
.reason { margin-top: 1.5rem; padding-top: 0.75rem; border-top: 1px solid var(--pico-card-border-color); }

/* The API reference */
.wide > header, .wide > main { max-width: 76rem; }
.wide > main { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.5rem; }
.wide > main > nav { display: block; font-size: 0.875rem; }
.wide nav ul { display: block; margin: 0 0 0.75rem; padding: 0; }
.wide nav > ul { display: flex; flex-wrap: wrap; gap: 0 1rem; }
.wide nav li { display: block; margin: 0; padding: 0.125rem 0; list-style: none; }
.wide nav a { display: inline-block; margin: 0; padding: 0.125rem 0; text-decoration: none; }
.wide nav a:hover { text-decoration: underline; }
.wide nav [aria-current] { font-weight: 700; text-decoration: underline; }
.wide nav li ul { display: none; }
.wide nav.searching > ul { display: block; }
.wide nav.searching li ul { display: block; margin: 0.125rem 0 0.5rem; padding-inline-start: 0.75rem; }
.wide [hidden] { display: none; }
.wide .search { margin: 0 0 0.25rem; }
.wide label { margin: 0 0 0.25rem; font-size: 0.875rem; }
.wide input, .wide textarea { margin: 0 0 0.75rem; padding: 0.5rem 0.75rem; height: auto; font-size: 0.9375rem; }
.wide textarea { font-family: var(--pico-font-family-monospace); font-size: 0.8125rem; }
#found { min-height: 1.25rem; margin: 0 0 0.5rem; }
.wide h1 { margin-bottom: 0.25rem; font-size: 1.75rem; }
.wide section > h2 { margin: 2rem 0 0.75rem; font-size: 1.375rem; }
.wide section > h3 { margin: 1.5rem 0 0.25rem; font-size: 1.0625rem; }
.wide section { margin: 0; scroll-margin-top: 1rem; }
.wide section p { margin-bottom: 0.5rem; }
.wide pre { margin: 0.25rem 0 1rem; padding: 0.75rem; font-size: 0.8125rem; overflow: auto; max-height: 28rem; overflow-wrap: normal; }
.wide pre code { display: block; padding: 0; background: none; overflow-wrap: normal; }
.operations { margin: 0 0 1rem; padding: 0; }
.operations li { margin: 0; padding: 0.125rem 0; list-style: none; }
.operation { margin: 0 0 1.5rem; padding: 1rem 1.25rem; box-shadow: none; scroll-margin-top: 1rem; }
.operation h2 { margin: 0 0 0.375rem; font-size: 1.1875rem; line-height: 1.35; }
.operation h3 { margin: 1.25rem 0 0.375rem; font-size: 0.9375rem; color: var(--pico-muted-color); }
.operation p, .operation ul { margin-bottom: 0.5rem; }
.operation .route { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.25rem 0.625rem; margin: 0 0 0.75rem; }
.operation .route code { padding: 0; background: none; color: inherit; }
.method { padding: 0.1rem 0.45rem; border: 1px solid currentColor; border-radius: 0.3rem; font-size: 0.75rem; font-weight: 700; color: var(--pico-muted-color); }
.method.get { color: var(--pico-primary); }
.method.post { color: var(--gp-good); }
.method.delete { color: var(--gp-bad); }
.method.put, .method.patch { color: var(--gp-wait); }
.members { margin: 0; padding: 0; font-size: 0.9375rem; }
.members .members { margin: 0.375rem 0 0; padding-inline-start: 0.875rem; border-inline-start: 2px solid var(--pico-card-border-color); }
.members > li { margin: 0; padding: 0.375rem 0; list-style: none; }
.members > li + li { border-top: 1px solid var(--pico-card-border-color); }
.members p { margin: 0.125rem 0 0; }
.scroll { max-width: 100%; overflow-x: auto; }
.scroll table { margin: 0; font-size: 0.9375rem; }
.scroll th, .scroll td:not(:last-child) { white-space: nowrap; overflow-wrap: normal; }
.scroll th, .scroll td { padding: 0.375rem 0.75rem 0.375rem 0; vertical-align: top; background: none; }
.operation details { margin: 0; padding: 0.25rem 0; border: 0; }
.operation details summary { display: flex; justify-content: space-between; gap: 0.75rem; margin: 0; font-size: 0.9375rem; line-height: 1.5; }
.operation details[open] > summary { margin-bottom: 0.375rem; }
.operation .try { margin-top: 0.75rem; padding-top: 0.75rem; border-top: 1px solid var(--pico-card-border-color); }
.operation .try summary { font-weight: 600; }
.operation .try form { margin: 0.5rem 0; }
.operation .try button { width: auto; padding: 0.5rem 1.5rem; }
.key { max-width: 30rem; }
.wide .paste { position: relative; }
.wide .paste pre { user-select: all; white-space: pre-wrap; overflow-wrap: anywhere; }
.wide .paste button:not([hidden]) { display: block; width: auto; margin: 0 0 0.25rem auto; padding: 0.2rem 0.75rem; font-size: 0.8125rem; }
.operation ol { margin: 0 0 0.5rem; padding-inline-start: 1.25rem; }
@media (min-width: 1024px) {
  .wide > main { grid-template-columns: 17rem minmax(0, 1fr); gap: 2.5rem; }
  .wide > main > nav { position: sticky; top: 0.5rem; align-self: start; margin: -0.25rem; padding: 0.25rem; max-height: calc(100vh - 2rem); overflow-y: auto; }
  .wide nav > ul { display: block; }
  .wide nav [aria-current] + ul { display: block; margin: 0.125rem 0 0.5rem; padding-inline-start: 0.75rem; }
  .wide nav li ul a { color: var(--pico-muted-color); font-size: 0.8125rem; }
}
`
