// The check of the token is that of the plugin, as its README wires it: it compares tokens in constant time, no digests.
import bearerAuth from '@fastify/bearer-auth'
import { servePlants } from './fastify-plants.js'

const errorResponse = ({ message }) => ({ error: 40100, message })

await servePlants((app) => app.register(bearerAuth, { keys: new Set([process.env.ACCESS_TOKENS]), errorResponse }))
