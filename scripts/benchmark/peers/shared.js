import { hash, timingSafeEqual } from 'node:crypto'

// The check of a token and the store, which are the same in every peer.

const sha256 = (text) => hash('sha256', text, 'buffer')
const accepted = sha256(process.env.ACCESS_TOKENS)

/** Returns whether the bearer token of an Authorization header is the token in ACCESS_TOKENS. */
export function isAccepted(authorization = '') {
  const [, token] = /^bearer +([\w.~+/-]+=*)$/i.exec(authorization) ?? []
  return token !== undefined && timingSafeEqual(sha256(token), accepted)
}

const plants = new Map()

/** Stores a plant. Returns false if its id belongs to another plant. */
export function keep({ id, name, tag }) {
  const kept = plants.get(id)
  if (kept !== undefined) return kept.name === name && kept.tag === tag
  plants.set(id, { name, tag })
  return true
}

export const host = '127.0.0.1'
export const port = Number(process.env.PORT)
