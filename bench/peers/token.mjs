// Who sends a request: RS256 tokens of one issuer, each verified once and kept until it expires, as SmartLocker does.
import { createPublicKey, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'

const { ISSUER, AUDIENCE, JWKS } = process.env
const keys = new Map(
  JSON.parse(readFileSync(JWKS, 'utf8')).keys.map((key) => [key.kid, createPublicKey({ key, format: 'jwk' })])
)
const verified = new Map()

export function callerOf(authorization = '') {
  const known = verified.get(authorization)
  if (known !== undefined && Date.now() < known.exp * 1000) return known
  const [head, body, signature] = authorization.replace(/^Bearer /, '').split('.')
  const { alg, kid } = parsed(head)
  const claims = parsed(body)
  const isValid =
    alg === 'RS256' &&
    verify('RSA-SHA256', Buffer.from(`${head}.${body}`), keys.get(kid), Buffer.from(signature, 'base64url')) &&
    claims.iss === ISSUER &&
    claims.aud === AUDIENCE &&
    Date.now() < claims.exp * 1000
  if (!isValid) throw new Error('The token is not valid.')
  verified.set(authorization, claims)
  return claims
}

const parsed = (part) => JSON.parse(Buffer.from(part, 'base64url').toString())
