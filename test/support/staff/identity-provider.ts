import { createServer } from 'node:http';
import { type Configuration, Provider } from 'oidc-provider';
import { close, listen } from '../http/local-server.ts';

/** A person as the identity provider knows them; the login is the address. */
export interface Person {
  readonly email: string | undefined;
  readonly verified: boolean;
}

export interface TestIdentityProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly people: Map<string, Person>;
  /** What token requests brought. */
  readonly tokenRequests: { readonly hasVerifier: boolean; readonly method: string }[];
  /** Changes what the provider answers to a token request; null answers as it is. */
  tamper: ((answer: { id_token: string }) => { id_token: string }) | null;
  /**
   * Signs a person in, as they would by hand. Returns the address that the browser is sent back to.
   */
  signIn(authorizationUrl: string, login: string, choice?: 'allow' | 'abort'): Promise<URL>;
  stop(): Promise<void>;
}

export interface IdentityProviderOptions {
  readonly redirectUrl: string;
  /**
   * Under which name of this machine it is known; to browsers 'localhost' is another site than
   * '127.0.0.1'.
   */
  readonly host?: 'localhost' | '127.0.0.1';
  /** How the client proves its secret; 'none' is a public client. */
  readonly authMethod?: 'client_secret_basic' | 'client_secret_post' | 'none';
  /** The e-mail comes by the userinfo endpoint only, as the standard has it. */
  readonly emailByUserinfo?: boolean;
}

/** A real OpenID Connect provider on this machine that insists on PKCE. */
export async function startIdentityProvider(options: IdentityProviderOptions): Promise<TestIdentityProvider> {
  const authMethod = options.authMethod ?? 'client_secret_basic';
  const clientId = 'gateway';
  const clientSecret = 'a-secret-with-signs:+/% of its own';
  const people = new Map<string, Person>();
  const tokenRequests: TestIdentityProvider['tokenRequests'] = [];
  const server = createServer();
  const issuer = `http://${options.host ?? '127.0.0.1'}:${await listen(server)}`;
  const provider = quietProvider(issuer, {
    clients: [
      {
        client_id: clientId,
        ...(authMethod === 'none' ? {} : { client_secret: clientSecret }),
        redirect_uris: [options.redirectUrl],
        token_endpoint_auth_method: authMethod,
      },
    ],
    clientAuthMethods: [authMethod],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    conformIdTokenClaims: options.emailByUserinfo ?? false,
    cookies: { keys: ['of a test'] },
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
    pkce: { required: () => true },
    findAccount: (_ctx, sub) => {
      const person = people.get(sub);
      if (!person) return undefined;
      const { email, verified } = person;
      return {
        accountId: sub,
        claims: async () => ({ sub, ...(email === undefined ? {} : { email, email_verified: verified }) }),
      };
    },
  });
  const self: TestIdentityProvider = {
    issuer,
    clientId,
    clientSecret,
    people,
    tokenRequests,
    tamper: null,
    signIn: async (authorizationUrl, login, choice = 'allow') => {
      const cookies = new Map<string, string>();
      let next: { url: string; form?: Record<string, string> } = { url: authorizationUrl };
      for (let i = 0; i < 20; i++) {
        if (next.url.startsWith(options.redirectUrl)) return new URL(next.url);
        const response = await fetch(next.url, {
          redirect: 'manual',
          headers: { Cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
          ...(next.form ? { method: 'POST', body: new URLSearchParams(next.form) } : {}),
        });
        for (const line of response.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
          cookies.set(name, value);
        }
        const location = response.headers.get('location');
        if (location !== null) {
          next = { url: new URL(location, next.url).href };
          continue;
        }
        const html = await response.text();
        const action = /action="([^"]+)"/.exec(html)?.[1];
        const prompt = /name="prompt" value="(\w+)"/.exec(html)?.[1];
        if (!action || !prompt) throw new Error(`the identity provider answered ${response.status}: ${html}`);
        const url = new URL(action, next.url).href;
        next = choice === 'abort' ? { url: `${url}/abort` } : { url, form: { prompt, login, password: 'any' } };
      }
      throw new Error('the identity provider leads in circles');
    },
    stop: () => close(server),
  };
  provider.use(async (ctx, next) => {
    await next();
    if (ctx.path !== '/token') return;
    const body = (ctx.oidc?.body ?? {}) as Record<string, unknown>;
    const method = ctx.get('authorization').startsWith('Basic ')
      ? 'client_secret_basic'
      : body.client_secret === undefined
        ? 'none'
        : 'client_secret_post';
    tokenRequests.push({ hasVerifier: typeof body.code_verifier === 'string', method });
    if (self.tamper && ctx.status === 200) ctx.body = self.tamper(ctx.body as { id_token: string });
  });
  server.on('request', provider.callback());
  return self;
}

/** Without its advice that what it comes with is for tests. */
function quietProvider(issuer: string, configuration: Configuration): Provider {
  const { warn } = console;
  console.warn = () => {};
  try {
    return new Provider(issuer, configuration);
  } finally {
    console.warn = warn;
  }
}
