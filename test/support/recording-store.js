import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Opens a memory store that appends each plant to a file before it creates it. Parameters of the URL: `module` exports
 * the openStore to use, `file` is the path, and `time` delays each create (ms).
 */
export async function open(url) {
  const { searchParams } = new URL(url.slice('module:'.length), 'file:')
  const { openStore } = await import(searchParams.get('module'))
  const store = await openStore('memory:')
  const time = Number(searchParams.get('time'))
  const create = (plant) => {
    appendFileSync(searchParams.get('file'), `${JSON.stringify(plant, bigintAsObject)}\n`)
    return time === 0 ? store.create(plant) : sleep(time).then(() => store.create(plant))
  }
  return { ...store, create }
}

const bigintAsObject = (_key, value) => (typeof value === 'bigint' ? { bigint: String(value) } : value)
