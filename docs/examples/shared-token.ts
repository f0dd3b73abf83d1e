/** A token of an OAuth client that several processes share: encrypted, in a store that all of them reach. */
import { Clock, Duration, Effect, Layer, Option, Redacted, Ref, Schema } from "effect"
import {
  Credentials,
  Endpoints,
  type IssuedToken,
  type OAuthClient,
  TimePunches,
  TokenCache,
  TokenEndpoint
} from "effect-time-punches"
import { KeyValueStore } from "effect/persistence"

const Shared = Schema.fromJsonString(Schema.Struct({ token: Schema.String, expiresAt: Schema.Number }))
const name = "time-punches-token"

/** The key of all processes, from the same 32 random bytes. */
export const importKey = (bytes: Uint8Array<ArrayBuffer>) =>
  Effect.promise(() => crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]))

/** AES-256-GCM of the platform. The key stays with the processes, and the store has what it cannot read. */
const seal = (key: CryptoKey, text: string) =>
  Effect.promise(async () => {
    const iv = crypto.getRandomValues(new Uint8Array(12))
    const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, key, new TextEncoder().encode(text))
    return new Uint8Array([...iv, ...new Uint8Array(sealed)])
  })

const open = (key: CryptoKey, sealed: Uint8Array<ArrayBuffer>) =>
  Effect.tryPromise(() => crypto.subtle.decrypt({ name: "AES-GCM", iv: sealed.slice(0, 12) }, key, sealed.slice(12)))

/** Asks the store before the service. A token that this process has had is not used again: it was refused, or it ends soon. */
export const layerShared = (key: CryptoKey) =>
  Layer.effect(
    TokenEndpoint,
    Effect.gen(function*() {
      const { requestToken } = yield* TokenEndpoint
      const store = yield* KeyValueStore.KeyValueStore
      const last = yield* Ref.make("")

      const fromStore = Effect.gen(function*() {
        const sealed = yield* store.getUint8Array(name)
        if (sealed === undefined) return Option.none<IssuedToken>()
        const text = new TextDecoder().decode(yield* open(key, new Uint8Array(sealed)))
        const { expiresAt, token } = yield* Schema.decodeEffect(Shared)(text)
        const lifetime = Duration.millis(expiresAt - (yield* Clock.currentTimeMillis))
        const isUseful = token !== (yield* Ref.get(last)) && Duration.isGreaterThan(lifetime, Duration.minutes(5))
        return isUseful ? Option.some({ token: Redacted.make(token), lifetime }) : Option.none<IssuedToken>()
      }).pipe(
        Effect.catch((error) =>
          Effect.as(Effect.logWarning(`no shared token: ${error._tag}`), Option.none<IssuedToken>())
        )
      )

      const fromService = Effect.tap(requestToken, ({ lifetime, token }) =>
        Clock.currentTimeMillis.pipe(
          Effect.flatMap((now) =>
            Schema.encodeEffect(Shared)({
              token: Redacted.value(token),
              expiresAt: now + Duration.toMillis(lifetime)
            })
          ),
          Effect.flatMap((text) => seal(key, text)),
          Effect.flatMap((sealed) => store.set(name, sealed)),
          Effect.catch((error) => Effect.logWarning(`the token is not shared: ${error._tag}`))
        ))

      return {
        requestToken: Effect.flatMap(fromStore, Option.match({ onNone: () => fromService, onSome: Effect.succeed }))
          .pipe(
            Effect.tap(({ token }) => Ref.set(last, Redacted.value(token)))
          )
      }
    })
  )

/** The client of a process. It needs an `HttpClient`, and the `KeyValueStore` that all processes reach. */
export const layerOfProcess = (oauth: OAuthClient, key: CryptoKey, baseUrl: string) =>
  TimePunches.layer.pipe(
    Layer.provide(Credentials.layerOAuthNoDeps({ clientSecret: oauth.clientSecret })),
    Layer.provide(TokenCache.layer),
    Layer.provide(layerShared(key)),
    Layer.provide(TokenEndpoint.layer(oauth)),
    Layer.provide(Endpoints.layer({ baseUrl }))
  )
