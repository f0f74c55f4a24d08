import type { ClientAuth, Configuration } from 'openid-client';
import type { Config } from '../config.ts';
import type { SignInChecks } from '../staff/staff-sessions.ts';

/** Loaded at the first sign-in. */
const client = () => import('openid-client');

const timeoutSec = 5;
/** After so long its keys and addresses are asked for again. */
const knownForMs = 3_600_000;
export const callbackPath = '/sign-in/oidc/callback';

/** What the identity provider says of whoever signed in. */
export interface Identity {
  readonly email: string | null;
  readonly isVerified: boolean;
  /** Null where the provider names no person. */
  readonly account: { readonly issuer: string; readonly subject: string } | null;
}

interface ProviderOptions {
  readonly issuer: URL;
  readonly clientId: string;
  readonly clientSecret: string | null;
  readonly redirectUrl: string;
}

/**
 * An OpenID Connect identity provider, used by authorization code with PKCE, state and nonce. It is asked for its
 * addresses at the first sign-in, so that a gateway starts while it is away.
 *
 * https://openid.net/specs/openid-connect-core-1_0.html#CodeFlowAuth
 */
export class IdentityProvider {
  readonly #options: ProviderOptions;
  #configuration: Promise<Configuration> | null = null;
  #knownSince = 0;

  constructor(options: ProviderOptions) {
    this.#options = options;
  }

  /** The provider that the settings name, or null. */
  static ofSettings(config: Config): IdentityProvider | null {
    const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, INTERNAL_PUBLIC_URL } = config;
    if (OIDC_ISSUER === null || OIDC_CLIENT_ID === null || INTERNAL_PUBLIC_URL === null) return null;
    return new IdentityProvider({
      issuer: new URL(OIDC_ISSUER),
      clientId: OIDC_CLIENT_ID,
      clientSecret: OIDC_CLIENT_SECRET,
      redirectUrl: `${INTERNAL_PUBLIC_URL}${callbackPath}`,
    });
  }

  /** What people know it by. */
  get name(): string {
    return this.#options.issuer.host;
  }

  /** A fresh sign-in: where to send the browser, and what its answer is checked against. */
  async begin(returnTo: string): Promise<{ url: URL; checks: SignInChecks }> {
    const { buildAuthorizationUrl, calculatePKCECodeChallenge, randomNonce, randomPKCECodeVerifier, randomState } =
      await client();
    const configuration = await this.#configure();
    const checks = { state: randomState(), nonce: randomNonce(), codeVerifier: randomPKCECodeVerifier(), returnTo };
    const url = buildAuthorizationUrl(configuration, {
      redirect_uri: this.#options.redirectUrl,
      scope: 'openid email',
      state: checks.state,
      nonce: checks.nonce,
      code_challenge: await calculatePKCECodeChallenge(checks.codeVerifier),
      code_challenge_method: 'S256',
    });
    return { url, checks };
  }

  /**
   * Who signed in, from the query that the browser came back with. The code is exchanged and the ID token's signature,
   * issuer, audience, times and nonce are checked.
   *
   * @throws what openid-client finds wrong
   */
  async finish(query: string, checks: SignInChecks): Promise<Identity> {
    const { authorizationCodeGrant, fetchUserInfo } = await client();
    const configuration = await this.#configure();
    const tokens = await authorizationCodeGrant(configuration, new URL(`${this.#options.redirectUrl}${query}`), {
      expectedState: checks.state,
      expectedNonce: checks.nonce,
      pkceCodeVerifier: checks.codeVerifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (!claims) return { email: null, isVerified: false, account: null };
    // Some providers put no e-mail into the ID token where they can be asked for it.
    const source =
      claims.email === undefined && configuration.serverMetadata().userinfo_endpoint !== undefined
        ? await fetchUserInfo(configuration, tokens.access_token, claims.sub)
        : claims;
    return {
      email: typeof source.email === 'string' ? source.email : null,
      isVerified: source.email_verified === true,
      account: { issuer: claims.iss, subject: claims.sub },
    };
  }

  async #configure(): Promise<Configuration> {
    const library = await client();
    if (this.#configuration && Date.now() - this.#knownSince < knownForMs) return this.#configuration;
    this.#knownSince = Date.now();
    const { issuer, clientId, clientSecret } = this.#options;
    const insecure = issuer.protocol === 'http:' ? [library.allowInsecureRequests] : [];
    this.#configuration = library.discovery(issuer, clientId, undefined, clientAuth(library, clientSecret), {
      timeout: timeoutSec,
      execute: [library.enableNonRepudiationChecks, ...insecure],
    });
    // A provider that was away is asked again at the next sign-in.
    this.#configuration.catch(() => {
      this.#configuration = null;
    });
    return this.#configuration;
  }
}

/** The way to prove the secret that the provider understands; Basic is what it means when it names none. */
function clientAuth(
  { None, ClientSecretBasic, ClientSecretPost }: Awaited<ReturnType<typeof client>>,
  secret: string | null,
): ClientAuth {
  if (secret === null) return None();
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const prove = methods.includes('client_secret_basic') ? ClientSecretBasic(secret) : ClientSecretPost(secret);
    prove(server, ...rest);
  };
}
