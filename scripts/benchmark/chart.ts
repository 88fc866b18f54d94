import type { Results } from './results.ts'

const [width, labels, figures, line, top] = [780, 270, 150, 30, 78]

/** Styles for both color schemes. The page may not follow the reader's scheme, so the chart has its own background. */
const style = `
    text { font: 13px system-ui, sans-serif; fill: #1f2328 }
    .title { font-size: 16px; font-weight: 600 }
    .note { font-size: 12px; fill: #59636e }
    .page { fill: #ffffff }
    .peer { fill: #9aa4af }
    .service { fill: #1a7f37 }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc }
      .note { fill: #9198a1 }
      .page { fill: #0d1117 }
      .peer { fill: #656c76 }
      .service { fill: #3fb950 }
    }`

/** Returns an SVG chart of the requests that each contender completes per second of CPU. */
export function chart({ node, machine, date, generator, rounds, seconds, connections, contenders }: Results): string {
  const most = Math.max(...contenders.map(({ cpu }) => 1e6 / cpu))
  const bars = contenders.map(({ key, name, cpu, toNodeHttp }, index) => {
    const requests = 1e6 / cpu
    const length = ((width - labels - figures) * requests) / most
    const [y, baseline] = [top + index * line, top + index * line + 15]
    const ratio = toNodeHttp === undefined ? '' : `, ${toNodeHttp.toFixed(2)}x`
    return `
  <text x="${labels - 10}" y="${baseline}" text-anchor="end">${escaped(name)}</text>
  <rect class="${isService(key) ? 'service' : 'peer'}" x="${labels}" y="${y}" width="${length.toFixed(1)}" height="20" rx="2"/>
  <text x="${(labels + length + 8).toFixed(1)}" y="${baseline}">${thousands(requests)}${ratio}</text>`
  })
  const height = top + contenders.length * line + 44
  const title = 'Requests per second of the server’s CPU time'
  const measured = `${generator}, ${connections} connections, medians of ${rounds} processes, ${seconds} s each`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${title}">
  <style>${style}
  </style>
  <rect class="page" width="100%" height="100%" rx="6"/>
  <text class="title" x="20" y="32">${title}</text>
  <text class="note" x="20" y="54">POST /plants, ${measured}; more is better, x: ratio to node:http</text>${bars.join('')}
  <text class="note" x="20" y="${height - 18}">${escaped(`Node ${node}, ${machine}, ${date}`)}</text>
</svg>
`
}

const isService = (key: string) => /^(memory|sqlite|postgres)/.test(key)

const thousands = (value: number) => Math.round(value).toLocaleString('en-US')

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
