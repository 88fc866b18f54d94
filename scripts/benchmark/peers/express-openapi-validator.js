// Set up as in the README of the package, which also validates responses.
import express from 'express'
import { middleware } from 'express-openapi-validator'
import { host, isAccepted, keep, port } from './shared.js'

const app = express()
app.use(express.json())
app.use(
  middleware({
    apiSpec: process.env.DOCUMENT,
    validateRequests: true,
    validateResponses: true,
    validateSecurity: { handlers: { bearer: ({ headers }) => isAccepted(headers.authorization) } },
  }),
)

app.post('/plants', ({ body }, response) => {
  if (!keep(body)) return response.status(409).json({ error: 40900, message: 'the id belongs to another plant' })
  response.json({ name: body.name, tag: body.tag })
})

app.use((cause, _request, response, _next) => {
  const { status = 500, message } = cause
  response.status(status).json({ error: status * 100, message })
})

app.listen(port, host)
