// The plugin checks the token and is set up as in its README. It compares tokens in constant time, without digests.
import bearerAuth from '@fastify/bearer-auth'
import { servePlants } from './fastify-plants.js'

const errorResponse = ({ message }) => ({ error: 40100, message })

await servePlants((app) => app.register(bearerAuth, { keys: new Set([process.env.ACCESS_TOKENS]), errorResponse }))
