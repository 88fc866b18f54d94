// The check of the token is handwritten.
import { refusal, servePlants } from './fastify-plants.js'
import { isAccepted } from './shared.js'

await servePlants((app) => {
  app.addHook('onRequest', async ({ headers }) => {
    if (!isAccepted(headers.authorization)) throw refusal(401, 'the access token is not valid')
  })
})
