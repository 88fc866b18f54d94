import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Opens a memory store that appends each plant that it is asked to create to a file, before the create has an outcome.
 * Parameters of the URL: `module` whose openStore makes the store, `file`, and `time` that a create takes (ms).
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
