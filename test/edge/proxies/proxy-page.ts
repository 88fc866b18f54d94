import { readFileSync } from 'node:fs'
import type { Instance } from '../instance-pair.ts'

/** The page with the configurations and with the table of the matrix. */
export const proxyPage = 'packages/fastify-contract/docs/proxies.md'

/** Returns the configuration that the page has in a language of its code blocks. */
export function recommended(language: string): string {
  const [, text] = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(readFileSync(proxyPage, 'utf8')) ?? []
  if (text === undefined) throw new Error(`${proxyPage} has no block of ${language}`)
  return text
}

/** Replaces the ports of a configuration of the page: that of the proxy, and those of the instances. */
export function withPorts(text: string, port: number, instances: [Instance, Instance]): string {
  const ports = new Map([[8080, port]])
  for (const [sample, instance] of [
    [3000, instances[0]],
    [3010, instances[1]],
  ] as const) {
    ports.set(sample, instance.port)
    ports.set(sample + 1, instance.managementPort)
  }
  const used = new Set<number>()
  const replaced = text.replace(/(?<![\d.])(8080|30[01][01])(?!\d)/g, (sample) => {
    used.add(Number(sample))
    return String(ports.get(Number(sample)))
  })
  for (const sample of [8080, 3000, 3010])
    if (!used.has(sample)) throw new Error(`a configuration of ${proxyPage} lacks the port ${sample}; add it`)
  return replaced
}
