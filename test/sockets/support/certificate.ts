/** Certificates made for one run: valid, of another host, expired. No key is stored. */
import { Effect } from "effect"
import { Buffer } from "node:buffer"
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto"
import { getCACertificates, setDefaultCACertificates } from "node:tls"

/** A certificate and its key, as a TLS server takes them. */
export interface Certificate {
  readonly cert: string
  readonly key: string
}

/** The DNS names and loopback addresses of a certificate; it is valid from the start of one year to the start of another. */
export interface CertificateOptions {
  readonly names: ReadonlyArray<string>
  readonly years?: readonly [from: number, to: number]
}

interface Identity {
  readonly subject: string
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

const length = (size: number): ReadonlyArray<number> =>
  size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff]

const der = (tag: number, ...contents: ReadonlyArray<Uint8Array>): Uint8Array => {
  const content = Buffer.concat(contents)
  return Buffer.concat([Uint8Array.from([tag, ...length(content.length)]), content])
}

const bytes = (...values: ReadonlyArray<number>) => Uint8Array.from(values)
const text = (tag: number, value: string) => der(tag, Buffer.from(value, "latin1"))
const sequence = (...contents: ReadonlyArray<Uint8Array>) => der(0x30, ...contents)
const oid = (...encoded: ReadonlyArray<number>) => der(0x06, bytes(...encoded))
const octets = (content: Uint8Array) => der(0x04, content)
const bits = (content: Uint8Array) => der(0x03, bytes(0), content)
const yes = der(0x01, bytes(0xff))

const ecdsaWithSha256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02))

const distinguishedName = (commonName: string) =>
  sequence(der(0x31, sequence(oid(0x55, 0x04, 0x03), text(0x0c, commonName))))

const startOf = (year: number) => text(0x18, `${year}0101000000Z`)

const basicConstraints = (isAuthority: boolean) =>
  sequence(oid(0x55, 0x1d, 0x13), yes, octets(isAuthority ? sequence(yes) : sequence()))

const subjectAltName = (names: ReadonlyArray<string>) =>
  sequence(
    oid(0x55, 0x1d, 0x11),
    octets(sequence(...names.map((name) =>
      /^[\d.]+$/.test(name) ? der(0x87, bytes(...name.split(".").map(Number))) : text(0x82, name)
    )))
  )

let serial = 0

const pem = (certificate: Uint8Array) =>
  `-----BEGIN CERTIFICATE-----\n${Buffer.from(certificate).toString("base64")}\n-----END CERTIFICATE-----\n`

const issue = (subject: Identity, issuer: Identity, [from, to]: readonly [number, number], extensions: Uint8Array) => {
  const content = sequence(
    der(0xa0, der(0x02, bytes(2))),
    der(0x02, bytes(0x40, ++serial)),
    ecdsaWithSha256,
    distinguishedName(issuer.subject),
    sequence(startOf(from), startOf(to)),
    distinguishedName(subject.subject),
    subject.publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, extensions)
  )
  return pem(sequence(content, ecdsaWithSha256, bits(sign("sha256", content, issuer.privateKey))))
}

const identity = (subject: string): Identity => ({
  subject,
  ...generateKeyPairSync("ec", { namedCurve: "prime256v1" })
})

const always = [2000, 2100] as const

const server = ({ names, years = always }: CertificateOptions, issuer?: Identity): Certificate => {
  const subject = identity("test server")
  const extensions = sequence(basicConstraints(false), subjectAltName(names))
  return {
    cert: issue(subject, issuer ?? subject, years, extensions),
    key: subject.privateKey.export({ type: "pkcs8", format: "pem" }).toString()
  }
}

/** A certificate without an authority. */
export const selfSigned = (options: CertificateOptions): Certificate => server(options)

/** An authority that signs certificates. */
export const makeAuthority = () => {
  const authority = identity("test authority")
  return {
    cert: issue(authority, authority, always, sequence(basicConstraints(true))),
    issue: (options: CertificateOptions): Certificate => server(options, authority)
  }
}

/** Makes every transport of this process trust an authority, as if it were installed on the machine. */
export const trust = ({ cert }: { readonly cert: string }) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const before = getCACertificates("default")
      setDefaultCACertificates([...before, cert])
      return before
    }),
    (before) => Effect.sync(() => setDefaultCACertificates(before))
  )
