/** The styles of the console. A module can be imported from `src` and from `dist`, a .css file cannot. */
export const consoleCss = `
:root {
  color-scheme: light dark;
  --bg: #f4f5f8; --surface: #fff; --line: #dfe3ea; --line-strong: #868e9c; --text: #22262e; --muted: #59606d;
  --accent: #0b6aa2; --accent-area: #0b6aa2; --on-accent: #fff; --hover: #eef1f6; --code: #e9ecf2;
  --good: #17714a; --good-bg: #e3f4ea; --bad: #a8322a; --bad-bg: #fbe9e7; --wait: #7a5600; --wait-bg: #fdf3d7;
  --c1: #2f6fb5; --c2: #c5533d; --c3: #8a6fc0; --c4: #4b8f5c; --c5: #b07d1c; --c6: #7a8290;
  --radius: 0.5rem; --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --bg: #11141b; --surface: #191d27; --line: #2b3140; --line-strong: #6b7589; --text: #e3e7ee; --muted: #9aa3b5;
    --accent: #63b7ec; --accent-area: #63b7ec; --on-accent: #0c1a26; --hover: #212735; --code: #232937;
    --good: #5fce94; --good-bg: #16301f; --bad: #f49a90; --bad-bg: #3a1e1c; --wait: #e3b341; --wait-bg: #33290f;
    --c1: #6ea8e4; --c2: #e58a76; --c3: #b59ee4; --c4: #7cc48e; --c5: #dcae55; --c6: #98a1b1;
  }
}
*, *::before, *::after { box-sizing: border-box; }
html { font: 100%/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", Ubuntu, sans-serif; -webkit-text-size-adjust: 100%; }
body { margin: 0; min-height: 100vh; background: var(--bg); color: var(--text); font-size: 0.9375rem; overflow-wrap: anywhere; }
a { color: var(--accent); text-underline-offset: 0.15em; }
h1, h2, h3, p, dl, dd, ul, ol, figure, pre { margin: 0; }
ul, ol { padding: 0; }
h1 { font-size: 1.5rem; line-height: 1.3; letter-spacing: -0.01em; }
h2 { font-size: 1.0625rem; line-height: 1.4; }
h3 { font-size: 0.9375rem; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 2px; }
input:focus, input:focus-within, select:focus, textarea:focus { outline: 3px solid var(--accent); outline-offset: 1px; }
code, pre { font-family: var(--mono); font-size: 0.8125rem; }
code { overflow-wrap: anywhere; }
pre { padding: 0.75rem; border-radius: var(--radius); background: var(--code); overflow: auto; max-height: 28rem; overflow-wrap: normal; }
hr { border: 0; border-top: 1px solid var(--line); }
.muted { color: var(--muted); }
.small { font-size: 0.8125rem; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.visually-hidden { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: 0.5rem; top: -4rem; padding: 0.5rem 1rem; background: var(--surface); z-index: 9; }
.skip:focus { top: 0.5rem; }

/* The frame */
/* Below the sticky header: what gets the focus, and the target of a link */
html { scroll-padding-top: 4.25rem; }
.top { display: flex; align-items: center; gap: 0.75rem; padding: 0.5rem 1rem; min-height: 3.5rem; border-bottom: 1px solid var(--line); background: var(--surface); position: sticky; top: 0; z-index: 5; }
.brand { display: flex; align-items: center; gap: 0.5rem; font-weight: 600; color: var(--text); text-decoration: none; }
.top .project { font-weight: 500; min-width: 0; }
.top p.project::before, .top details.project::before { content: "/"; margin-right: 0.75rem; color: var(--muted); font-weight: 400; }
.top details.project { display: flex; align-items: center; }
.top .account { margin-left: auto; }
.drop { position: relative; }
.drop > summary { padding: 0.375rem 0.625rem; border-radius: var(--radius); cursor: pointer; white-space: nowrap; }
.drop > summary:hover { background: var(--hover); }
.drop > form { position: absolute; top: calc(100% + 0.25rem); right: 0; min-width: 15rem; max-width: calc(100vw - 2rem); max-height: 70vh; overflow: auto; padding: 0.75rem; border: 1px solid var(--line); border-radius: var(--radius); background: var(--surface); box-shadow: 0 8px 24px rgb(16 24 40 / 16%); display: grid; gap: 0.5rem; }
.drop.project > form { left: 0; right: auto; }
.drop.project > form button { background: none; border-color: transparent; color: inherit; text-align: left; font-weight: 400; }
.drop.project > form button:hover { background: var(--hover); }
.drop.project > form [aria-current] { font-weight: 600; }
.who { display: inline-block; max-width: 12rem; overflow: hidden; text-overflow: ellipsis; vertical-align: bottom; }
.frame { display: grid; grid-template-columns: 14.5rem minmax(0, 1fr); max-width: 100rem; }
.side { position: sticky; top: 3.5rem; align-self: start; max-height: calc(100vh - 3.5rem); overflow-y: auto; padding: 1rem 0.75rem; }
.menu { display: none; }
nav[aria-label=Console] ul { list-style: none; }
nav[aria-label=Console] a { display: flex; align-items: center; gap: 0.625rem; padding: 0.375rem 0.625rem; border-radius: var(--radius); color: inherit; text-decoration: none; }
nav[aria-label=Console] a:hover { background: var(--hover); }
nav[aria-label=Console] a svg { color: var(--muted); flex: none; }
nav[aria-label=Console] [aria-current] { background: var(--surface); box-shadow: inset 0 0 0 1px var(--line); font-weight: 600; }
nav[aria-label=Console] [aria-current] svg { color: var(--accent); }
p.group { margin: 1rem 0 0.25rem; padding: 0 0.625rem; color: var(--muted); font-size: 0.75rem; font-weight: 600; }
main { padding: 1.5rem 1.75rem 4rem; min-width: 0; max-width: 84rem; display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.25rem; align-content: start; }
.above ol { display: flex; flex-wrap: wrap; gap: 0.25rem; list-style: none; font-size: 0.8125rem; }
.above li::after { content: "/"; margin-left: 0.25rem; color: var(--muted); }
.above { margin-bottom: -1rem; }
.head { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0.5rem 1rem; }
.actions { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: center; }
.lead { color: var(--muted); margin-top: -0.75rem; max-width: 60rem; }
.card { padding: 1.25rem; border: 1px solid var(--line); border-radius: 0.75rem; background: var(--surface); display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.875rem; align-content: start; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 21rem), 1fr)); gap: 1.25rem; }
.note { padding: 0.625rem 0.875rem; border: 1px solid currentColor; border-radius: var(--radius); }
.note.good { color: var(--good); background: var(--good-bg); }
.note.bad { color: var(--bad); background: var(--bad-bg); }
.note.wait { color: var(--wait); background: var(--wait-bg); }
.empty { padding: 2.5rem 1.25rem; border: 1px dashed var(--line-strong); border-radius: 0.75rem; text-align: center; color: var(--muted); display: grid; gap: 0.75rem; justify-items: center; }
.card .empty { padding: 1.25rem; }
.bare { max-width: 27rem; margin: 0 auto; min-height: 100vh; align-content: center; padding: 1rem; gap: 1rem; }
.bare .card { padding: 1.75rem; box-shadow: 0 8px 24px rgb(16 24 40 / 6%); }
.or { display: flex; align-items: center; gap: 0.75rem; color: var(--muted); font-size: 0.8125rem; }
.or::before, .or::after { content: ""; flex: 1; border-top: 1px solid var(--line); }

/* Tables, facts, badges */
.scroll { position: relative; overflow-x: auto; border: 1px solid var(--line); border-radius: 0.75rem; background: var(--surface); }
.card .scroll { border-width: 1px 0 0; border-radius: 0; margin: 0 -1.25rem -1.25rem; background: none; }
.card .scroll:not(:last-child) { border-bottom-width: 1px; margin-bottom: 1rem; }
.card .scroll :is(th, td):first-child { padding-left: 1.25rem; }
.card .scroll:last-child { border-radius: 0 0 0.75rem 0.75rem; }
table { width: 100%; border-collapse: collapse; font-size: 0.875rem; overflow-wrap: normal; }
th { text-align: left; font-weight: 600; font-size: 0.8125rem; color: var(--muted); white-space: nowrap; }
th, td { padding: 0.5625rem 0.875rem; border-bottom: 1px solid var(--line); vertical-align: top; }
th:has(> .number), td:has(> .number) { text-align: right; }
td { max-width: 26rem; overflow-wrap: anywhere; }
td time { white-space: nowrap; }
tbody tr:last-child td { border-bottom: 0; }
tbody tr:hover { background: var(--hover); }
.card tbody tr:hover { background: var(--hover); }
.facts { display: grid; gap: 0.625rem 1.5rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 15rem), 1fr)); }
.facts dt { color: var(--muted); font-size: 0.8125rem; }
.facts dd { overflow-wrap: anywhere; }
.badge { display: inline-block; padding: 0.0625rem 0.5rem; border-radius: 1rem; background: var(--code); color: var(--text); font-size: 0.75rem; font-weight: 600; line-height: 1.5; white-space: nowrap; }
.badge.good { background: var(--good-bg); color: var(--good); }
.badge.bad { background: var(--bad-bg); color: var(--bad); }
.badge.wait { background: var(--wait-bg); color: var(--wait); }
.tags { display: flex; flex-wrap: wrap; gap: 0.25rem; list-style: none; }
.pager { display: flex; gap: 0.5rem; justify-content: flex-end; }
.pager a { padding: 0.375rem 0.875rem; border: 1px solid var(--line); border-radius: var(--radius); background: var(--surface); text-decoration: none; }
.pager a:hover { background: var(--hover); }
details.curl, details.more { font-size: 0.875rem; }
details > summary { cursor: pointer; }
details.curl[open] > summary, details.more[open] > summary { margin-bottom: 0.5rem; }

/* Forms */
button, .button { display: inline-block; padding: 0.4375rem 0.9375rem; border: 1px solid transparent; border-radius: var(--radius); background: var(--accent-area); color: var(--on-accent); font: inherit; font-weight: 600; font-size: 0.875rem; line-height: 1.4; text-decoration: none; text-align: center; cursor: pointer; }
button:hover, .button:hover { filter: brightness(1.08); }
button.secondary, .button.secondary { background: var(--surface); color: var(--text); border-color: var(--line-strong); font-weight: 500; }
.button.secondary[aria-current] { background: var(--hover); font-weight: 600; }
button.secondary:hover, .button.secondary:hover { background: var(--hover); filter: none; }
button.danger, .button.danger { background: var(--surface); color: var(--bad); border-color: currentColor; }
button.danger:hover, .button.danger:hover { background: var(--bad-bg); filter: none; }
button.wide { width: 100%; padding: 0.625rem 1rem; font-size: 0.9375rem; }
form { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.875rem; justify-items: start; }
form > *:not(button):not(.button) { width: 100%; }
form.inline { display: inline-grid; }
.field { display: grid; gap: 0.25rem; max-width: 44rem; }
.field.check { grid-template-columns: auto 1fr; align-items: center; gap: 0.5rem; justify-content: start; }
label { font-weight: 500; font-size: 0.875rem; }
.bare label { margin-bottom: -0.5rem; }
input, select, textarea { width: 100%; padding: 0.4375rem 0.625rem; border: 1px solid var(--line-strong); border-radius: var(--radius); background: var(--surface); color: inherit; font: inherit; font-size: 0.9375rem; }
input[type=checkbox], input[type=radio] { width: 1.0625rem; height: 1.0625rem; margin: 0; accent-color: var(--accent); }
textarea { font-family: var(--mono); font-size: 0.8125rem; line-height: 1.5; resize: vertical; }
textarea.secret { -webkit-text-security: disc; }
[aria-invalid=true] { border-color: var(--bad); }
.hint { color: var(--muted); font-size: 0.8125rem; }
.fault { color: var(--bad); font-size: 0.8125rem; }
fieldset:not(.plain) { max-width: 44rem; }
fieldset { min-width: 0; border: 1px solid var(--line); border-radius: var(--radius); padding: 0.875rem; margin: 0; display: grid; gap: 0.875rem; }
fieldset > label:has(> input[type=checkbox]) { display: flex; align-items: center; gap: 0.5rem; font-weight: 400; }
.hint:empty { display: none; }
legend { padding: 0 0.375rem; font-weight: 600; font-size: 0.875rem; }
.filters { display: flex; flex-wrap: wrap; align-items: flex-end; gap: 0.625rem; }
.filters > *, .filters > *:not(button):not(.button) { width: auto; }
.filters .field { flex: 1 1 9rem; max-width: 15rem; }
.filters :is(input, select, button) { height: 2.375rem; }
.filters > a { padding: 0.4375rem 0.25rem; }

/* Timelines and charts */
.timeline { list-style: none; display: grid; gap: 0; }
.timeline li { position: relative; padding: 0 0 1rem 1.5rem; }
.timeline li:last-child { padding-bottom: 0; }
.timeline li::before { content: ""; position: absolute; left: 0.25rem; top: 0.375rem; width: 0.625rem; height: 0.625rem; border-radius: 50%; background: var(--muted); }
.timeline li::after { content: ""; position: absolute; left: 0.5rem; top: 1.125rem; bottom: -0.25rem; border-left: 2px solid var(--line); }
.timeline li:last-child::after { display: none; }
.timeline li.good::before { background: var(--good); }
.timeline li.bad::before { background: var(--bad); }
.timeline li.wait::before { background: var(--wait); }
.chart > svg { display: block; width: 100%; height: auto; }
.chart text { fill: var(--muted); font-size: 11px; }
.chart .grid { stroke: var(--line); }
.chart .s1 { fill: var(--c1); } .chart .s2 { fill: var(--c2); } .chart .s3 { fill: var(--c3); } .chart .s4 { fill: var(--c4); } .chart .s5 { fill: var(--c5); } .chart .s6 { fill: var(--c6); }
.chart .t1 { fill: var(--c4); } .chart .t2 { fill: var(--c1); } .chart .t3 { fill: var(--c3); } .chart .t4 { fill: var(--c5); } .chart .t5 { fill: var(--c2); }
.legend { display: flex; flex-wrap: wrap; gap: 0.25rem 0.875rem; list-style: none; font-size: 0.8125rem; color: var(--muted); }
.legend svg { width: 0.625rem; height: 0.625rem; margin-right: 0.375rem; vertical-align: baseline; }
.attention { list-style: none; display: grid; }
.attention li > div { flex: 1; min-width: 12rem; }
.attention li { display: flex; flex-wrap: wrap; gap: 0.25rem 0.75rem; align-items: baseline; padding: 0.625rem 0; border-top: 1px solid var(--line); }
.attention li:first-child { border-top: 0; }
p:has(> [data-live]:empty) { display: none; }
.newer a { display: block; padding: 0.5rem; border: 1px solid var(--accent); border-radius: var(--radius); text-align: center; background: var(--surface); }

@media (max-width: 900px) {
  .scroll table:has(th:nth-child(3)) { min-width: 38rem; }
  .chart .scroll table:has(th:nth-child(3)) { min-width: 0; }
  .frame { grid-template-columns: minmax(0, 1fr); }
  .side { display: none; }
  .menu { display: block; border-bottom: 1px solid var(--line); background: var(--surface); }
  .menu > summary { padding: 0.625rem 1rem; font-weight: 600; }
  .menu > nav { padding: 0 0.75rem 0.75rem; display: grid; }
  main { padding: 1rem 1rem 3rem; }
  .top { position: static; }
  .top .account { flex: none; }
  .who { display: none; }
  .top .project { flex: 1; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
  .top details.project { overflow: visible; }
  .filters .field { flex-basis: calc(50% - 0.625rem); max-width: none; }
}
@media (prefers-reduced-motion: no-preference) { .menu > nav a, button, .button { transition: background-color 0.12s; } }
`
