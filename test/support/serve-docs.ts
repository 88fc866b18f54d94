import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { createAdminServer } from '../../src/admin/admin-server.ts'
import { contract } from './contract.ts'

/** Serves a docs page as the service does, until the test ends; returns its URL. What is tried goes to `serviceUrl`. */
export async function serveDocs(t: Test, page: string, serviceUrl?: string): Promise<string> {
  const management = createAdminServer({
    contract,
    docs: page,
    metrics: async () => '',
    ready: async () => {},
    onReady() {},
    serviceUrl: () => serviceUrl,
  })
  await once(management.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    management.close()
    management.closeAllConnections()
  })
  return `http://127.0.0.1:${(management.address() as AddressInfo).port}/docs`
}
