// Draws the Mermaid sources of pages as SVG when the site is built. Mermaid itself would be 70 MB and needs a browser; the
// pages use two kinds of diagrams and a few words of each. Other kinds and words stop the build.
import { flowchart } from './flowchart.ts'
import { sequence } from './sequence.ts'

/** An SVG that takes its colours from the page, with every arrow as its text alternative. */
export function diagram(source: string): string {
  const [first = '', ...lines] = source.split('\n').filter((line) => line.trim() !== '')
  const statements = lines.map((line) => line.trim())
  if (first.trim() === 'sequenceDiagram') return sequence(statements)
  if (first.trim() === 'flowchart LR') return flowchart(statements)
  throw new Error(`This kind of diagram is not drawn: ${first}`)
}
