import type { ClientAuth, Configuration } from 'openid-client';
import type { SignInChecks } from '../../accounts/staff/staff-sessions.ts';
import { systemMs } from '../../base/clock.ts';
import type { Config } from '../../config/settings.ts';

/** Loaded at the first sign-in. */
const client = () => import('openid-client');

const timeoutSec = 5;
/** The provider's keys and addresses are fetched again after this time. */
const knownForMs = 3_600_000;
export const callbackPath = '/sign-in/oidc/callback';

/** The person that the identity provider authenticated. */
interface Identity {
  readonly email: string | null;
  readonly isVerified: boolean;
  /** Null when the provider identifies no person. */
  readonly account: { readonly issuer: string; readonly subject: string } | null;
}

interface ProviderOptions {
  readonly issuer: URL;
  readonly clientId: string;
  readonly clientSecret: string | null;
  readonly redirectUrl: string;
}

/**
 * An OpenID Connect identity provider, used by authorization code with PKCE, state and nonce. Its
 * addresses are fetched at the first sign-in, so that a gateway starts while the provider is down.
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

  /** Makes the provider that the settings name; null without one. */
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

  /** The provider's name for people. */
  get name(): string {
    return this.#options.issuer.host;
  }

  /**
   * Begins a sign-in. Returns the URL for the browser, and the checks for the provider's answer.
   */
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
   * Finishes a sign-in from the query with which the browser came back. Exchanges the code, and
   * checks the ID token's signature, issuer, audience, times and nonce.
   *
   * @throws the faults that openid-client finds
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
    // Some providers leave the e-mail address out of the ID token and give it at the userinfo
    // endpoint.
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
    if (this.#configuration && systemMs() - this.#knownSince < knownForMs) return this.#configuration;
    this.#knownSince = systemMs();
    const { issuer, clientId, clientSecret } = this.#options;
    const insecure = issuer.protocol === 'http:' ? [library.allowInsecureRequests] : [];
    this.#configuration = library.discovery(issuer, clientId, undefined, clientAuth(library, clientSecret), {
      timeout: timeoutSec,
      execute: [library.enableNonRepudiationChecks, ...insecure],
    });
    // The next sign-in asks a provider again that was down.
    this.#configuration.catch(() => {
      this.#configuration = null;
    });
    return this.#configuration;
  }
}

/**
 * Chooses a client authentication method that the provider supports. A provider that names none
 * supports Basic.
 */
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
