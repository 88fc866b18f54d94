/* Changes the document before Redoc shows it: `redocPage` writes the call. */
import { atService } from './service-address.ts'
import { showDigits } from './show-digits.js'

globalThis.changeDocument = (shown) => {
  const { integers } = shown['x-page']
  if (integers.length > 0) showDigits(integers)
  const { service } = Object(document.querySelector('.pages a[data-service]')).dataset ?? {}
  if (service !== undefined) atService(shown, service)
  return shown
}
